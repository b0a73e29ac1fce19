"""A server in a process of its own."""

import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]


@contextmanager
def server(kind, *limits):
    """A process with its `port`, once it listens."""
    command = [sys.executable, "-m", "tests.serve.shouting", kind, *limits]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.port = int(process.stdout.readline())
        try:
            while not listens(process):
                time.sleep(0.05)
            yield process
        finally:
            process.kill()


def listens(process):
    assert process.poll() is None
    with suppress(ConnectionRefusedError), connect(process):
        return True


def connect(process):
    return socket.create_connection(("127.0.0.1", process.port), timeout=20)
