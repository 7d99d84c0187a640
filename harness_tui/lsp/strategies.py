"""How a server is brought to say what it thinks of a document.

A strategy returns once the sets in the store are an answer for the document's present version. :func:`choose` takes the
best one that the server offers by now: asking is exact, being told is a matter of patience.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, cast

from harness_tui.core.errors import HarnessError
from harness_tui.lsp.connection import Connection
from harness_tui.lsp.diagnostics import PUSHED, Slot
from harness_tui.lsp.documents import Document
from harness_tui.lsp.protocol import (
    CONTENT_MODIFIED,
    DIAGNOSTIC,
    EXECUTE_COMMAND,
    PARSE_ERROR,
    REQUEST_CANCELLED,
    SERVER_CANCELLED,
    TSSERVER_REQUEST,
)
from harness_tui.lsp.rpc import INTERNAL_ERROR, METHOD_NOT_FOUND, RpcError
from harness_tui.lsp.uris import from_uri, to_uri

Deadline: TypeAlias = Callable[[], float]
"""Returns the monotonic second at which somebody wants an answer; it may move while a strategy waits."""

_RETRIES: Final = 12
_RETRY_S: Final = 0.05
_RETRY_CODES: Final = (SERVER_CANCELLED, CONTENT_MODIFIED, REQUEST_CANCELLED)
TSSERVER: Final = "tsserver"
"""The source of the sets that its compiler gave when asked."""
_SYNC_TRIES: Final = 4
_SYNC_COMMANDS: Final = ("syntacticDiagnosticsSync", "semanticDiagnosticsSync", "suggestionDiagnosticsSync")
_CATEGORIES: Final = {"error": 1, "warning": 2, "message": 3, "suggestion": 4}
_IDLE_FIRST_S: Final = 0.01
_NOTHING_NEW_S: Final = 0.15


class OtherWayError(Exception):
    """The server can be asked in a better way now, or not in this one: choose again."""


class Strategy(Protocol):
    """One way to an answer; ``name`` is shown to people."""

    name: str

    async def collect(self, connection: Connection, document: Document, deadline: Deadline) -> None:
        """Return when the store holds an answer for the present version of ``document``.

        Raises ``OtherWayError``, ``PeerClosedError``, or ``HarnessError`` when the server refuses. Has no time limit of
        its own: it is cancelled.
        """
        ...


class Pull:
    """``textDocument/diagnostic``: asked, answered, exact."""

    name = "pull"

    async def collect(self, connection: Connection, document: Document, deadline: Deadline) -> None:
        """Ask every registered provider; all must answer for the same version."""
        identifiers = connection.abilities.identifiers
        results = await asyncio.gather(
            *(self._ask(connection, document, identifier) for identifier in identifiers), return_exceptions=True
        )
        for result in results:
            if isinstance(result, BaseException):
                raise result

    async def _ask(self, connection: Connection, document: Document, identifier: str | None) -> None:
        source = f"pull:{identifier or ''}"
        for turn in range(_RETRIES):
            version = document.version
            last = connection.store.slot(connection.key, document.path, source)
            params: dict[str, Any] = {"textDocument": {"uri": document.uri}}
            if identifier is not None:
                params["identifier"] = identifier
            if last is not None and last.result_id is not None:
                params["previousResultId"] = last.result_id
            try:
                report = await connection.peer.request(DIAGNOSTIC, params)
            except RpcError as error:
                if error.number in (METHOD_NOT_FOUND, PARSE_ERROR):
                    connection.abilities.pull_failed = True
                    raise OtherWayError from error
                if error.number not in _RETRY_CODES or turn == _RETRIES - 1:
                    raise
                await asyncio.sleep(min(1.0, _RETRY_S * 2**turn))
                continue
            if document.version == version:
                self._take(connection, document, source, report, last)
                return
        raise HarnessError("the document changed faster than the server answers", where=connection.spec.name)

    def _take(self, connection: Connection, document: Document, source: str, report: Any, last: Slot | None) -> None:
        fields: dict[str, Any] = cast(dict[str, Any], report) if isinstance(report, dict) else {}
        raw: object = fields.get("items")
        if fields.get("kind") == "unchanged" and last is not None:
            raw = last.raw
        if not isinstance(raw, (list, tuple)):
            raise HarnessError("it answered without a report", where=connection.spec.name)
        items, result_id, version = cast(list[Any], raw), _text(fields.get("resultId")), document.version
        connection.take_set(source, document, lambda received, at: Slot(items, version, received, at, result_id))
        self._take_related(connection, source, fields.get("relatedDocuments"))

    def _take_related(self, connection: Connection, source: str, related: object) -> None:
        if not isinstance(related, dict):
            return
        for uri, report in cast(dict[Any, Any], related).items():
            path = from_uri(uri) if isinstance(uri, str) else None
            document = connection.documents.find(path) if path is not None else None
            items: object = report.get("items") if isinstance(report, dict) else None
            if document is None or not isinstance(items, list):
                continue
            raw, result_id = cast(list[Any], items), _text(report.get("resultId"))
            slot = (raw, document.version, result_id)
            connection.take_unasked(
                source,
                document.path,
                lambda received, at, slot=slot: Slot(slot[0], slot[1], received, at, slot[2]),
            )


class PushSettle:
    """``publishDiagnostics``: the first set for this version, and what follows it until the server is quiet."""

    name = "push"

    async def collect(self, connection: Connection, document: Document, deadline: Deadline) -> None:
        """Wait for a set that is not older than the text; leave when a provider to pull from is registered."""
        while True:
            if connection.abilities.identifiers:
                raise OtherWayError
            slot = connection.store.slot(connection.key, document.path, PUSHED)
            if slot is None or not connection.is_current(PUSHED, slot, document):
                await connection.woken(None)
                continue
            now = connection.clock.monotonic()
            quiet_until = slot.at + connection.spec.settle
            if now >= min(quiet_until, deadline()):
                return
            await connection.woken(max(0.0, min(quiet_until, deadline()) - now))


class TsserverSync:
    """typescript-language-server's command that hands a request to its compiler, which answers at once.

    Its pushed sets carry no version, come late, and do not come at all when a clean file stays clean.
    """

    name = "tsserver"

    async def collect(self, connection: Connection, document: Document, deadline: Deadline) -> None:
        """Ask for syntax and meaning. Raises ``OtherWayError`` when the command is refused."""
        version = document.version
        answers = await self._ask_all(connection, document)
        if document.version == version:
            items = [item for answer in answers for item in answer]
            connection.take_set(TSSERVER, document, lambda received, at: Slot(items, version, received, at))

    async def _ask_all(self, connection: Connection, document: Document) -> list[list[dict[str, Any]]]:
        turn = 0
        while True:
            try:
                return await asyncio.gather(*(self._ask(connection, document, name) for name in _SYNC_COMMANDS))
            except RpcError as error:
                turn += 1
                # A project that is still being opened answers once or twice with an error.
                if turn == _SYNC_TRIES or error.number == METHOD_NOT_FOUND:
                    connection.abilities.sync_failed = True
                    raise OtherWayError from error
            await asyncio.sleep(_RETRY_S * 2**turn)

    async def _ask(self, connection: Connection, document: Document, command: str) -> list[dict[str, Any]]:
        arguments = [command, {"file": str(document.path)}]
        response = await connection.peer.request(EXECUTE_COMMAND, {"command": TSSERVER_REQUEST, "arguments": arguments})
        body: object = cast(dict[str, Any], response).get("body") if isinstance(response, dict) else None
        if not isinstance(body, list):
            raise RpcError(INTERNAL_ERROR, f"{command} was answered without a body")
        return [_from_tsserver(entry, document) for entry in cast(list[Any], body) if isinstance(entry, dict)]


class FileStatus:
    """clangd's word on each file: a set counts once the server has finished with the text.

    For a change in a header it publishes twice for the same version, the first time what was true before; for a text
    that is the same as before it publishes nothing, or under the number of the version before.
    """

    name = "push until idle"

    async def collect(self, connection: Connection, document: Document, deadline: Deadline) -> None:
        """Wait for a set of this version and for the end of the work on it, or for an end without a new set."""
        while True:
            if connection.abilities.identifiers:
                raise OtherWayError
            slot = connection.store.slot(connection.key, document.path, PUSHED)
            until = None
            if slot is not None and document.idle > document.sent:
                if self._is_whole(document, slot):
                    # With a changed header it may rest for a moment between what was true before and what is.
                    quiet = connection.spec.settle if document.beside else 0.0
                    until = max(slot.at, document.idle_at) + quiet - connection.clock.monotonic()
                    if document.beside and document.busy > document.idle:
                        until = None  # it works on it again
                    elif until <= 0:
                        return self._settle(connection, document, slot)
                elif document.sent < document.busy < document.idle and slot.received <= document.sent:
                    # Done, and nothing new to say: the last set holds, unless a set is still on its way.
                    until = document.idle_at + _NOTHING_NEW_S - connection.clock.monotonic()
                    if until <= 0:
                        return self._settle(connection, document, slot)
            await connection.woken(until)

    @staticmethod
    def _is_whole(document: Document, slot: Slot) -> bool:
        """Tell whether ``slot`` is for this text and the work on it ended after it, or a moment before."""
        if slot.version is None or slot.received <= document.sent or document.idle_at < slot.at - _IDLE_FIRST_S:
            return False
        # For a text that was sent again because of another file, only work that began since then counts.
        return slot.version >= document.version or (
            slot.version >= document.since and document.sent < document.busy < document.idle
        )

    @staticmethod
    def _settle(connection: Connection, document: Document, slot: Slot) -> None:
        items, version, at = slot.raw, document.version, document.idle_at
        connection.take_set(PUSHED, document, lambda received, _: Slot(items, version, received, at))


def choose(connection: Connection) -> Strategy:
    """Return the best way that this server offers now."""
    abilities = connection.abilities
    if abilities.identifiers:
        return Pull()
    if abilities.has_sync_command:
        return TsserverSync()
    return FileStatus() if abilities.tells_idle or connection.spec.tells_idle else PushSettle()


def _from_tsserver(entry: dict[str, Any], document: Document) -> dict[str, Any]:
    """Return an item of the protocol. tsserver counts lines and UTF-16 units from 1, and has categories of its own."""
    related: object = entry.get("relatedInformation")
    places = [
        {
            "location": {
                "uri": to_uri(Path(str(place["span"].get("file", document.path)))),
                "range": _span(place["span"]),
            },
            "message": place.get("message"),
        }
        for place in (cast(list[Any], related) if isinstance(related, list) else [])
        if isinstance(place, dict) and isinstance(place.get("span"), dict)
    ]
    return {
        "range": _span(entry),
        "severity": _CATEGORIES.get(str(entry.get("category")), 1),
        "code": entry.get("code"),
        "source": entry.get("source") or "typescript",
        "message": entry.get("text"),
        "relatedInformation": places,
    }


def _span(entry: Any) -> dict[str, Any]:
    fields = cast(dict[str, Any], entry)
    return {"start": _place(fields.get("start")), "end": _place(fields.get("end"))}


def _place(value: object) -> dict[str, int]:
    fields = cast(dict[str, Any], value) if isinstance(value, dict) else {}
    line, offset = fields.get("line"), fields.get("offset")
    return {
        "line": line - 1 if isinstance(line, int) else 0,
        "character": offset - 1 if isinstance(offset, int) else 0,
    }


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
