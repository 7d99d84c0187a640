"""The second reading of a shell text, by tree-sitter: every command that it sees must be known from the first.

Two readers that were written apart rarely make the same mistake. tree-sitter is imported at the first shell text.
"""

from __future__ import annotations

import threading
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from harness_tui.permissions.shell_values import UnreadError

if TYPE_CHECKING:
    from tree_sitter import Parser, Query

_SECONDS: Final = 0.02
_CHUNK: Final = 512
_COMMANDS: Final = "[(command) (declaration_command) (unset_command) (test_command)] @command"
_LOCK: Final = threading.Lock()


@lru_cache(maxsize=1)
def _tools() -> tuple[Parser, Query]:
    import tree_sitter_bash
    from tree_sitter import Language, Parser, Query

    language = Language(tree_sitter_bash.language())
    return Parser(language), Query(language, _COMMANDS)


def command_starts(text: str) -> list[int]:
    """Return the offsets of all commands of ``text``, in characters. Raises ``UnreadError`` for a parse error."""
    from tree_sitter import QueryCursor

    data = text.encode()
    with _LOCK:
        parser, query = _tools()
        late = False
        deadline = time.thread_time() + _SECONDS

        def read(offset: int, _: Any) -> bytes:
            nonlocal late
            # Some texts take quadratic time: what cannot be read quickly is not read.
            late = late or time.thread_time() > deadline
            return b"" if late else data[offset : offset + _CHUNK]

        root = parser.parse(read).root_node
        if late:
            raise UnreadError("it takes too long to read")
        if root.has_error:
            raise UnreadError("it cannot be parsed")
        nodes = QueryCursor(query).captures(root).get("command", [])
    starts = sorted(node.start_byte for node in nodes)
    return starts if text.isascii() else _characters(data, starts)


def _characters(data: bytes, starts: list[int]) -> list[int]:
    found: list[int] = []
    position, count = 0, 0
    for start in starts:
        count += len(data[position:start].decode("utf-8", "replace"))
        position = start
        found.append(count)
    return found
