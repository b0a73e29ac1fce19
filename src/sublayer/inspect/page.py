"""An attention picture as one HTML page: the template `picture.html`, filled in."""

import json
from collections.abc import Iterable, Mapping
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

CAPTIONS = {
    "encoder": "Each row: what this input position looks at in the input.",
    "decoder": "Each row: what this output position looks at in the output so far.",
    "cross": "Each row: what this output position looks at in the input.",
}
PRINTED = 12  # with so many rows and columns, or fewer, the numbers stand in the cells
STRONG = 0.7  # above it, a cell is so deep that only light text reads well on it


def caption(kind: str) -> str:
    return CAPTIONS.get(kind, "Each row: what this position looks at.")


def page(picture: Mapping[str, Any]) -> str:
    """From what `AttentionPicture.to_dict` gives. The first layer and the mean of heads stand in the page as it is;
    the script only changes the view."""
    kinds = picture["kinds"]
    small = all(max(len(k["rows"]), len(k["columns"])) <= PRINTED for k in kinds.values())
    sections = (_section(name, k, hidden=i > 0, printed=small) for i, (name, k) in enumerate(kinds.items()))
    return Template(files(__package__).joinpath("picture.html").read_text("utf-8")).substitute(
        title=escape(picture["title"]),
        one_kind=" hidden" if len(kinds) == 1 else "",
        kinds=_options(kinds),
        sections="\n".join(sections),
        weights=json.dumps([k["weights"] for k in kinds.values()], separators=(",", ":")),
        strong=STRONG,
        width="2.5rem" if small else "1.75rem",
    )


def _options(names: Iterable[str]) -> str:
    return "".join(f"<option>{escape(name)}</option>" for name in names)


def _section(kind: str, data: Mapping[str, Any], *, hidden: bool, printed: bool) -> str:
    columns, weights = data["columns"], data["weights"]
    top = max(map(max, weights[0][0])) or 1.0
    head = "".join(f'<th scope="col"><span dir="auto">{escape(token)}</span></th>' for token in columns)
    body = "\n".join(
        _row(row, columns, [w / top for w in line], top, printed)
        for row, line in zip(data["rows"], weights[0][0], strict=True)
    )
    layers = _options(map(str, range(1, len(weights) + 1)))
    heads = _options(["mean of heads", *map(str, range(1, len(weights[0])))])
    return f"""<section{" hidden" if hidden else ""} aria-label="{escape(kind)}">
<label>Layer <select autocomplete="off">{layers}</select></label>
<label>Head <select autocomplete="off">{heads}</select></label>
<figure><figcaption>{caption(kind)}</figcaption>
<div class="scroll"><table>
<thead{' class="long"' if max(map(len, columns)) > 2 else ""}><tr><td></td>{head}</tr></thead>
<tbody>{body}</tbody>
</table></div>
<div class="foot"><span class="scale">0 <i></i> <span class="top">{top:.2f}</span></span><output></output></div>
</figure></section>"""


def _row(row: str, columns: list[str], line: list[float], top: float, printed: bool) -> str:
    ...
