"""Attention as a picture: HTML to explore, PNG and SVG to print."""

import os
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from sublayer.errors import ConfigError, ShapeError, listing
from sublayer.inspect.page import page
from sublayer.inspect.sheet import image, sheet

if TYPE_CHECKING:
    from sublayer.inspect.sheet import Figure

Labels = Sequence[str] | Mapping[str, Sequence[str]]

SUFFIXES = (".html", ".png", ".svg")


class AttentionPicture:
    """The attention weights of one example, to look at. A notebook shows the object as it is.

    maps     weights (H, T, S) of each layer: a list, or a list for each kind, "encoder", "decoder", "cross"
    rows     what stands at the T queries: one list, or one for each kind
    columns  what stands at the S keys, likewise

    ShapeError where the labels do not fit the weights.
    """

    def __init__(
        self,
        maps: Sequence[Tensor] | Mapping[str, Sequence[Tensor]],
        rows: Labels,
        columns: Labels,
        title: str = "Attention",
    ) -> None:
        self.maps = dict(maps) if isinstance(maps, Mapping) else {"attention": maps}
        self.rows, self.columns = self._labels(rows), self._labels(columns)
        self.title = title
        found = [problem for kind in self.maps for problem in self._problems(kind)]
        if problems := found if self.maps else ["there are no weights."]:
            raise ShapeError(listing("The picture cannot be drawn:", problems))

    def _labels(self, labels: Labels) -> dict[str, list[str]]:
        given = labels if isinstance(labels, Mapping) else dict.fromkeys(self.maps, labels)
        return {kind: list(given.get(kind, ())) for kind in self.maps}

    def _problems(self, kind: str) -> list[str]:
        rows, columns = len(self.rows[kind]), len(self.columns[kind])
        if not self.maps[kind]:
            return [f"{kind}: there are no layers. Leave this kind out."]
        return [
            f"{kind}, layer {i}: weights of shape {tuple(layer.shape)} and {rows} rows, {columns} columns; "
            f"expected (heads, {rows}, {columns}), one example without its batch axis"
            for i, layer in enumerate(self.maps[kind], 1)
            if layer.dim() != 3 or layer.shape[1:] != (rows, columns) or not layer.numel()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values: the title, and of each kind its rows, columns and weights (L, 1 + H, T, S), where the
        first of the heads is the mean of them all."""
        return {
            "title": self.title,
            "kinds": {
                kind: {
                    "rows": self.rows[kind],
                    "columns": self.columns[kind],
                    "weights": list(map(_views, layers)),
                }
                for kind, layers in self.maps.items()
            },
        }

    def to_bertviz(self) -> dict[str, Any]:
        """Arguments for `bertviz.head_view(**…)` and `model_view(**…)`: a tensor (1, H, T, S) a layer, and tokens.

        Tokens of the decoder are those that it reads. ConfigError for kinds that they have no view of.
        """
        batched = {kind: [layer.detach().cpu()[None] for layer in layers] for kind, layers in self.maps.items()}
        if {"encoder", "decoder", "cross"} <= batched.keys():
            views = {f"{kind}_attention": batched[kind] for kind in ("encoder", "decoder", "cross")}
            tokens = {f"{kind}_tokens": self.columns[kind] for kind in ("encoder", "decoder")}
            return {**views, **tokens}
        for kind in ("encoder", "decoder", "attention"):
            if len(batched) == 1 and kind in batched and len(self.rows[kind]) == len(self.columns[kind]):
                return {"attention": batched[kind], "tokens": self.columns[kind]}
        raise ConfigError(
            f"bertviz shows self-attention, or encoder, decoder and cross together, and here is {', '.join(self.maps)}."
        )

    def html(self) -> str:
        """A page that needs nothing else, with kind, layer and head to choose and every weight to read."""
        return page(self.to_dict())

    def _repr_html_(self) -> str:
        # A frame of its own keeps the notebook's styles out of the page, and the page's out of the notebook.
        return (
            f'<iframe title="{escape(self.title)}" srcdoc="{escape(self.html())}" '
            f'style="width:100%;height:480px;border:0"></iframe>'
        )

    def plot(self, kind: str | None = None, layer: int | None = None, head: int | None = None) -> "Figure":
        """A matplotlib figure of every kind and layer, mean of heads, or of the one kind, layer and head that is named.

        layer, head  counted from 0, or from the end with -1 as the last

        ConfigError for one that is not there, or where matplotlib is missing.
        """
        if kind is not None and kind not in self.maps:
            raise ConfigError(f"there is no kind {kind!r} here. Known: {', '.join(self.maps)}.")
        chosen = {}
        for name, layers in self.maps.items() if kind is None else [(kind, self.maps[kind])]:
            shown = {i: _head(layers[i], head) for i in _chosen(name, "layer", layer, len(layers))}
            chosen[name] = (self.rows[name], self.columns[name], shown)
        return sheet(self.title, chosen, "mean of heads" if head is None else f"head {head + 1 if head >= 0 else head}")

    def save(self, path: str | Path) -> None:
        """The page (.html) or the sheet (.png, .svg), whole or not at all; ConfigError for another suffix."""
        path = Path(path)
        suffix = path.suffix.lower()
        if suffix not in SUFFIXES:
            raise ConfigError(f"{path.name}: a picture is saved as {', '.join(SUFFIXES)}, not {suffix or 'nothing'!r}.")
        _write(path, self.html().encode() if suffix == ".html" else image(self.plot(), suffix[1:]))


def _views(weights: Tensor) -> list[list[list[float]]]:
    """(H, T, S) -> (1 + H, T, S): the mean of heads, then each."""
    weights = weights.detach().cpu().double()
    views: list[list[list[float]]] = torch.cat((weights.mean(0, keepdim=True), weights)).round(decimals=4).tolist()
    return views


def _head(weights: Tensor, head: int | None) -> list[list[float]]:
    heads = weights.detach().cpu().double()
    shown = heads.mean(0) if head is None else heads[_chosen("this layer", "head", head, len(heads))[0]]
    found: list[list[float]] = shown.tolist()
    return found


def _chosen(of: str, what: str, number: int | None, count: int) -> list[int]:
    if number is None:
        return list(range(count))
    if not -count <= number < count:
        raise ConfigError(f"{what}={number}: {of} has {count} {what}s. Write 0 to {count - 1}, or -1 for the last.")
    return [number % count]


def _write(path: Path, data: bytes) -> None:
    beside = path.with_name(f".{path.name}.part")
    beside.write_bytes(data)
    os.replace(beside, path)
