"""How runs went: their metrics as curves, an SVG that needs no library or a PNG, and beside each other in words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from sublayer.errors import CheckpointError, ConfigError
from sublayer.inspect.sheet import Curve, plotted
from sublayer.models.files import write_text

WIDTH, HEIGHT, LEFT, TOP = 560, 200, 60, 34  # of a panel, and what its labels take
COLOURS = ("#08408c", "#c2410c", "#15803d", "#7e22ce", "#b91c1c", "#0e7490")
APART = ("best", "best_step", "epoch", "rate", "skipped", "step")  # what is no curve

Line = dict[str, Any]


def read_metrics(run: Path) -> list[Line]:
    """The lines of RUN/metrics.jsonl, without one that is being written. CheckpointError where there are none."""
    try:
        lines = (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    except OSError:
        lines = []
    if not lines:
        raise CheckpointError(f"{run} holds no metrics.jsonl, or an empty one: train first.")
    return [json.loads(line) for line in lines if line.endswith("\n")]


def compared(runs: Mapping[str, Sequence[Line]]) -> list[str]:
    """A line a run: where it stands, its newest loss, and its best validation."""
    told = []
    for name, lines in runs.items():
        losses = [line["loss"] for line in lines if "loss" in line]
        best = next((line for line in reversed(lines) if "best" in line), None)
        said = [f"{name}: step {lines[-1]['step']:,}"]
        said += [f"loss {losses[-1]:.4f}"] if losses else []
        said += [f"best {best['best']:.4f} at step {best['best_step']:,}"] if best else []
        told.append(", ".join(said))
    return told


def save_curves(runs: Mapping[str, Sequence[Line]], path: Path) -> None:
    """A panel for each metric, a colour for each run. What is measured on the validation file is drawn bold, beside
    the same of training. ConfigError for a name that is neither .svg nor .png, or where matplotlib is missing."""
    names = dict.fromkeys(key for lines in runs.values() for line in lines for key in line if key not in APART)
    panels = {name: _curves(name, runs) for name in dict.fromkeys(name.removeprefix("valid_") for name in names)}
    legend = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(runs)}
    if path.suffix == ".png":
        plotted(panels, legend).savefig(path)
    elif path.suffix == ".svg":
        write_text(path, _svg(panels, legend))
    else:
        raise ConfigError(f"{path}: curves are drawn as .svg or .png.")


def _curves(name: str, runs: Mapping[str, Sequence[Line]]) -> list[Curve]:
    return [
        Curve(COLOURS[i % len(COLOURS)], width, [(line["step"], line[key]) for line in lines if key in line])
        for i, lines in enumerate(runs.values())
        for key, width in ((name, 1), (f"valid_{name}", 2))
    ]


def _svg(panels: Mapping[str, Sequence[Curve]], legend: Mapping[str, str]) -> str:
    rows = [_panel(name, number, curves) for number, (name, curves) in enumerate(panels.items())]
    named = "".join(
        f'<text x="{LEFT + 130 * i}" y="18" fill="{colour}" font-weight="bold">{escape(name)}</text>'
        for i, (name, colour) in enumerate(legend.items())
    )
    height = TOP + len(rows) * (HEIGHT + TOP)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + LEFT + 20} {height}" font-family="sans-serif" '
        f'font-size="11">\n<rect width="100%" height="100%" fill="white"/>\n{named}\n{"".join(rows)}</svg>\n'
    )


def _panel(name: str, number: int, curves: Sequence[Curve]) -> str:
    points = [point for curve in curves for point in curve.points]
    last, low, high = max(x for x, _ in points), min(y for _, y in points), max(y for _, y in points)
    top, spread = TOP + number * (HEIGHT + TOP), (high - low) or 1.0

    def at(point: tuple[float, float]) -> str:
        x, y = LEFT + WIDTH * point[0] / last, top + HEIGHT * (high - point[1]) / spread
        return f"{x:.1f},{y:.1f}"

    drawn = "".join(
        f'<polyline fill="none" stroke="{curve.colour}" stroke-width="{curve.width}" '
        f'points="{" ".join(map(at, curve.points))}"/>\n'
        for curve in curves
        if curve.points
    )
    return (
        f'<rect x="{LEFT}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#bbb"/>\n{drawn}'
        f'<text x="{LEFT + 6}" y="{top + 14}" font-weight="bold">{escape(name)}</text>\n'
        f'<text x="{LEFT - 5}" y="{top + 9}" text-anchor="end">{high:.4g}</text>\n'
        f'<text x="{LEFT - 5}" y="{top + HEIGHT}" text-anchor="end">{low:.4g}</text>\n'
        f'<text x="{LEFT + WIDTH}" y="{top + HEIGHT + 13}" text-anchor="end">step {last:,}</text>\n'
    )
