"""The files of ``protocol/`` that are made from the code, and the check that they are what the code would make."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Final

from harness_tui.contract.schema import protocol_schema, to_text
from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import MIB
from harness_tui.core.paths import read_regular, write_atomic

MEND: Final = "run harness protocol generate"
SCHEMA_FILE: Final = "harness.schema.json"

_MAX_BYTES: Final = 16 * MIB


def artifacts() -> dict[str, str]:
    """Return every generated file: its name below ``protocol/``, and its text."""
    return {SCHEMA_FILE: to_text(protocol_schema())}


def generate(folder: Path) -> list[Path]:
    """Write the generated files below ``folder`` and return those that changed. Raises ``HarnessError``."""
    changed: list[Path] = []
    for name, text in artifacts().items():
        path = folder / name
        data = text.encode()
        try:
            if path.is_file() and path.read_bytes() == data:
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, data)
        except OSError as error:
            raise HarnessError(f"cannot be written: {error.strerror or error}", where=str(path)) from error
        changed.append(path)
    return changed


def check(folder: Path) -> list[str]:
    """Return one line per generated file below ``folder`` that is not what the code makes: the file, the first place
    where it differs, and the command that mends it. Empty when all agree."""
    problems: list[str] = []
    for name, text in artifacts().items():
        path = folder / name
        try:
            found = read_regular(path, max_bytes=_MAX_BYTES).decode("utf-8", "replace")
        except HarnessError as error:
            problems.append(f"{path}: {error.what}; {MEND}")
            continue
        if found != text:
            problems.append(f"{path}:{_first_difference(found, text)}; {MEND}")
    return problems


def _first_difference(found: str, wanted: str) -> str:
    before, after = found.splitlines(keepends=True), wanted.splitlines(keepends=True)
    codes = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    _, start, end, new_start, new_end = next(code for code in codes if code[0] != "equal")
    have = before[start].strip() if start < end else "nothing"
    want = after[new_start].strip() if new_start < new_end else "nothing"
    if have == want:
        return f"{start + 1}: differs from the code in white space"
    return f"{start + 1}: differs from the code: {have} instead of {want}"
