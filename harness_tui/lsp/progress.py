"""What a server says of its own work: whether it is still reading the project, and what it calls that.

A server that has not read everything renames what it knows. So a question about the whole project waits for the end of
such work, but not for ever: some servers work for minutes, and some never say that they have finished.
"""

from __future__ import annotations

from typing import Any, Final, cast

from harness_tui.core.text import clean_for_display, cut_end

_TOKENS: Final = 100
_TITLE_CHARS: Final = 80


class Progress:
    """The work under way, by the server's tokens."""

    def __init__(self) -> None:
        self._titles: dict[str, str] = {}

    @property
    def title(self) -> str | None:
        """What the server says that it does, ``None`` when it rests."""
        return next(iter(self._titles.values()), None)

    def take(self, params: Any) -> bool:
        """Take ``$/progress``; tell whether that was the end of something."""
        fields: dict[str, Any] = cast(dict[str, Any], params) if isinstance(params, dict) else {}
        token, value = str(fields.get("token")), fields.get("value")
        about: dict[str, Any] = cast(dict[str, Any], value) if isinstance(value, dict) else {}
        match about.get("kind"):
            case "begin" if len(self._titles) < _TOKENS:
                text = clean_for_display(str(about.get("title") or "working"), one_line=True)
                self._titles[token] = cut_end(text, _TITLE_CHARS)
            case "end":
                return self._titles.pop(token, None) is not None
            case _:
                pass
        return False
