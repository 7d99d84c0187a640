"""Looks up again what a search found, without following links.

The search is a process of its own: where a folder or file is swapped for a link while it runs, it searches what the
link leads to. What is shown must lie where the search was allowed. Blocks: call it in a thread.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Final

from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import LINE_CHARS
from harness_tui.core.nofollow import open_folder
from harness_tui.tools.reading import load, walk

_UTF_16: Final = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def existing(folder: Path, names: Iterable[str]) -> list[str]:
    """Return those of ``names``, relative to a resolved ``folder``, that are there without a link on the way."""
    found: list[str] = []
    for parent, group in groupby(names, key=lambda name: name.rpartition("/")[0]):
        try:
            descriptor = open_folder(folder / parent)
        except (OSError, HarnessError):
            continue
        try:
            found += [name for name in group if _is_there(name.rpartition("/")[2], descriptor)]
        finally:
            os.close(descriptor)
    return found


def holds(path: Path, lines: Sequence[tuple[int, str]]) -> list[bool]:
    """Tell for each number and text whether it is a line of the file at a resolved ``path``.

    Of a line that is longer than what is shown of one the beginning is compared.
    """
    with suppress(OSError, HarnessError):
        data = load(path, str(path))
        if data is None:
            return [_is_line(walk(path, str(path), offset=number, limit=1).lines, 1, text) for number, text in lines]
        whole = _lines(data)
        return [_is_line(whole, number, text) for number, text in lines]
    return [False] * len(lines)


def _is_there(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return True


def _lines(data: bytes) -> list[str]:
    encoding = _UTF_16.get(data[:2])
    text = (
        data[2:].decode(encoding, "replace")
        if encoding
        else data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
    )
    return text.split("\n")


def _is_line(lines: Sequence[str], number: int, text: str) -> bool:
    if not 0 < number <= len(lines):
        return False
    line = lines[number - 1].rstrip("\r")
    # What stands behind the beginning of a long line says how much was left out.
    return line.startswith(text[: LINE_CHARS // 2]) if len(line.encode()) >= LINE_CHARS // 2 else line == text
