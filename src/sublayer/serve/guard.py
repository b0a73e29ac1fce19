"""What stands before the application: the key, the size of requests and how long they take to arrive."""

from __future__ import annotations

import asyncio
from hmac import compare_digest

from sublayer.serve.limits import Limits
from sublayer.serve.replies import BUSY, RETRY, App, Message, Receive, Scope, Send, reply

OPEN = ("/", "/page", "/healthz", "/readyz", "/openapi.json")  # need no key: they tell nothing of the models
DROPPED = 16  # so many times the largest body is read and dropped, so that the client hears why


class Refusal(Exception):
    def __init__(self, status: int, error: str) -> None:
        self.status, self.error = status, error


class Guard:
    """key  asked for as `Authorization: Bearer KEY`; None: everybody may ask"""

    def __init__(self, app: App, limits: Limits, key: str | None) -> None:
        self.app, self.limits, self.key = app, limits, key
        self.in_hand = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path, headers = scope["path"], dict(scope["headers"])
        free = path in OPEN or path.startswith("/page/")
        if not free and self.in_hand >= self.limits.requests:
            await reply(send, 503, BUSY, RETRY)
            return
        self.in_hand += 1
        try:
            if not free and not self._known(headers):
                raise Refusal(401, "This server asks for a key: send the header Authorization: Bearer KEY.")
            body = await self._body(scope["method"], headers, receive)
            await self.app(scope, _again(body, receive), send)
        except Refusal as refused:
            more = [(b"www-authenticate", b"Bearer")] if refused.status == 401 else []
            await reply(send, refused.status, refused.error, more)
        finally:
            self.in_hand -= 1

    def _known(self, headers: dict[bytes, bytes]) -> bool:
        if self.key is None:
            return True
        kind, _, given = headers.get(b"authorization", b"").partition(b" ")
        return kind.lower() == b"bearer" and compare_digest(given.strip(), self.key.encode())

    async def _body(self, method: str, headers: dict[bytes, bytes], receive: Receive) -> bytes:
        if method != "POST":
            return b""
        kind = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
        try:
            async with asyncio.timeout(self.limits.reading):
                body = await self._read(int(headers.get(b"content-length", b"0")), receive)
        except TimeoutError:
            raise Refusal(408, f"The request did not arrive within {self.limits.reading:g} seconds.") from None
        if kind != b"application/json":
            raise Refusal(415, "The body is read as JSON: send the header Content-Type: application/json.")
        return body

    async def _read(self, announced: int, receive: Receive) -> bytes:
        parts: list[bytes] = []
        most, length, more = self.limits.body, 0, announced <= DROPPED * self.limits.body
        while more and length <= DROPPED * most:
            message = await receive()
            if message["type"] != "http.request":
                raise Refusal(400, "The request ended before its body did.")
            part, more = message.get("body", b""), message.get("more_body", False)
            length += len(part)
            parts.append(part)
            if length > most:
                parts.clear()
        if max(length, announced) > most:
            raise Refusal(413, f"The body has more than {most} bytes: send fewer texts in a request.")
        return b"".join(parts)


def _again(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body that has been read, and then what else comes."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again
