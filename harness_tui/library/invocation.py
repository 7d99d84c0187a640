"""Tells a command line from a message that merely begins with a slash."""

from __future__ import annotations

from typing import Final

from harness_tui.core.record import record

_FULL_NAMES: Final = ("mcp:", "mcp__", "skill:")


@record
class Invocation:
    """``/name`` and what follows it."""

    name: str
    args_line: str

    @property
    def looks_like_path(self) -> bool:
        """Whether the first word is rather a path: a second ``/`` or a dot, so that only a known name is a command.

        Nobody's path begins like the full name of a skill or of a server's prompt, whatever these are called.
        """
        return ("/" in self.name or "." in self.name) and not self.name.startswith(_FULL_NAMES)


def read_invocation(line: str) -> Invocation | None:
    """Return the invocation that ``line`` is, ``None`` for a message. ``//`` begins a message with one slash."""
    text = line.strip()
    if not text.startswith("/") or text.startswith("//"):
        return None
    words = text[1:].split(maxsplit=1)
    if not words or text[1].isspace():
        return None
    return Invocation(words[0], words[1] if len(words) > 1 else "")
