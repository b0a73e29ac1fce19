"""Replies that need no framework: JSON for what went wrong, and the headers that every reply has."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

JSON = (b"content-type", b"application/json")
RETRY: Headers = [(b"retry-after", b"1")]
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
SAFE: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (
        b"content-security-policy",
        f"{POLICY}base-uri 'none'; form-action 'none'; frame-ancestors 'none'".encode(),
    ),
]

BUSY = "The server has as much to do as it takes on. Ask again in a moment."


def problem(error: str, problems: Sequence[tuple[str, str]] = ()) -> bytes:
    """`{"error": …, "problems": [{"at": …, "problem": …}]}` in ASCII, as halves of surrogate pairs may be in it."""
    listed = [{"at": at, "problem": said} for at, said in problems]
    return json.dumps({"error": error, "problems": listed}).encode()


async def reply(send: Send, status: int, error: str, headers: Headers | None = None) -> None:
    body = problem(error)
    given = [JSON, (b"content-length", str(len(body)).encode()), *SAFE, *(headers or [])]
    await send({"type": "http.response.start", "status": status, "headers": given})
    await send({"type": "http.response.body", "body": body})


async def full(scope: Scope, receive: Receive, send: Send) -> None:
    """An application that has no room."""
    await reply(send, 503, BUSY, [*RETRY, (b"connection", b"close")])
