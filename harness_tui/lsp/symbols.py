"""Names in source text: where a symbol stands, so that nobody has to count columns.

A model names a symbol and a file; servers want a line and a character. The outline of the file says where a symbol is
defined, also by its path (``Shelf.total``); any other name is looked for in the text as a whole word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, cast

from harness_tui.core.record import record

KINDS: Final = (
    "file",
    "module",
    "namespace",
    "package",
    "class",
    "method",
    "property",
    "field",
    "constructor",
    "enum",
    "interface",
    "function",
    "variable",
    "constant",
    "string",
    "number",
    "boolean",
    "array",
    "object",
    "key",
    "null",
    "enum-member",
    "struct",
    "event",
    "operator",
    "type-parameter",
)
"""The words for the kinds of symbols, in the protocol's order; it counts from 1."""
_DEPTH: Final = 12
_SYMBOLS: Final = 5_000


@record
class Symbol:
    """An entry of an outline: its name's 0-based place in the server's units, its last line, its path of names."""

    names: tuple[str, ...]
    kind: str
    line: int
    character: int
    last_line: int
    detail: str = ""

    @property
    def name(self) -> str:
        """The name itself."""
        return self.names[-1]


def read_outline(result: Any) -> list[Symbol]:
    """Read the answer to ``textDocument/documentSymbol``, nested or flat, in the order of the text.

    What has no known shape is left out.
    """
    entries = cast(list[Any], result) if isinstance(result, list) else []
    found: list[Symbol] = []
    _collect(entries, (), found)
    return sorted(found, key=lambda symbol: symbol.line)


def _collect(entries: Sequence[Any], above: tuple[str, ...], found: list[Symbol]) -> None:
    for entry in entries:
        if not isinstance(entry, dict) or len(found) >= _SYMBOLS:
            continue
        fields = cast(dict[str, Any], entry)
        name = fields.get("name")
        whole = fields.get("range") or _mapping(fields.get("location")).get("range")
        if not isinstance(name, str) or not name:
            continue
        holder = fields.get("containerName")
        names = (*above, name) if above or not isinstance(holder, str) or not holder else (holder, name)
        line, character = start_of(fields.get("selectionRange") or whole)
        last, _ = start_of({"start": _mapping(whole).get("end")})
        detail = fields.get("detail")
        found.append(
            Symbol(
                names,
                kind_of(fields.get("kind")),
                line,
                character,
                max(line, last),
                detail if isinstance(detail, str) else "",
            )
        )
        children = fields.get("children")
        if isinstance(children, list) and len(names) < _DEPTH:
            _collect(cast(list[Any], children), names, found)


def kind_of(value: object) -> str:
    """Return the word for a symbol's kind, which the protocol counts from 1."""
    return KINDS[value - 1] if isinstance(value, int) and 1 <= value <= len(KINDS) else "symbol"


def start_of(value: object) -> tuple[int, int]:
    """Return the 0-based line and character at which a range starts; what has no known shape is the first place."""
    start = _mapping(_mapping(value).get("start"))
    line, character = start.get("line"), start.get("character")
    return (
        max(0, line) if isinstance(line, int) else 0,
        max(0, character) if isinstance(character, int) else 0,
    )


def split_name(symbol: str) -> tuple[str, ...]:
    """Return the names of a path such as ``Shelf.total``, ``Shelf::total``, ``Shelf#total`` or ``Shelf/total``."""
    parts = [part for part in re.split(r"::|[.#/]", symbol.strip().removesuffix("()")) if part]
    return tuple(parts) or (symbol.strip(),)


def defined(outline: Sequence[Symbol], names: tuple[str, ...]) -> list[Symbol]:
    """Return the symbols of ``outline`` whose path ends with ``names``; a method may be written with its type."""
    return [symbol for symbol in outline if tuple(map(_bare, symbol.names[-len(names) :])) == tuple(map(_bare, names))]


def _bare(name: str) -> str:
    # gopls calls a method "(*Shelf).Total", others add parameters: "total(int)".
    found = re.findall(r"[^\W\d]\w*", name.split("(", 1)[0] or name)
    return found[-1] if found else name


def mentions(lines: Sequence[str], name: str) -> Iterator[tuple[int, int]]:
    """Yield the 0-based line and code point of each place where ``name`` stands as a whole word."""
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    for number, line in enumerate(lines):
        for match in word.finditer(line):
            yield number, match.start()


def _mapping(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
