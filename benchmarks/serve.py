"""A server under load: are all answers right, what do micro-batches bring, and what happens at ten times too much?

python benchmarks/serve.py RUN [--part parity throughput overload end] [--clients 16] [--requests 2000]

parity      clients with mixed options and bad requests in between; each answer is compared with that of `predict`
throughput  the same texts with micro-batches and one at a time
overload    ten times as many clients as fill the queue, 60 seconds
end         SIGTERM in the middle of it
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import sublayer
from setting import arguments, machine, table
from sublayer.tasks.search import Search

OPTIONS = (
    {"beam": 1},
    {"beam": 4, "nbest": 2},
    {"beam": 1, "temperature": 0.8, "seed": 7},
    {"beam": 1, "length_penalty": 0.0, "max_extra": 5},
)
BAD = (
    (b"{", 400),
    (b'{"texts": []}', 422),
    (b'{"texts": ["a"], "options": {"beam": 0}}', 422),
    (b'{"texts": ["a"], "options": {"bean": 1}}', 422),
    (b'{"texts": ["a"], "model": "none"}', 404),
    (json.dumps({"texts": ["a" * 3000]}).encode(), 422),
)


@contextmanager
def server(run: Path, *limits: str):
    """A process that serves the run: its port, itself."""
    command = [sys.executable, "-m", "sublayer", "serve", str(run), "--port", "0"]
    with tempfile.NamedTemporaryFile() as log:
        process = subprocess.Popen(
            [*command, *(part for limit in limits for part in ("--limit", limit))], stderr=log, stdout=log
        )
        try:
            while b"http://" not in (said := Path(log.name).read_bytes()):
                assert process.poll() is None, said.decode()
                time.sleep(0.2)
            port = int(said.split(b"http://127.0.0.1:")[1].split(b"/")[0])
            while b"200" not in asyncio.run(once(port)):
                time.sleep(0.2)
            yield port, process
        finally:
            process.kill()
            process.wait()


async def once(port: int, path: str = "/readyz") -> bytes:
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return b""
    writer.write(f"GET {path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n".encode())
    reply = await reader.read()
    writer.close()
    return reply


async def batch_size(port: int) -> float:
    """How many texts were answered together on average."""
    meters = (await once(port, "/metrics")).decode().splitlines()
    total, count = (
        float(next(line for line in meters if line.startswith(f"sublayer_batch_texts_{name}{{")).split()[-1])
        for name in ("sum", "count")
    )
    return total / count


class Connection:
    """One that is kept, and opened again where it was closed."""

    def __init__(self, port: int) -> None:
        self.port, self.writer = port, None

    async def post(self, body: bytes) -> tuple[int, bytes, float]:
        """Status, body, seconds; status 0 where no reply came."""
        begun = time.perf_counter()
        try:
            if self.writer is None:
                self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
            head = f"POST /predict HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
            self.writer.write(head.encode() + b"\r\n\r\n" + body)
            lines = (await self.reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
            fields = dict(line.split(b": ", 1) for line in lines[1:] if line)
            reply = await self.reader.readexactly(int(fields[b"content-length"]))
            if fields.get(b"connection") == b"close":
                self.close()
            return int(lines[0].split()[1]), reply, time.perf_counter() - begun
        except (OSError, asyncio.IncompleteReadError):
            self.close()
            return 0, b"", time.perf_counter() - begun

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
        self.writer = None


def body(text: str, options: dict) -> bytes:
    return json.dumps({"texts": [text], "options": options}).encode()


def percentile(seconds: list[float], share: float) -> str:
    return f"{1000 * statistics.quantiles(seconds, n=100)[round(100 * share) - 1]:.0f} ms"


def parity(run: Path, texts: list[str], clients: int, requests: int) -> None:
    task = sublayer.load(run).for_inference()
    right = {}
    for n, options in enumerate(OPTIONS):
        search = Search(**task.search.model_dump(exclude_unset=True) | {"nbest": 1} | options)
        for text in texts:
            [found] = task.predict([text], search=search)  # one at a time
            right[text, n] = [(a.text, a.score) for a in found]
    statuses, wrong, times = Counter(), [], []

    async def client(port: int, number: int) -> None:
        draw, connection = random.Random(number), Connection(port)
        for _ in range(requests):
            if draw.random() < 0.1:
                asked, expected = draw.choice(BAD)
                status, reply, _ = await connection.post(asked)
                if status != expected or "error" not in json.loads(reply):
                    wrong.append((asked, status))
            else:
                text, n = draw.choice(texts), draw.randrange(len(OPTIONS))
                status, reply, took = await connection.post(body(text, OPTIONS[n]))
                times.append(took)
                found = [(a["text"], a["score"]) for a in json.loads(reply)["answers"][0]] if status == 200 else []
                if not same(found, right[text, n]):
                    wrong.append((text, OPTIONS[n], found, right[text, n]))
            statuses[status] += 1
        connection.close()

    async def all_of_them(port: int) -> None:
        await asyncio.gather(*(client(port, number) for number in range(clients)))

    with server(run) as (port, _):
        begun = time.perf_counter()
        asyncio.run(all_of_them(port))
        took = time.perf_counter() - begun
    print(f"parity: {clients} × {requests} requests in {took:.0f} s, statuses {dict(sorted(statuses.items()))}")
    print(f"lost {clients * requests - statuses.total() + statuses[0]}, other than predict's {len(wrong)}", wrong[:3])
    print(f"half within {percentile(times, 0.5)}, 99 of 100 within {percentile(times, 0.99)}\n")


def same(found: list, right: list) -> bool:
    texts = [text for text, _ in found] == [text for text, _ in right]
    return texts and all(abs(a - b) < 1e-4 for (_, a), (_, b) in zip(found, right, strict=True))


def throughput(run: Path, texts: list[str], clients: int, requests: int) -> None:
    rows = []

    async def client(port: int, number: int, options: dict, times: list[float]) -> None:
        draw, connection = random.Random(number), Connection(port)
        for _ in range(requests):
            status, _, took = await connection.post(body(draw.choice(texts), options))
            assert status == 200, status
            times.append(took)

    async def all_of_them(port: int, options: dict, times: list[float]) -> None:
        await asyncio.gather(*(client(port, number, options, times) for number in range(clients)))

    for options in ({"beam": 1}, {"beam": 5}):
        rates = []
        for together in (64, 1):
            times: list[float] = []
            with server(run, f"together={together}") as (port, process):
                before, begun = processor(process), time.perf_counter()
                asyncio.run(all_of_them(port, options, times))
                rates.append(len(times) / (time.perf_counter() - begun))
                work = 1000 * (processor(process) - before) / len(times)
                size = asyncio.run(batch_size(port))
            name = "micro-batches" if together > 1 else "one at a time"
            cells = [f"{rates[-1]:.1f}", f"{work:.1f}", f"{size:.1f}", percentile(times, 0.5), percentile(times, 0.99)]
            rows.append([f"beam {options['beam']}, {name}", *cells, f"{rates[0] / rates[-1]:.2f}"])
    print(
        table(
            [
                f"{clients} clients",
                "answers a second",
                "processor, ms an answer",
                "texts a batch",
                "median",
                "p99",
                "micro-batches bring",
            ],
            rows,
        ),
        "\n",
    )


def processor(process: subprocess.Popen) -> float:
    """Seconds of processor time that it has had."""
    fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(process: subprocess.Popen) -> int:
    """Resident MiB."""
    fields = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8").split("VmRSS:")[1].split()
    return int(fields[0]) // 1024


def overload(run: Path, texts: list[str], seconds: float, *, end: bool) -> None:
    waiting = 32
    statuses, times, sizes = Counter(), [], []
    over = asyncio.Event()

    async def client(port: int, number: int) -> None:
        draw, connection = random.Random(number), Connection(port)
        while not over.is_set():
            status, reply, took = await connection.post(body(draw.choice(texts), {"beam": 4}))
            if over.is_set() and status == 0:
                break  # after the end nobody listens
            statuses[status] += 1
            if status == 200:
                times.append(took)
                assert json.loads(reply)["answers"]
            elif status == 503:
                await asyncio.sleep(0.2)

    async def watch(process: subprocess.Popen) -> None:
        for second in range(int(seconds)):
            await asyncio.sleep(1)
            sizes.append(memory(process))
            if end and second == int(seconds) // 2:
                over.set()
                process.send_signal(signal.SIGTERM)
                await asyncio.to_thread(process.wait, 60)
                break
        over.set()

    async def all_of_them(port: int, process: subprocess.Popen) -> None:
        clients = (client(port, number) for number in range(10 * waiting))
        await asyncio.gather(watch(process), *clients)

    with server(run, f"waiting={waiting}", "together=16") as (port, process):
        asyncio.run(all_of_them(port, process))
        name = "end" if end else "overload"
        print(f"{name}: {10 * waiting} clients, a queue of {waiting}, statuses {dict(sorted(statuses.items()))}")
        if end:
            print(f"exit code {process.returncode}\n")
        else:
            early, late = statistics.mean(sizes[5:15]), statistics.mean(sizes[-10:])
            print(f"memory {early:.0f} MiB after 5 to 15 s, {late:.0f} MiB at the end, at most {max(sizes)} MiB")
            print(f"accepted: half within {percentile(times, 0.5)}, 99 of 100 within {percentile(times, 0.99)}\n")


def main() -> None:
    parser = arguments(__doc__.split("\n")[0], rounds=1)
    parser.add_argument("run", type=Path)
    parts = ("parity", "throughput", "overload", "end")
    parser.add_argument("--part", nargs="+", choices=parts, default=parts)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--requests", type=int, default=2000, help="of each client")
    parser.add_argument("--seconds", type=float, default=60)
    asked = parser.parse_args()
    lines = (asked.run / "samples" / "valid.tsv").read_text(encoding="utf-8").splitlines()
    texts = [line.split("\t")[0] for line in lines[:60]]
    for part in asked.part:
        if part == "parity":
            parity(asked.run, texts, asked.clients, asked.requests)
        elif part == "throughput":
            throughput(asked.run, texts, asked.clients, max(asked.requests // 20, 10))
        else:
            overload(asked.run, texts, asked.seconds, end=part == "end")
    print(machine(["sublayer", "torch", "fastapi", "uvicorn"]))


if __name__ == "__main__":
    main()
