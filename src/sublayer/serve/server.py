"""The process that listens: connections that take too long, signals, the end."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from typing import Any

from sublayer.errors import ConfigError
from sublayer.serve.limits import Limits
from sublayer.serve.replies import App, full

HEAD = 65536  # bytes of a request's head at most; a longer one is cut


def listen(host: str, port: int) -> socket.socket:
    """A socket that is bound; port 0: any that is free. ConfigError where it cannot be had."""
    bound = None
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        bound = socket.socket(family, socket.SOCK_STREAM)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        if bound is not None:
            bound.close()
        raise ConfigError(f"Cannot listen on {host}, port {port}: {error}. Choose another --host or --port.") from None
    return bound


def run(app: App, bound: socket.socket, limits: Limits) -> None:
    """Serve until SIGINT or SIGTERM, then answer what has been taken on, within `limits.finishing` seconds.

    ConfigError where uvicorn is missing.
    """
    try:
        import httptools  # noqa: F401  the parser that `_protocol` stands on
        import uvicorn
    except ImportError:
        raise ConfigError("Serving needs uvicorn and httptools: pip install 'sublayer[serve]'.") from None
    config = uvicorn.Config(
        app,
        http=_protocol(limits),
        ws="none",
        loop="auto",  # uvloop where it is installed
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=limits.finishing,
        backlog=limits.connections,
    )
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)  # uvicorn raises it again after its end, which is then no fault
    uvicorn.Server(config).run(sockets=[bound])


class Heads:
    """Beside a protocol: counts the bytes of a request's head, which its parser would keep without an end."""

    head: int | None = None  # from its second piece on, until it has arrived

    def too_long(self, data: bytes) -> bool:
        if self.head is not None:
            self.head += len(data)
        return self.head is not None and self.head > HEAD

    def on_message_begin(self) -> None:
        super().on_message_begin()  # type: ignore[misc]
        self.head = 0

    def on_headers_complete(self) -> None:
        super().on_headers_complete()  # type: ignore[misc]
        self.head = None


def _protocol(limits: Limits) -> Any:
    """uvicorn's protocol, with an end to waiting for either side."""
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    class Protocol(Heads, HttpToolsProtocol):
        hurry: asyncio.TimerHandle | None = None  # cuts the connection, unless its head arrives or what was sent leaves

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            if len(self.connections) > limits.connections:
                self.app = full
            self.wait(limits.reading)

        def data_received(self, data: bytes) -> None:
            if self.too_long(data):
                return self.transport.abort()
            super().data_received(data)
            waits = self.hurry is not None
            arrived = self.cycle is not None and not self.cycle.response_complete
            if arrived and waits:
                self.wait(None)
            elif not arrived and not waits:
                self.wait(limits.reading)

        def eof_received(self) -> bool:  # type: ignore[override]
            """A client that has said all may still listen: it gets its answer."""
            if self.cycle is None or self.cycle.response_complete:
                return False
            self.cycle.keep_alive = False
            return True

        def pause_writing(self) -> None:
            super().pause_writing()
            self.wait(limits.sending)

        def resume_writing(self) -> None:
            super().resume_writing()
            self.wait(None)

        def connection_lost(self, exc: Exception | None) -> None:
            self.wait(None)
            super().connection_lost(exc)

        def wait(self, seconds: float | None) -> None:
            if self.hurry is not None:
                self.hurry.cancel()
            self.hurry = None if seconds is None else self.loop.call_later(seconds, self.transport.abort)

    return Protocol
