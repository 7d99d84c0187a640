"""Which file changes a server wants to hear of.

Servers register glob patterns for ``workspace/didChangeWatchedFiles``. One that is not told of a created module keeps
reporting its import as unresolved for ever; one that is told of every file in a repository has needless work.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, cast

from harness_tui.core.record import record
from harness_tui.lsp.uris import from_uri

CREATED: Final = 1
CHANGED: Final = 2
DELETED: Final = 3
_ALL_KINDS: Final = 7
_PATTERN_CHARS: Final = 1_000


@record
class Watcher:
    """One registered pattern: a regular expression for paths relative to ``base`` (absolute ones without it)."""

    expression: re.Pattern[str]
    base: Path | None
    kinds: int = _ALL_KINDS

    def wants(self, path: Path, kind: int, root: Path) -> bool:
        """Tell whether a change of ``kind`` of ``path`` is to be reported."""
        if not self.kinds & (1 << (kind - 1)):
            return False
        base = self.base or root
        if base not in path.parents:
            return self.base is None and self.expression.fullmatch(path.as_posix()) is not None
        relative = path.relative_to(base).as_posix()
        if self.expression.fullmatch(relative) is not None:
            return True
        return self.base is None and self.expression.fullmatch(path.as_posix()) is not None


def read_watchers(options: Any) -> list[Watcher]:
    """Read the ``registerOptions`` of a registration; what cannot be read is taken as "everything"."""
    entries: object = options.get("watchers") if isinstance(options, dict) else None
    if not isinstance(entries, list):
        return []
    return [_read_watcher(entry) for entry in cast(list[Any], entries)]


def wanted(watchers: Iterable[Watcher], path: Path, kind: int, root: Path) -> bool:
    """Tell whether one of ``watchers`` wants the change."""
    return any(watcher.wants(path, kind, root) for watcher in watchers)


def glob_expression(pattern: str) -> re.Pattern[str]:
    """Turn a glob of the protocol (``*``, ``?``, ``**``, ``{a,b}``, ``[a-z]``) into a regular expression."""
    parts: list[str] = []
    index, depth = 0, 0
    while index < len(pattern):
        letter = pattern[index]
        if pattern.startswith("**/", index):
            parts.append("(?:.*/)?")
            index += 3
            continue
        if pattern.startswith("**", index):
            parts.append(".*")
            index += 2
            continue
        if letter == "[" and (end := pattern.find("]", index + 2)) > 0:
            parts.append(_letters(pattern[index + 1 : end]))
            index = end + 1
            continue
        match letter:
            case "*":
                parts.append("[^/]*")
            case "?":
                parts.append("[^/]")
            case "{":
                depth += 1
                parts.append("(?:")
            case "}" if depth:
                depth -= 1
                parts.append(")")
            case "," if depth:
                parts.append("|")
            case _:
                parts.append(re.escape(letter))
        index += 1
    parts.append(")" * depth)
    return re.compile("".join(parts), re.DOTALL)


EVERYTHING: Final = (Watcher(glob_expression("**"), None),)
"""What a server wants that does not say."""


def _letters(inside: str) -> str:
    negated = inside[:1] in ("!", "^")
    body = re.sub(r"([\\\[\]^&~|])", r"\\\1", inside[1:] if negated else inside)
    return f"[^/{body}]" if negated else f"[{body}]"


def _read_watcher(entry: Any) -> Watcher:
    fields: dict[str, Any] = cast(dict[str, Any], entry) if isinstance(entry, dict) else {}
    kinds: object = fields.get("kind")
    pattern: object = fields.get("globPattern")
    base: Path | None = None
    if isinstance(pattern, dict):
        relative = cast(dict[str, Any], pattern)
        folder: object = relative.get("baseUri")
        if isinstance(folder, dict):
            folder = cast(dict[str, Any], folder).get("uri")
        base = from_uri(folder) if isinstance(folder, str) else None
        pattern = relative.get("pattern")
    text = pattern if isinstance(pattern, str) and len(pattern) <= _PATTERN_CHARS else "**"
    try:
        expression = glob_expression(text)
    except re.error:
        expression = glob_expression("**")
    return Watcher(expression, base, kinds if isinstance(kinds, int) and 0 < kinds <= _ALL_KINDS else _ALL_KINDS)
