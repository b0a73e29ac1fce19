"""Pictures by matplotlib: attention on one sheet, and curves."""

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

from sublayer.errors import ConfigError

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Figure

NAMES = {
    "encoder": ("Encoder self-attention", "Each row: what this input position looks at in the input."),
    "decoder": ("Decoder self-attention", "Each row: what this output position looks at in the output so far."),
    "cross": ("Cross-attention", "Each row: what this output position looks at in the input."),
    "alignment": ("Words", "Each row: the word that this word of the output comes from."),
}
CJK = (
    "Noto Sans CJK",
    "Source Han Sans",
    "WenQuanYi",
    "PingFang",
    "Hiragino Sans",
    "Microsoft YaHei",
    "SimHei",
)
TURNED = 2  # longer column labels are turned
ROOMY = 40  # with more rows or columns, cells and labels are smaller
SMALLEST = 0.055  # inches of a cell
WIDEST = 14.0  # inches that the cells of a panel take, unless the smallest take more

Table = Sequence[Sequence[float]]
Kind = tuple[Sequence[str], Sequence[str], Mapping[int, Table]]
"""Rows, columns, and by the number of a layer its weights (T, S)."""


class Curve(NamedTuple):
    """(step, value) after (step, value)."""

    colour: str
    width: int
    points: list[tuple[float, float]]


def plotted(panels: Mapping[str, Sequence[Curve]], legend: Mapping[str, str]) -> "Figure":
    """Panels below each other, one for each name, under a legend of names in their colours."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.lines import Line2D
    except ImportError:
        raise ConfigError("A .png needs matplotlib: pip install 'sublayer[plot]'. An .svg needs nothing.") from None
    figure = Figure(figsize=(7, 0.5 + 2.4 * len(panels)), dpi=150, layout="constrained")
    for axes, (name, curves) in zip(figure.subplots(len(panels), 1, squeeze=False)[:, 0], panels.items(), strict=True):
        axes.set_title(name, fontsize=9, loc="left", fontweight="bold", parse_math=False)
        axes.set_xlabel("step", fontsize=8)
        for curve in curves:
            if curve.points:
                axes.plot(*zip(*curve.points, strict=True), color=curve.colour, linewidth=curve.width)
    lines = [Line2D([], [], color=colour) for colour in legend.values()]
    named = figure.legend(lines, list(legend), loc="outside upper left", ncols=len(legend), fontsize=8)
    for text in named.texts:
        text.set_parse_math(False)
    return figure


def sheet(title: str, kinds: Mapping[str, Kind], shown: str) -> "Figure":
    """Kinds below each other, layers side by side. A bare Figure leaves pyplot's global state alone."""
    try:
        from matplotlib.colors import LinearSegmentedColormap
        from matplotlib.figure import Figure
    except ImportError:
        raise ConfigError("A plot needs matplotlib: pip install 'sublayer[plot]'. HTML needs nothing.") from None
    ramp = LinearSegmentedColormap.from_list("ink", ["#ffffff", "#08408c"])
    text = {"fontfamily": ["DejaVu Sans", *_cjk()[:1]], "parse_math": False}
    sizes = [_inches(kind) for kind in kinds.values()]
    heights = [height for _, height in sizes]
    size = (max(width for width, _ in sizes), sum(heights) + 0.4)
    figure = Figure(figsize=size, dpi=150, layout="constrained")
    figure.suptitle(title if len(title) < 100 else f"{title[:99]}…", fontsize=13, **text)
    parts = figure.subfigures(len(kinds), 1, squeeze=False, height_ratios=heights)[:, 0]
    for part, (name, kind) in zip(parts, kinds.items(), strict=True):
        called, caption = NAMES.get(name, (name, "Each row: what this position looks at."))
        of = "" if name == "alignment" else f", {shown}"
        part.suptitle(f"{called}{of}\n{caption}", fontsize=9, **text)
        _panels(part, kind, ramp, text)
        if name == "alignment":
            part.axes[0].set_title("")  # words belong together over all layers
    figure._repr_png_ = partial(image, figure, "png")  # type: ignore[attr-defined]  # a notebook shows other figures only once pyplot is there
    return figure


def image(figure: "Figure", format: str) -> bytes:
    data = BytesIO()
    with warnings.catch_warnings():  # a machine without a font for these tokens shows boxes
        warnings.filterwarnings("ignore", "Glyph", UserWarning)
        figure.savefig(data, format=format, metadata={"Date": None} if format == "svg" else None)
    return data.getvalue()


@cache
def _cjk() -> list[str]:
    """The fonts of Chinese, Japanese and Korean on this machine. matplotlib keeps a list of fonts from its first run,
    so one that was installed later is looked for."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    def known() -> list[str]:
        return sorted({font.name for font in fontManager.ttflist if font.name.startswith(CJK)})

    if not known():
        listed = {font.fname for font in fontManager.ttflist}
        for path in sorted(set(findSystemFonts()) - listed):
            with suppress(OSError, RuntimeError):  # a file that matplotlib cannot read
                fontManager.addfont(path)
    return known()


def _panels(part: Any, kind: Kind, ramp: Any, text: dict[str, Any]) -> None:
    """The layers of one kind in a matplotlib (sub)figure, with one colour scale."""
    rows, columns, layers = kind
    cell = _cell(kind)
    every, size = max(1, round(0.09 / cell)), min(8.0, 72 * max(cell, 0.09) * 0.75)
    top = max(weight for table in layers.values() for line in table for weight in line) or 1
    axes = part.subplots(1, len(layers), squeeze=False)[0]
    for axis, (number, table) in zip(axes, layers.items(), strict=True):
        drawn = axis.imshow(table, cmap=ramp, vmin=0, vmax=top)
        axis.set_title(f"layer {number + 1}", fontsize=9)
        axis.tick_params(length=0, labelsize=size, labeltop=True, labelbottom=False, pad=1.5)
        axis.set_xticks(range(0, len(columns), every), list(map(_shown, columns[::every])), **text)
        axis.set_yticks(range(0, len(rows), every), list(map(_shown, rows[::every])), **text)
        for label in axis.get_xticklabels():
            label.set_rotation(90 if len(label.get_text()) > TURNED or cell < 0.24 else 0)
    part.colorbar(drawn, ax=axes, shrink=0.7, aspect=25, label="weight").ax.tick_params(labelsize=8)


def _shown(token: str) -> str:
    """White space would not be seen."""
    return token if token.strip() else "⏎" if "\n" in token else "␣"


def _cell(kind: Kind) -> float:
    """Inches: square cells, with room for a label each as long as there are not too many."""
    most = max(len(kind[0]), len(kind[1]))
    return 0.24 if most <= ROOMY else max(SMALLEST, min(0.24, WIDEST / most))


def _inches(kind: Kind) -> tuple[float, float]:
    """Width and height of a row of panels, with room for labels, caption and scale."""
    cell = _cell(kind)
    longest = [0.36 * min(cell, 0.25) * max(map(len, side)) for side in kind[:2]]
    panel = cell * len(kind[1]) + longest[0] + 0.4
    return max(5.0, panel * len(kind[2]) + 0.9), cell * len(kind[0]) + longest[1] + 1.1
