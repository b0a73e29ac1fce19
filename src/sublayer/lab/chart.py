"""A picture of the curves of a claim, as SVG: means over seeds with their 95 % intervals. It needs nothing else."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from math import isfinite
from unicodedata import east_asian_width

from sublayer.lab.axis import Axis
from sublayer.lab.claim import Chart, Measured
from sublayer.lab.judge import Estimate, estimate

WIDTH, HEIGHT = 720, 380
LEFT, RIGHT, TOP, BOTTOM = 76, 20, 46, 58
ROW = 24  # of the legend
FONTS = "Helvetica, Arial, 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', 'WenQuanYi Micro Hei', sans-serif"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#4d4d4d", "#8a6d3b")  # Okabe and Ito
Curve = list[tuple[float | str, Estimate]]


def joined(results: Sequence[Measured], against: float | str | None = None) -> dict[str, Curve]:
    """The curves of all seeds as one: at each x the mean and its interval; of differences where `against` is an x."""
    curves: dict[str, Curve] = {}
    for name, points in results[0].curves.items():
        seeds = [dict(measured.curves[name]) for measured in results]
        base = [seed.get(against, 0.0) if against is not None else 0.0 for seed in seeds]
        curves[name] = [
            (x, estimate([seed[x] - start for seed, start in zip(seeds, base, strict=True)])) for x, _ in points
        ]
    return curves


def draw(chart: Chart, results: Sequence[Measured], say: Callable[[str], str] = str) -> str:
    """Numbers on the x axis are joined by lines; names stand side by side as columns. `say` puts a label in words."""
    curves = {say(name): curve for name, curve in joined(results, chart.against).items()}
    xs = list(dict.fromkeys(x for curve in curves.values() for x, _ in curve))
    named = any(isinstance(x, str) for x in xs)
    ys = [y for curve in curves.values() for _, point in curve for y in _reach(point)]
    legend, rows = _legend(list(curves))
    top = TOP + ROW * max(rows - 1, 0)
    y = Axis(ys, HEIGHT - BOTTOM, top, log="y" in chart.log, zero=named)
    if named:
        body = _columns(curves, xs, y, say)
    else:
        places = [float(value) for value in xs]
        x = Axis(places, LEFT, WIDTH - RIGHT, log="x" in chart.log)
        body = [_tick_x(x(value), label) for value, label in x.ticks(places)] + _lines(curves, x, y)
    labels = [
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, say(chart.x)),
        f'<g transform="translate(18 {(top + HEIGHT - BOTTOM) / 2}) rotate(-90)">{_text(0, 0, say(chart.y))}</g>',
    ]
    parts = [*_frame(y), *body, *labels, *legend]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'font-family="{FONTS}" font-size="15" fill="#222">'
    )
    return "\n".join([head, f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>', *parts, "</svg>", ""])


def _reach(point: Estimate) -> tuple[float, ...]:
    return tuple(value for value in (point.low, point.mean, point.high) if isfinite(value)) or (0.0,)


def _frame(y: Axis) -> list[str]:
    lines = []
    for value, label in y.ticks():
        lines.append(f'<path d="M{LEFT} {y(value):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        lines.append(_text(LEFT - 8, y(value) + 5, label, "end"))
    return lines


def _tick_x(place: float, label: str) -> str:
    return f'<path d="M{place:.1f} {HEIGHT - BOTTOM}v5" stroke="#888"/>' + _text(place, HEIGHT - BOTTOM + 21, label)


def _lines(curves: Mapping[str, Curve], x: Axis, y: Axis) -> list[str]:
    parts = []
    for colour, curve in zip(_colours(curves), curves.values(), strict=True):
        places = [(x(float(at)), point) for at, point in curve]
        way = " ".join(f"{at:.1f},{y(point.mean):.1f}" for at, point in places)
        parts.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        parts += [_dot(at, point, y, colour) for at, point in places]
    return parts


def _columns(curves: Mapping[str, Curve], xs: Sequence[float | str], y: Axis, say: Callable[[str], str]) -> list[str]:
    room = (WIDTH - LEFT - RIGHT) / len(xs)
    width = min(0.7 * room / len(curves), 56)
    base = HEIGHT - BOTTOM if y.log else y(0)
    parts = [_label(LEFT + (i + 0.5) * room, say(str(name)), room) for i, name in enumerate(xs)]
    for number, (colour, curve) in enumerate(zip(_colours(curves), curves.values(), strict=True)):
        for at, point in curve:
            middle = LEFT + (xs.index(at) + 0.5) * room + (number - (len(curves) - 1) / 2) * width
            top, end = sorted((y(point.mean), base))
            parts.append(
                f'<rect x="{middle - 0.42 * width:.1f}" y="{top:.1f}" width="{0.84 * width:.1f}" '
                f'height="{end - top:.1f}" fill="{colour}" fill-opacity="0.35"/>'
            )
            parts.append(_dot(middle, point, y, colour))
    return parts


def _dot(at: float, point: Estimate, y: Axis, colour: str) -> str:
    low, high = (value if isfinite(value) else point.mean for value in (point.low, point.high))
    whisker = f'<path d="M{at:.1f} {y(low):.1f}V{y(high):.1f}" stroke="{colour}" stroke-width="2"/>'
    return f'{whisker}<circle cx="{at:.1f}" cy="{y(point.mean):.1f}" r="4" fill="{colour}"/>'


def _legend(names: Sequence[str]) -> tuple[list[str], int]:
    """What is shown, and in how many rows."""
    shown, at, row = [], float(LEFT), 0
    for colour, name in zip(_colours(names), names, strict=True):
        if not name:
            continue
        if at > LEFT and at + 18 + _wide(name) > WIDTH:
            at, row = float(LEFT), row + 1
        shown.append(f'<circle cx="{at + 6:.0f}" cy="{22 + ROW * row}" r="6" fill="{colour}"/>')
        shown.append(_text(at + 18, 27 + ROW * row, name, "start"))
        at += 40 + _wide(name)
    return shown, row + bool(shown)


def _wide(name: str) -> float:
    """About as wide as it is drawn."""
    return sum(15.5 if east_asian_width(letter) in "WF" else 8.2 for letter in name)


def _colours(curves: Mapping[str, Curve] | Sequence[str]) -> list[str]:
    return [COLOURS[i % len(COLOURS)] for i in range(len(curves))]


def _label(at: float, name: str, room: float) -> str:
    """In two lines where it is too long for its column."""
    if 0.95 * _wide(name) <= room or " " not in name:
        return _text(at, HEIGHT - BOTTOM + 21, name)
    spaces = [i for i, letter in enumerate(name) if letter == " "]
    cut = min(spaces, key=lambda i: abs(i - len(name) / 2))
    return _text(at, HEIGHT - BOTTOM + 18, name[:cut]) + _text(at, HEIGHT - BOTTOM + 35, name[cut + 1 :])


def _text(x: float, y: float, words: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
