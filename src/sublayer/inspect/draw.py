"""Attention as a picture: HTML to explore, PNG and SVG to print."""

import os
import warnings
from collections.abc import Mapping, Sequence
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from sublayer.errors import ConfigError, ShapeError, listing
from sublayer.inspect.page import TURNED, page, words

Labels = Sequence[str] | Mapping[str, Sequence[str]]

SUFFIXES = (".html", ".png", ".svg")
CJK = (
    "Noto Sans CJK",
    "Source Han Sans",
    "WenQuanYi",
    "PingFang",
    "Hiragino Sans",
    "Microsoft YaHei",
    "SimHei",
)


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
        return {kind: [token if token.strip() else "␣" for token in given.get(kind, ())] for kind in self.maps}

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

    def html(self) -> str:
        """A page that needs nothing else, with kind, layer and head to choose and every weight to read."""
        return page(self.to_dict())

    def _repr_html_(self) -> str:
        # A frame of its own keeps the notebook's styles out of the page, and the page's out of the notebook.
        height = 260 + 30 * max(map(len, self.rows.values()))
        return (
            f'<iframe title="{escape(self.title)}" srcdoc="{escape(self.html())}" '
            f'style="width:100%;height:{height}px;border:0"></iframe>'
        )

    def png(self, path: str | Path) -> None:
        """Every kind and layer, mean of heads, on one sheet. ConfigError where matplotlib is missing."""
        _write(Path(path), _sheet(self.to_dict(), "png"))

    def save(self, path: str | Path) -> None:
        """The page (.html) or the sheet (.png, .svg), whole or not at all; ConfigError for another suffix."""
        path = Path(path)
        suffix = path.suffix.lower()
        if suffix not in SUFFIXES:
            raise ConfigError(f"{path.name}: a picture is saved as {', '.join(SUFFIXES)}, not {suffix or 'nothing'!r}.")
        _write(path, self.html().encode() if suffix == ".html" else _sheet(self.to_dict(), suffix[1:]))


def _views(weights: Tensor) -> list[list[list[float]]]:
    """(H, T, S) -> (1 + H, T, S): the mean of heads, then each."""
    weights = weights.detach().cpu().double()
    views: list[list[list[float]]] = torch.cat((weights.mean(0, keepdim=True), weights)).round(decimals=4).tolist()
    return views


def _write(path: Path, data: bytes) -> None:
    beside = path.with_name(f".{path.name}.part")
    beside.write_bytes(data)
    os.replace(beside, path)


def _sheet(picture: Mapping[str, Any], format: str) -> bytes:
    """Kinds below each other, layers side by side. A bare Figure leaves pyplot's global state alone."""
    try:
        from matplotlib.colors import LinearSegmentedColormap
        from matplotlib.figure import Figure
        from matplotlib.font_manager import fontManager
    except ImportError:
        raise ConfigError(f"A {format} needs matplotlib: pip install 'sublayer[plot]'. HTML needs nothing.") from None
    ramp = LinearSegmentedColormap.from_list("ink", ["#ffffff", "#08408c"])
    cjk = sorted({font.name for font in fontManager.ttflist if font.name.startswith(CJK)})
    text = {"fontfamily": ["DejaVu Sans", *cjk[:1]], "parse_math": False}

    kinds = picture["kinds"]
    sizes = [_inches(kind) for kind in kinds.values()]
    heights = [height for _, height in sizes]
    size = (max(width for width, _ in sizes), sum(heights) + 0.4)
    figure = Figure(figsize=size, dpi=150, layout="constrained")
    figure.suptitle(picture["title"], fontweight="bold", **text)
    parts = figure.subfigures(len(kinds), 1, squeeze=False, height_ratios=heights)[:, 0]
    for part, (name, kind) in zip(parts, kinds.items(), strict=True):
        part.suptitle("{}, mean of heads\n{}".format(*words(name)), fontsize=9, **text)
        _panels(part, kind, ramp, text)
    data = BytesIO()
    with warnings.catch_warnings():  # a machine without a font for these tokens shows boxes
        warnings.filterwarnings("ignore", "Glyph", UserWarning)
        figure.savefig(data, format=format, metadata={"Date": None} if format == "svg" else None)
    return data.getvalue()


def _panels(part: Any, kind: Mapping[str, Any], ramp: Any, text: dict[str, Any]) -> None:
    """The layers of one kind in a matplotlib (sub)figure, with one colour scale."""
    means = [layer[0] for layer in kind["weights"]]
    top = max(w for mean in means for line in mean for w in line) or 1
    axes = part.subplots(1, len(means), squeeze=False)[0]
    for i, (axis, mean) in enumerate(zip(axes, means, strict=True), 1):
        image = axis.imshow(mean, cmap=ramp, vmin=0, vmax=top)
        axis.set_title(f"layer {i}", fontsize=9)
        axis.tick_params(length=0, labelsize=8, labeltop=True, labelbottom=False)
        axis.set_xticks(range(len(kind["columns"])), kind["columns"], **text)
        axis.set_yticks(range(len(kind["rows"])), kind["rows"], **text)
        for label in axis.get_xticklabels():
            label.set_rotation(90 if len(label.get_text()) > TURNED else 0)
    part.colorbar(image, ax=axes, shrink=0.7, aspect=25, label="weight").ax.tick_params(labelsize=8)


def _inches(kind: Mapping[str, Any]) -> tuple[float, float]:
    """Width and height of a row of panels: square cells, with room for labels, caption and scale."""
    rows, columns = (0.09 * max(map(len, kind[side])) for side in ("rows", "columns"))
    panel = 0.24 * len(kind["columns"]) + rows + 0.4
    return max(5.0, panel * len(kind["weights"]) + 0.9), 0.24 * len(kind["rows"]) + columns + 1.1
