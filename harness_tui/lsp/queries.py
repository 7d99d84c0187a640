"""Questions about symbols: where one is defined, who uses it, what it is. Read-only.

Every answer is a list of places with the text of their lines, or a text. A question goes to the first server of a file
that can answer it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar, cast

from harness_tui.core.errors import HarnessError
from harness_tui.core.paths import name_in
from harness_tui.core.record import record
from harness_tui.lsp.client import Client
from harness_tui.lsp.connection import Connection
from harness_tui.lsp.documents import Document
from harness_tui.lsp.protocol import (
    CALL_HIERARCHY,
    CONTENT_MODIFIED,
    DEFINITION,
    DOCUMENT_SYMBOL,
    HOVER,
    IMPLEMENTATION,
    REFERENCES,
    REQUEST_CANCELLED,
    SERVER_CANCELLED,
    WORKSPACE_SYMBOL,
)
from harness_tui.lsp.report import one_line
from harness_tui.lsp.rpc import RpcError
from harness_tui.lsp.symbols import Symbol, defined, kind_of, mentions, read_outline, split_name, start_of
from harness_tui.lsp.text import NotADocumentError, character_of, code_point_column, read_snapshot, split_lines
from harness_tui.lsp.uris import from_uri

T = TypeVar("T")
METHODS: Final = {
    "definition": DEFINITION,
    "references": REFERENCES,
    "implementation": IMPLEMENTATION,
    "hover": HOVER,
    "incoming_calls": CALL_HIERARCHY,
    "outgoing_calls": CALL_HIERARCHY,
    "symbols": DOCUMENT_SYMBOL,
}
_TRIES: Final = 4
_AGAIN_S: Final = 0.1
_AGAIN: Final = (CONTENT_MODIFIED, SERVER_CANCELLED, REQUEST_CANCELLED)
_HOVER_CHARS: Final = 4_000
_NAMED: Final = 8
_MENTIONS: Final = 6
"""Of a name that is not defined in a file so many mentions are asked about at most."""


@record
class Place:
    """A place in a file, 1-based, with the text of its line; ``what`` says what stands there where it is known."""

    path: str
    line: int
    column: int
    text: str = ""
    what: str = ""


class Servers(Protocol):
    """The part of the pool that the questions need."""

    root: Path

    def serving(self, path: Path) -> list[Client]:
        """Return the servers for a file."""
        ...

    def running(self) -> list[Client]:
        """Return the servers that have started."""
        ...


@record
class Spot:
    """A symbol's place in an open document, as its server counts."""

    connection: Connection
    document: Document
    line: int
    character: int

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of a question about it."""
        return {
            "textDocument": {"uri": self.document.uri},
            "position": {"line": self.line, "character": self.character},
        }


class Queries:
    """Asks ``servers``. Every method raises ``HarnessError`` with what is missing and how to mend it."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers

    async def outline(self, path: Path) -> list[Symbol]:
        """Return the symbols of a file in the order of the server."""
        connection, document = await self._open(path, DOCUMENT_SYMBOL)
        return await self._outline(connection, document)

    async def places(self, operation: str, path: Path, symbol: str, line: str | None) -> list[Place]:
        """Return the places for ``definition``, ``references``, ``implementation`` and both kinds of calls."""

        async def places_of(spot: Spot) -> list[tuple[str, object, str]]:
            match operation:
                case "incoming_calls" | "outgoing_calls":
                    return await self._calls(spot, operation)
                case "references":
                    params = spot.params | {"context": {"includeDeclaration": True}}
                    return _locations(await ask(spot.connection, REFERENCES, params))
                case _:
                    return _locations(await ask(spot.connection, METHODS[operation], spot.params))

        spots = await self.spots(METHODS[operation], path, symbol, line)
        found = await _first_answer(spots, places_of) or []
        return await asyncio.to_thread(self._read, found, spots[0].connection)

    async def hover(self, path: Path, symbol: str, line: str | None) -> str:
        """Return what the server says of a symbol: its type and documentation; empty when it says nothing."""

        async def text_of(spot: Spot) -> str:
            contents = _mapping(await ask(spot.connection, HOVER, spot.params)).get("contents")
            return _hover_text(contents)[:_HOVER_CHARS].strip()

        return await _first_answer(await self.spots(HOVER, path, symbol, line), text_of) or ""

    async def find(self, name: str) -> list[Place]:
        """Return the symbols of the project with ``name`` in their name, exact ones first."""
        clients = [client for client in self._servers.running() if _can(client, WORKSPACE_SYMBOL)]
        if not clients:
            raise HarnessError(
                "no language server that knows the whole project runs yet",
                where="lsp",
                mend="name a file with path: that starts its server",
            )
        bare = split_name(name)[-1]
        places: list[Place] = []
        for client in clients:
            connection = client.connection
            if connection is not None:
                entries = await ask(connection, WORKSPACE_SYMBOL, {"query": bare})
                places += await asyncio.to_thread(self._read, _symbols(entries), connection)
        exact = [place for place in places if place.what.split(" ", 1)[-1] == bare]
        return list(dict.fromkeys([*exact, *places]))

    # --- finding the place -----------------------------------------------------------------------

    async def _open(self, path: Path, method: str) -> tuple[Connection, Document]:
        reasons: list[str] = []
        for client in self._servers.serving(path):
            try:
                connection, document = await client.shown(path)
            except NotADocumentError:
                raise
            except HarnessError as error:
                reasons.append(f"{client.spec.name}: {client.reason or error.what}")
                continue
            if method in connection.abilities.providers:
                return connection, document
            reasons.append(f"{client.spec.name} does not answer that")
        where = name_in(self._servers.root / path, self._servers.root)
        if not reasons:
            raise HarnessError(
                "no language server serves this file", where=where, mend="harness lsp list shows which ones there are"
            )
        raise HarnessError(f"no language server can answer: {'; '.join(reasons)}", where=where)

    async def _outline(self, connection: Connection, document: Document) -> list[Symbol]:
        return read_outline(await ask(connection, DOCUMENT_SYMBOL, {"textDocument": {"uri": document.uri}}))

    async def spots(self, method: str, path: Path, symbol: str, line: str | None, *, only: bool = False) -> list[Spot]:
        """Return where ``symbol`` may stand, the likeliest first: where it is defined, else where it is mentioned.

        A mention may be one in a text or a comment: whoever gets no answer for it takes the next. With ``only`` the
        symbol may be defined but once.
        """
        connection, document = await self._open(path, method)
        names, lines, encoding = split_name(symbol), document.lines, connection.abilities.encoding
        where = name_in(document.path, self._servers.root)
        wanted = _wanted_lines(lines, line, where)
        places: list[tuple[int, int]] = []
        if DOCUMENT_SYMBOL in connection.abilities.providers:
            found = [
                entry
                for entry in defined(await self._outline(connection, document), names)
                if (wanted is None or entry.line in wanted) and entry.line < len(lines)
            ]
            if only and len(found) > 1:
                raise HarnessError(
                    f"{one_line(symbol, 80)} is defined {len(found)} times: "
                    + ", ".join(f"{'.'.join(one.names)} in line {one.line + 1}" for one in found[:_NAMED]),
                    where=where,
                    mend="say which one with line, or by the whole name",
                )
            for entry in found[:1]:
                at = self._name_in_line(lines[entry.line], names[-1], entry.character, connection)
                places.append((entry.line, at))
        for number, column in mentions(lines, names[-1]):
            if (wanted is None or number in wanted) and len(places) < _MENTIONS:
                places.append((number, character_of(lines[number], column + 1, encoding)))
        if not places:
            raise HarnessError(
                f"{names[-1]} does not stand {'on such a line' if wanted is not None else 'in this file'}",
                where=where,
                mend="grep finds where a name is used",
            )
        return [Spot(connection, document, number, at) for number, at in dict.fromkeys(places)]

    @staticmethod
    def _name_in_line(text: str, name: str, character: int, connection: Connection) -> int:
        # Some outlines begin at "def" or "static": the name itself is what can be asked about.
        encoding = connection.abilities.encoding
        first = code_point_column(text, character, encoding) - 1
        columns = [column for _, column in mentions([text], name) if column >= first]
        return character_of(text, columns[0] + 1, encoding) if columns else character

    # --- asking ----------------------------------------------------------------------------------

    async def _calls(self, spot: Spot, operation: str) -> list[tuple[str, object, str]]:
        items = await ask(spot.connection, CALL_HIERARCHY, spot.params)
        if not isinstance(items, list) or not items:
            return []
        incoming = operation == "incoming_calls"
        method = "callHierarchy/incomingCalls" if incoming else "callHierarchy/outgoingCalls"
        calls = await ask(spot.connection, method, {"item": cast(list[Any], items)[0]})
        found: list[tuple[str, object, str]] = []
        for call in cast(list[Any], calls) if isinstance(calls, list) else []:
            item = _mapping(_mapping(call).get("from" if incoming else "to"))
            what = f"{kind_of(item.get('kind'))} {item.get('name', '')}"
            ranges = _mapping(call).get("fromRanges")
            # A caller is shown where it calls; what is called, where it is defined.
            spots = cast(list[Any], ranges) if incoming and isinstance(ranges, list) and ranges else []
            for span in spots or [item.get("selectionRange")]:
                found.append((str(item.get("uri", "")), span, what))
        return found

    def _read(self, found: Iterable[tuple[str, object, str]], connection: Connection) -> list[Place]:
        texts: dict[Path, list[str]] = {}
        places: dict[tuple[Path, int, int], Place] = {}
        for uri, span, what in found:
            path = from_uri(uri)
            if path is None:
                continue
            line, character = start_of(span)
            lines = texts.get(path)
            if lines is None:
                lines = texts[path] = self._lines(path, connection)
            text = lines[line] if line < len(lines) else ""
            column = code_point_column(text, character, connection.abilities.encoding) if text else character + 1
            name = name_in(path, self._servers.root)
            places.setdefault((path, line, column), Place(name, line + 1, column, text.strip(), what))
        return list(places.values())

    @staticmethod
    def _lines(path: Path, connection: Connection) -> list[str]:
        document = connection.documents.find(path)
        if document is not None:
            return document.lines
        try:
            return split_lines(read_snapshot(path).text)
        except NotADocumentError:
            return []  # a place in a file that cannot be read is still a place


