"""An attention picture as one HTML page: the template `picture.html`, filled in."""

import json
from collections.abc import Iterable, Mapping
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

KINDS = {
    "encoder": ("Encoder self-attention", "Each row: what this input position looks at in the input."),
    "decoder": (
        "Decoder self-attention",
        "Each row: what this output position looks at in the output so far.",
    ),
    "cross": ("Cross-attention", "Each row: what this output position looks at in the input."),
}
PRINTED = 12  # with so many rows and columns, or fewer, the numbers stand in the cells
TURNED = 2  # longer column labels are turned
STRONG = 0.7  # above it, a cell is so deep that only light text reads well on it


def words(kind: str) -> tuple[str, str]:
    """Name and caption of a kind."""
    return KINDS.get(kind, (kind, "Each row: what this position looks at."))


def page(picture: Mapping[str, Any]) -> str:
    """From what `AttentionPicture.to_dict` gives. The page as it is shows the mean of heads of the first
    layer, and the script only changes the view."""
    kinds = picture["kinds"]
    small = all(max(len(k["rows"]), len(k["columns"])) <= PRINTED for k in kinds.values())
    sections = (_section(kind, k, hidden=i > 0, printed=small) for i, (kind, k) in enumerate(kinds.items()))
    return Template(files(__package__).joinpath("picture.html").read_text("utf-8")).substitute(
        title=escape(picture["title"]),
        one_kind=" hidden" if len(kinds) == 1 else "",
        kinds=_options(words(kind)[0] for kind in kinds),
        sections="\n".join(sections),
        weights=json.dumps([k["weights"] for k in kinds.values()], separators=(",", ":")),
        strong=STRONG,
        printed=str(small).lower(),
        width="2.5rem" if small else "1.75rem",
    )


def _options(names: Iterable[str]) -> str:
    return "".join(f"<option>{escape(name)}</option>" for name in names)


def _section(kind: str, data: Mapping[str, Any], *, hidden: bool, printed: bool) -> str:
    name, caption = words(kind)
    columns, weights = data["columns"], data["weights"]
    top = max(map(max, weights[0][0])) or 1.0
    rows = (_row(row, columns, line, top, printed) for row, line in zip(data["rows"], weights[0][0], strict=True))
    body = "\n".join(rows)
    layers = _options(map(str, range(1, len(weights) + 1)))
    heads = _options(["mean of heads", *map(str, range(1, len(weights[0])))])
    return f"""<section{" hidden" if hidden else ""} aria-label="{escape(name)}">
<label>Layer <select autocomplete="off">{layers}</select></label>
<label>Head <select autocomplete="off">{heads}</select></label>
<figure><figcaption>{caption}</figcaption>
<div class="scroll"><table>
<thead><tr><td></td>{"".join(map(_column, columns))}</tr></thead>
<tbody>{body}</tbody>
</table></div>
<div class="foot">
<span class="scale">weight 0 <i></i> <span class="top">{top:.2f}</span></span>
<output></output>
</div>
</figure></section>"""


def _column(token: str) -> str:
    turned = ' class="long"' if len(token) > TURNED else ""
    return f'<th scope="col"><span dir="auto"{turned}>{escape(token)}</span></th>'


def _row(row: str, columns: Iterable[str], line: Iterable[float], top: float, printed: bool) -> str:
    cells = []
    for column, w in zip(columns, line, strict=True):
        pair = escape(f"{row} → {column}")
        strong = ' class="strong"' if w / top > STRONG else ""
        number = f"{w:.2f}" if printed and w >= 0.005 else ""
        about = f'style="--w:{w / top:.3g}" tabindex="-1" data-pair="{pair}" title="{pair}: {w:.3f}"'
        cells.append(f"<td{strong} {about}>{number}</td>")
    return f'<tr><th scope="row" dir="auto">{escape(row)}</th>{"".join(cells)}</tr>'
