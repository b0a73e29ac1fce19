"""A thin client. It needs nothing but Python."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from http.client import HTTPResponse
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from sublayer.errors import SublayerError

LONGEST_PAUSE = 10.0


class Refused(SublayerError):
    """The server does not answer the request as it is; `status` is that of the reply."""

    def __init__(self, status: int, said: dict[str, Any]) -> None:
        problems = [f"\n  - {p['at']}: {p['problem']}".replace("- : ", "- ") for p in said.get("problems", ())]
        super().__init__(f"{status}: {said.get('error', 'no reason given')}{''.join(problems)}")
        self.status = status


class Client:
    """Asks a server that `sublayer serve` started.

    address  such as http://127.0.0.1:8000
    model    which, where several are served
    key      what the server asks for
    tries    how often a request is sent while the server is full; each time it says how long to wait
    """

    def __init__(
        self, address: str, *, model: str | None = None, key: str | None = None, tries: int = 5, timeout: float = 60.0
    ) -> None:
        self.address, self.model, self.tries, self.timeout = address.rstrip("/"), model, tries, timeout
        self.headers = {"Authorization": f"Bearer {key}"} if key else {}

    def models(self) -> list[dict[str, Any]]:
        with self._send("models", None) as reply:
            return json.load(reply)["models"]

    def predict(self, texts: Sequence[str], **options: Any) -> list[Any]:
        """The answers to each text, in order; options are the settings of `search`, over the run's. Refused."""
        with self._send("predict", {"texts": list(texts), "options": options}) as reply:
            return json.load(reply)["answers"]

    def stream(self, text: str, **options: Any) -> Iterator[dict[str, Any]]:
        """The events of one answer as they come: pieces, where it comes in pieces, and last `answer`. Refused."""
        with self._send("stream", {"text": text, "options": options}) as reply:
            kind = ""
            for line in map(bytes.decode, reply):
                name, _, value = line.rstrip("\n").partition(": ")
                if name == "data" and kind == "error":
                    raise Refused(reply.status, json.loads(value))
                if name == "data":
                    yield json.loads(value)
                kind = value if name == "event" else kind

    def attention(self, text: str, target: str | None = None) -> dict[str, Any]:
        """Weights and tokens, as `AttentionPicture.to_dict` gives them; without a target of the model's own answer."""
        with self._send("attention", {"text": text, "target": target}) as reply:
            return json.load(reply)["attention"]

    def _send(self, path: str, asked: dict[str, Any] | None) -> HTTPResponse:
        data = None if asked is None else json.dumps({"model": self.model, **asked}).encode()
        headers = {**self.headers, "Content-Type": "application/json"}
        for left in reversed(range(self.tries)):
            try:
                return urlopen(Request(f"{self.address}/{path}", data, headers), timeout=self.timeout)
            except HTTPError as error:
                if error.code != 503 or not left:
                    raise Refused(error.code, _said(error)) from None
                time.sleep(min(float(error.headers.get("Retry-After", 1)), LONGEST_PAUSE))
        raise AssertionError("unreachable")


def _said(error: HTTPError) -> dict[str, Any]:
    try:
        said = json.loads(error.read())
    except ValueError:
        return {"error": error.reason}
    return said if isinstance(said, dict) else {"error": error.reason}
