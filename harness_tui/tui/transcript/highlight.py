"""Syntax colours for fenced code: pygments, imported in a thread at the first fence, never on the loop.

Until a language is loaded its code is drawn plain; :attr:`Highlighter.wanted` says what to load, and whoever draws does
so again afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from harness_tui.tui.lines import Span

MAX_CHARS: Final = 40_000
"""Longer code is drawn plain: colours are not worth a stalled screen."""

_FILE: Final = "file:"

_STYLES: Final = (
    ("Token.Keyword", "keyword"),
    ("Token.Operator.Word", "keyword"),
    ("Token.Literal.String", "string"),
    ("Token.Literal.Number", "number"),
    ("Token.Comment", "comment"),
    ("Token.Name.Function", "name"),
    ("Token.Name.Class", "name bold"),
    ("Token.Name.Decorator", "name"),
    ("Token.Name.Tag", "name"),
    ("Token.Generic.Deleted", "removed"),
    ("Token.Generic.Inserted", "added"),
    ("Token.Generic.Heading", "bold"),
    ("Token.Generic.Subheading", "hunk"),
)


class Highlighter:
    """Colours code by language. One per app."""

    def __init__(self) -> None:
        self.wanted: set[str] = set()
        self._lexers: dict[str, Any] = {}
        self._styles: dict[Any, str] = {}

    def lines(self, code: str, language: str) -> list[list[Span]] | None:
        """Return ``code`` as lines of spans, or ``None`` while (or when) there are no colours for it."""
        language = language.strip() if language.startswith(_FILE) else language.strip().lower()
        if not language or len(code) > MAX_CHARS:
            return None
        if language not in self._lexers:
            self.wanted.add(language)
            return None
        lexer = self._lexers[language]
        return None if lexer is None else self._split(lexer.get_tokens(code))

    @staticmethod
    def language_of(name: str) -> str:
        """Return the language of a file by its name, in the form that :meth:`lines` and :meth:`load` take."""
        stem, dot, suffix = name.rpartition(".")
        return f"{_FILE}x.{suffix}" if dot and stem else f"{_FILE}{name}"

    def load(self, languages: Iterable[str]) -> None:
        """Import lexers; takes tens of milliseconds, so call it in a thread. Unknown languages stay plain."""
        from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
        from pygments.util import ClassNotFound

        for language in languages:
            find = get_lexer_for_filename if language.startswith(_FILE) else get_lexer_by_name
            try:
                self._lexers[language] = find(language.removeprefix(_FILE), stripnl=False, ensurenl=False)
            except ClassNotFound:
                self._lexers[language] = None

    def take_wanted(self) -> set[str]:
        """Return the languages to load, and forget them."""
        wanted, self.wanted = self.wanted, set()
        return wanted

    def _split(self, tokens: Iterable[tuple[Any, str]]) -> list[list[Span]]:
        lines: list[list[Span]] = [[]]
        for kind, text in tokens:
            style = self._style(kind)
            head, *others = text.split("\n")
            if head:
                lines[-1].append((head, style))
            for other in others:
                lines.append([(other, style)] if other else [])
        return lines

    def _style(self, kind: Any) -> str:
        if kind not in self._styles:
            name = str(kind)
            found = (style for prefix, style in _STYLES if name == prefix or name.startswith(prefix + "."))
            self._styles[kind] = next(found, "")
        return self._styles[kind]
