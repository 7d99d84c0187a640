"""TOML settings with the line of every key, as far as it stands on a line of its own."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Final

from harness_tui.config.document import Document, KeyPath, broken_document
from harness_tui.config.yaml_source import read_text

_AT_LINE: Final = re.compile(r"\(at line (\d+), column \d+\)")
_PART: Final = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_DOTTED: Final = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_TABLE: Final = re.compile(rf"[ \t]*(\[\[?)[ \t]*({_DOTTED})[ \t]*\]\]?")
_KEY: Final = re.compile(rf"[ \t]*({_DOTTED})[ \t]*=")
_PARTS: Final = re.compile(_PART)


def read_toml_file(path: Path) -> Document:
    """Read a file; one that is not valid is a broken document, whose problem has the line."""
    text = read_text(path)
    if isinstance(text, Document):
        return text
    text = text.replace("\r\n", "\n")
    try:
        values: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _AT_LINE.search(str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        reason = _AT_LINE.sub("", str(error)).strip()
        return broken_document(path, "toml", f"not valid TOML: {reason}", line=line)
    except RecursionError:
        return broken_document(path, "toml", "not valid TOML: nested too deeply")
    return Document(path, values, _lines(text))


def _lines(text: str) -> dict[KeyPath, int]:
    lines: dict[KeyPath, int] = {(): 1}
    table: KeyPath = ()
    for number, line in enumerate(text.split("\n"), 1):
        head = _TABLE.match(line)
        key = None if head else _KEY.match(line)
        if head:
            table = _keys(head[2])
        keys = table if head else (*table, *_keys(key[1])) if key else ()
        for length in range(1, len(keys) + 1):
            lines.setdefault(keys[:length], number)
    return lines


def _keys(dotted: str) -> KeyPath:
    return tuple(part.strip("\"'") for part in _PARTS.findall(dotted))
