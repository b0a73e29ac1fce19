"""A line for each request, and its place in the meters. What was asked stands in neither."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Collection

from sublayer.serve.metrics import Meters
from sublayer.serve.replies import SAFE, App, Message, Receive, Scope, Send

log = logging.getLogger("sublayer.access")


class Journal:
    """paths  that are there; others are written as `-`, since they may be anything"""

    def __init__(self, app: App, paths: Collection[str], meters: Meters) -> None:
        self.app, self.paths, self.meters = app, paths, meters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun, sent = time.perf_counter(), Sent(send)
        try:
            await self.app(scope, receive, sent)
        except Exception as error:
            where = "".join(traceback.format_tb(error.__traceback__))
            logging.getLogger("sublayer.serve").error("%s\n%s", type(error).__name__, where)
        finally:
            seconds = time.perf_counter() - begun
            path = "/page" if scope["path"].startswith("/page/") else scope["path"]
            path = path if path in self.paths else "-"
            method = scope["method"] if scope["method"] in ("GET", "HEAD", "POST") else "-"
            client = (scope.get("client") or ("-",))[0]
            log.info("%s %s %s %d %.1fms %dB", client, method, path, sent.status, 1000 * seconds, sent.length)
            self.meters.request(path, sent.status, seconds)


class Sent:
    """A `send` that remembers, and adds the headers that every reply has."""

    def __init__(self, send: Send) -> None:
        self.send = send
        self.status = self.length = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            there = {name for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *(pair for pair in SAFE if pair[0] not in there)]
        self.length += len(message.get("body", b""))
        await self.send(message)
