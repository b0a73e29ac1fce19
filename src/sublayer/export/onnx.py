"""ONNX: three graphs for a model, and onnxruntime to run them."""

from __future__ import annotations

import copy
import logging
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from sublayer.errors import ConfigError
from sublayer.export.graphs import GraphEngine, Graphs
from sublayer.export.program import programs
from sublayer.models.seq2seq import EncoderDecoder
from sublayer.nn import Eager, Fused, MultiHeadAttention
from sublayer.tasks.translate import Translate


def export(task: Translate, folder: Path) -> None:
    """Write encode.onnx, begin.onnx and go_on.onnx; batch and all lengths are free. ConfigError without onnx."""
    try:
        import onnx  # noqa: F401
        import onnxscript  # noqa: F401
    except ImportError:
        raise ConfigError("ONNX export needs onnx and onnxscript: pip install 'sublayer[onnx]'.") from None
    cross, past, new = (_names(kind, len(task.model.decoder.layers)) for kind in ("cross", "past", "new"))
    inputs = (["source", "lengths"], ["tokens", "lengths", *cross], ["tokens", "lengths", *cross, *past])
    outputs = (cross, ["log_probabilities", *new], ["log_probabilities", *new])
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)  # it misses torchvision, which nothing here needs
    for name, program, read, written in zip(
        Graphs._fields, programs(_spelled_out(task.model)), inputs, outputs, strict=True
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the converter, about its own insides
            torch.onnx.export(
                program,
                f=folder / f"{name}.onnx",
                input_names=read,
                output_names=written,
                dynamo=True,
                external_data=False,
                verbose=False,
            )


def engine(folder: Path, threads: int) -> GraphEngine:
    """onnxruntime over what `export` wrote. ConfigError where it is not installed."""
    try:
        import onnxruntime
    except ImportError:
        raise ConfigError("onnxruntime is not installed: pip install 'sublayer[onnx]'.") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    sessions = (onnxruntime.InferenceSession(folder / f"{name}.onnx", options) for name in Graphs._fields)
    return GraphEngine("onnx", Graphs(*map(_Session, sessions)))


class _Session:
    """A graph that onnxruntime runs."""

    def __init__(self, session: Any) -> None:
        self.session, self.names = session, [given.name for given in session.get_inputs()]

    def __call__(self, inputs: list[Tensor]) -> list[Tensor]:
        given = {name: x.numpy() for name, x in zip(self.names, inputs, strict=True)}
        return [torch.from_numpy(x) for x in self.session.run(None, given)]


def _names(kind: str, layers: int) -> list[str]:
    return [f"{kind}_{part}_{i}" for i in range(layers) for part in ("key", "value")]


def _spelled_out(model: EncoderDecoder) -> EncoderDecoder:
    """A copy with the attention formula in place of the fused kernel, which the converter takes apart wrongly."""
    model = copy.deepcopy(model)
    for part in model.modules():
        if isinstance(part, MultiHeadAttention) and isinstance(part.kernel, Fused):
            part.kernel = Eager()
    return model
