"""Files, links and images that a text names, as a person would open them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

MOST: Final = 100
"""So many of a text are offered."""
_MOST_CHARS: Final = 200_000
_MOST_CANDIDATES: Final = 2_000

_LINK: Final = re.compile(r"https?://[^\s<>\"'`|\\^{}\[\]]+")
_FRAME: Final = re.compile(r"File \"([^\"\n]+)\", line (\d+)")
_PATH: Final = re.compile(r"(?<![\w/.~-])((?:~|\.{1,2})?/?[\w.@+-]+(?:/[\w.@+-]+)*)(?:(?::|#L|\()(\d+))?")
_IMAGES: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".svg", ".tif", ".tiff", ".ico")


@dataclass(frozen=True, slots=True)
class Reference:
    """``text`` is as it was written; ``path`` the file that is there, ``line`` (from 1) where one was named."""

    kind: Literal["link", "file", "image"]
    text: str
    path: str = ""
    line: int | None = None


def references(text: str, folders: Sequence[Path]) -> list[Reference]:
    """Return what ``text`` names, links and files that exist, in order, each once. Looks at the disk: not on the loop.

    A relative name is looked for in ``folders``.
    """
    text = text[:_MOST_CHARS]
    found: dict[tuple[str, str, int | None], tuple[int, Reference]] = {}
    for match in _LINK.finditer(text):
        link = _trimmed(match.group())
        found.setdefault(("link", link, None), (match.start(), Reference("link", link)))
    spans = [match.span() for match in _LINK.finditer(text)]
    known: dict[str, str] = {}
    for place, name, line in _candidates(text):
        if len(found) >= MOST:
            break
        if any(first <= place < last for first, last in spans):
            continue
        path = known[name] if name in known else known.setdefault(name, _existing(name, folders))
        if path:
            kind = "image" if path.lower().endswith(_IMAGES) else "file"
            shown = f"{name}:{line}" if line else name
            found.setdefault((kind, path, line), (place, Reference(kind, shown, path, line)))
    ordered = sorted(found.values(), key=lambda item: item[0])
    return [reference for _, reference in ordered][:MOST]


def _candidates(text: str) -> Iterator[tuple[int, str, int | None]]:
    for match in _FRAME.finditer(text):
        yield match.start(1), match[1], int(match[2][:9])
    for number, match in enumerate(_PATH.finditer(text)):
        if number >= _MOST_CANDIDATES:
            return
        name = match[1].rstrip(".")
        if "." in name or "/" in name or match[2]:
            yield match.start(), name, int(match[2][:9]) if match[2] else None


def _existing(name: str, folders: Sequence[Path]) -> str:
    """Return the path of the file that ``name`` stands for, empty where there is none."""
    try:
        path = Path(name).expanduser()
        places = [path] if path.is_absolute() else [folder / path for folder in folders]
        return next((str(place) for place in places if place.is_file()), "")
    except (OSError, RuntimeError, ValueError):
        return ""


def _trimmed(link: str) -> str:
    """Return a link without the punctuation that follows it; a closing bracket stays where it was opened within."""
    link = link.rstrip(".,;:!?*_~")
    while link.endswith(")") and link.count(")") > link.count("("):
        link = link[:-1].rstrip(".,;:!?*_~")
    return link
