"""A person's own editor: which program it is, and how it is told a line.

``VISUAL``, then ``EDITOR``, as everywhere; where neither is set, the first usual one that is there.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Final

from harness_tui.children.lookup import find_binary
from harness_tui.core.errors import HarnessError

USUAL: Final = ("nano", "vim", "vi", "micro", "emacs", "ed")

_PLUS: Final = frozenset(
    {"emacs", "emacsclient", "gvim", "jed", "joe", "kak", "mcedit", "mg", "micro", "mvim", "nano", "ne", "nvim", "pico"}
    | {"sensible-editor", "vi", "view", "vim", "vim.basic", "vim.tiny"}
)
_COLON: Final = frozenset({"helix", "hx", "subl", "zed", "zeditor"})
_GOTO: Final = frozenset({"code", "code-insiders", "codium", "cursor", "vscodium", "windsurf"})


def editor_command(environ: Mapping[str, str], path: Path, line: int | None = None) -> list[str]:
    """Return the command that opens ``path``, at ``line`` (from 1) where the editor is known to understand that.

    Raises ``HarnessError`` when there is no editor, or its variable cannot be read as a command.
    """
    words = _words(environ)
    name = PurePath(words[0]).name
    if line is None or line < 1:
        return [*words, str(path)]
    if name in _PLUS:
        return [*words, f"+{line}", str(path)]
    if name in _COLON:
        return [*words, f"{path}:{line}"]
    return [*words, "--goto", f"{path}:{line}"] if name in _GOTO else [*words, str(path)]


def _words(environ: Mapping[str, str]) -> list[str]:
    for variable in ("VISUAL", "EDITOR"):
        text = environ.get(variable, "").strip()
        if not text:
            continue
        try:
            words = shlex.split(text)
        except ValueError as error:
            mend = f"write it as a command: {variable}='vim -n'"
            raise HarnessError(f"it cannot be read as a command: {error}", where=variable, mend=mend) from error
        if words and words[0]:
            return words
    found = next((name for name in USUAL if find_binary(name, path=environ.get("PATH")) is not None), None)
    if found is None:
        raise HarnessError("there is no editor", mend="set EDITOR to yours, such as EDITOR=nano", code="not-found")
    return [found]
