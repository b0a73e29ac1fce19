"""The page, as it is served: files without a build step that ask no other host for anything."""

from importlib.resources import files

from sublayer.inspect.page import picture_files

KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


def page_files() -> dict[str, tuple[bytes, str]]:
    """Content and media type of each file, by name."""
    own = (file for file in files(__package__).iterdir() if file.name.split(".")[-1] in KINDS)
    found = {file.name: file.read_bytes() for file in own} | picture_files()
    return {name: (content, f"{KINDS[name.split('.')[-1]]}; charset=utf-8") for name, content in found.items()}