async def ask(connection: Connection, method: str, params: dict[str, Any]) -> Any:
    """Return the answer; a server that is overtaken by a change is asked again. Raises ``RpcError``."""
    for turn in range(_TRIES):
        try:
            return await connection.peer.request(method, params)
        except RpcError as error:
            if error.number not in _AGAIN or turn == _TRIES - 1:
                raise
            await asyncio.sleep(_AGAIN_S * 2**turn)
    raise AssertionError("the last turn returns or raises")


async def _first_answer(spots: Sequence[Spot], about: Callable[[Spot], Awaitable[T]]) -> T | None:
    """Return the first answer that says something. Raises the error of the first place when no other has an answer."""
    refusal: RpcError | None = None
    for spot in spots:
        try:
            if answer := await about(spot):
                return answer
        except RpcError as error:
            refusal = refusal or error
    if refusal is not None:
        raise refusal
    return None


def _can(client: Client, method: str) -> bool:
    return client.connection is not None and method in client.connection.abilities.providers


def _wanted_lines(lines: Sequence[str], line: str | None, where: str) -> set[int] | None:
    """Return the 0-based lines that ``line`` means: a number, or text that stands on them; ``None`` for any line."""
    if line is None or not line.strip():
        return None
    text = line.strip()
    if text.isdecimal() and 1 <= int(text) <= len(lines):
        return {int(text) - 1}
    found = {number for number, content in enumerate(lines) if text in content}
    if not found:
        raise HarnessError(
            f"no line holds {one_line(text, 80)!r}", where=where, mend="give a part of the line as it is"
        )
    return found


