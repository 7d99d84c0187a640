"""Where in a message a mention is being typed: plain logic, no widget.

The library's own lexer has the last word, so that nothing is offered where nothing would be attached: not in code, not
behind a letter, not for a command that a shell gets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from harness_tui.core.late_pattern import late_pattern
from harness_tui.library.lexer import find_mentions
from harness_tui.library.own_commands import find_own, split_command

_REST: Final = late_pattern(r"[^\s\"'`<>|*?,;]*")
_TYPED: Final = late_pattern(r'@(?:"([^"\n]*)|((?!@)[^\s"\'`<>|*?,;]*))\Z')
_SIGNS: Final = 8
"""A path may hold an ``@`` itself; so many of them are looked at."""
_MOST: Final = 100_000
"""In a longer message nothing is offered: what stands before the cursor is read again at every key."""


@dataclass(frozen=True, slots=True)
class TypedMention:
    """``typed`` stands behind the ``@``; the whole, with what follows the cursor, is ``start`` to ``end`` of its line.

    ``agents`` tells whether an agent can be named here.
    """

    typed: str
    start: int
    end: int
    agents: bool


def mention_being_typed(before: str, line: str, column: int) -> TypedMention | None:
    """Return the mention before the cursor, at ``column`` of ``line``; ``before`` is the text up to that line."""
    start, match = column, None
    for _ in range(_SIGNS):
        start = line.rfind("@", 0, start)
        match = _TYPED.match(line, start, column) if start >= 0 else None
        if start < 0 or (match is not None and _counts(before, line, start)):
            break
        match = None
    if match is None:
        return None
    quoted = match[1]
    if quoted is not None:
        end = column + line[column:].find('"') + 1 if '"' in line[column:] else column
    else:
        rest = _REST.match(line, column)
        end = rest.end() if rest is not None else column
    command = before.startswith("/") or (not before and line.startswith("/"))
    literal = (before or line).startswith("//")
    return TypedMention(quoted if quoted is not None else match[2], match.start(), end, literal or not command)


def _counts(before: str, line: str, start: int) -> bool:
    whole = before + line[:start]
    if len(whole) > _MOST or whole.startswith("!"):
        return False
    command = split_command(whole)
    if command is not None and find_own(command[0]) is not None:
        return False
    found = find_mentions(f"{whole}@\U0010fffd")  # a character that nobody types
    return bool(found) and found[-1] == "\U0010fffd"
