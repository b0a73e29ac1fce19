"""An attention picture as one HTML page that needs nothing else: the template `picture.html`, filled in."""

import json
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from string import Template
from typing import Any


def page(picture: Mapping[str, Any]) -> str:
    """From what `AttentionPicture.to_dict` gives."""
    data = json.dumps(picture, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return Template(_read("picture.html")).substitute(
        title=escape(picture["title"]), style=_read("picture.css"), script=_read("picture.js"), data=data
    )


def picture_files() -> dict[str, bytes]:
    """What draws a picture in a page, by name; the page sets the colours."""
    return {name: _read(name).encode() for name in ("picture.js", "picture.css")}


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")
