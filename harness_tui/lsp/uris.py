"""Paths to ``file:`` URIs and back.

URIs are never compared as text: servers re-encode them in their own way (``%28`` becomes ``(``, a drive letter changes
its case, a link is followed). They are turned into paths, and paths are compared.
"""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit


def to_uri(path: Path) -> str:
    """Return the URI of an absolute path; links are kept."""
    return path.as_uri()


def from_uri(uri: str) -> Path | None:
    """Return the absolute path of a ``file:`` URI, ``None`` for any other (``untitled:``, ``jdt:``)."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme.lower() != "file" or parts.netloc.lower() not in ("", "localhost"):
        return None
    # A server that forgot to quote "#" or "?" still means a path.
    text = parts.path + (f"?{parts.query}" if parts.query else "") + (f"#{parts.fragment}" if parts.fragment else "")
    raw = unquote_to_bytes(text)
    if not raw.startswith(b"/") or b"\0" in raw:
        return None
    return Path(os.path.normpath(os.fsdecode(raw)))


def same_path(path: Path, candidates: Iterable[Path]) -> Path | None:
    """Return the one of ``candidates`` that ``path`` means: the same text, the same letters, or the same file."""
    candidates = list(candidates)
    if path in candidates:
        return path
    wanted = _folded(path)
    for candidate in candidates:
        if _folded(candidate) == wanted:
            return candidate
    name = _folded(path).rpartition("/")[2].casefold()
    for candidate in candidates:
        if _folded(candidate).rpartition("/")[2].casefold() != name:
            continue  # a look at the disk for each publish of each file would be dear
        try:
            if path.samefile(candidate):
                return candidate
        except OSError:
            continue  # one of the two is gone: not the same file
    return None


def _folded(path: Path) -> str:
    text = unicodedata.normalize("NFC", str(path))
    return text.casefold() if sys.platform == "darwin" else text
