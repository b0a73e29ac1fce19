"""The process behind real sockets: slow clients, half-closed connections, signals."""

import json
import signal
import socket
import threading
import time
from contextlib import ExitStack, suppress

import pytest
from tests.serve.process import connect, server

from sublayer.errors import ConfigError
from sublayer.serve.client import Client, Refused
from sublayer.serve.server import HEAD, listen

FLOOD = 40_000_000  # more than the kernel keeps for a client


@pytest.fixture(scope="module")
def shouting():
    with server("shout", "reading=0.6", "sending=0.6", "connections=20") as process:
        yield process


def client(process, **given):
    return Client(f"http://127.0.0.1:{process.port}", **given)


def request(text, path="/predict"):
    body = json.dumps({"texts": [text]} if path == "/predict" else {"text": text}).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def everything(connection):
    return b"".join(iter(lambda: connection.recv(65536), b""))


def test_the_client_asks_as_the_interface_is(shouting):
    asking = client(shouting)
    assert asking.models() == [{"name": "m", "task": "shout", "engine": "toy"}]
    assert asking.predict(["a", "bc"], times=1) == ["A", "BC"]
    assert list(asking.stream("ab"))[-1] == {"answer": "AB"}
    assert asking.attention("a", "b") == ["a", "b"]
    with pytest.raises(Refused, match="422: The request cannot be answered as it is.\n  - texts.0: too long"):
        asking.predict(["long"])
    with pytest.raises(Refused, match="404: No model of the name 'n'") as error:
        client(shouting, model="n").predict(["a"])
    assert error.value.status == 404


def test_half_a_connection_still_gets_its_answer(shouting):
    with connect(shouting) as connection:
        connection.sendall(request("wait"))
        connection.shutdown(socket.SHUT_WR)
        reply = everything(connection)
    assert reply.startswith(b"HTTP/1.1 200") and reply.endswith(b'{"model": "m", "answers": ["WAIT"]}')


def test_a_head_that_does_not_end_is_cut(shouting):
    for begun in (b"", b"POST /predict HTTP/1.1\r\nHo"):
        with connect(shouting) as connection:
            connection.sendall(begun)
            since = time.monotonic()
            with suppress(ConnectionResetError):
                assert everything(connection) == b""
            assert 0.3 < time.monotonic() - since < 10


def test_a_head_has_a_size():
    with server("shout", "reading=60") as process, connect(process) as connection:
        with suppress(ConnectionError):
            connection.sendall(b"POST /predict HTTP/1.1\r\nX: ")
            for _ in range(40):
                connection.sendall(b"a" * HEAD)
            assert everything(connection) == b""
        assert client(process).predict(["a"]) == ["A"]


def test_a_body_that_does_not_end_is_told(shouting):
    for close in (False, True):
        with connect(shouting) as connection:
            connection.sendall(request("a")[:-3])
            if close:
                connection.shutdown(socket.SHUT_WR)
            reply = connection.recv(65536)
            assert reply.startswith(b"HTTP/1.1 408")


def test_who_does_not_read_is_cut_and_the_others_are_answered(shouting):
    with connect(shouting) as connection:
        connection.sendall(request("flood"))
        time.sleep(3)
        assert client(shouting).predict(["a"]) == ["A"]
        with suppress(ConnectionResetError):
            assert len(everything(connection)) < FLOOD


def test_connections_have_a_limit(shouting):
    held = [connect(shouting) for _ in range(20)]
    with connect(shouting) as connection:
        connection.sendall(request("a"))
        reply = connection.recv(65536)
    for connection in held:
        connection.close()
    assert reply.startswith(b"HTTP/1.1 503") and b"retry-after: 1" in reply


def test_a_client_waits_while_the_server_is_full(shouting):
    held = [connect(shouting) for _ in range(20)]
    with pytest.raises(Refused, match="503"):
        client(shouting, tries=1).models()
    threading.Timer(0.2, lambda: [connection.close() for connection in held]).start()
    assert client(shouting).predict(["a"]) == ["A"]


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_what_was_taken_on_is_answered_before_the_end(number):
    with server("shout", "together=1") as process, ExitStack() as stack:
        idle, half, *asking = (stack.enter_context(connect(process)) for _ in range(5))
        half.sendall(b"POST /pre")
        for connection in asking:
            connection.sendall(request("wait"))
        time.sleep(0.2)
        process.send_signal(number)
        replies = [everything(connection) for connection in asking]
        assert all(reply.endswith(b'{"model": "m", "answers": ["WAIT"]}') for reply in replies)
        assert everything(idle) == everything(half) == b""
        assert process.wait(20) == 0
        assert (process.stdout.read(), process.stderr.read()) == ("ended\n", "")
        with pytest.raises(ConnectionRefusedError):
            connect(process)


def test_an_address_that_cannot_be_had_is_told():
    with listen("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"Cannot listen on 127.0.0.1, port {port}: .* Choose another --host or"):
            listen("127.0.0.1", port)