def _locations(result: Any) -> list[tuple[str, object, str]]:
    """Return URI and range of ``Location``, ``LocationLink``, or a list of either."""
    entries = cast(list[Any], result) if isinstance(result, list) else [result]
    found: list[tuple[str, object, str]] = []
    for entry in entries:
        fields = _mapping(entry)
        if isinstance(uri := fields.get("uri"), str):
            found.append((uri, fields.get("range"), ""))
        elif isinstance(uri := fields.get("targetUri"), str):
            found.append((uri, fields.get("targetSelectionRange") or fields.get("targetRange"), ""))
    return found


def _symbols(result: Any) -> list[tuple[str, object, str]]:
    found: list[tuple[str, object, str]] = []
    for entry in cast(list[Any], result) if isinstance(result, list) else []:
        fields = _mapping(entry)
        location = _mapping(fields.get("location"))
        if isinstance(uri := location.get("uri"), str):
            what = f"{kind_of(fields.get('kind'))} {fields.get('name', '')}"
            found.append((uri, location.get("range"), what))
    return found


def _hover_text(contents: object) -> str:
    if isinstance(contents, str):
        return contents
    if isinstance(contents, list):
        return "\n\n".join(filter(None, map(_hover_text, cast(list[Any], contents))))
    value = _mapping(contents).get("value")
    return value if isinstance(value, str) else ""


def _mapping(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
