"""How a server is brought to say what it thinks of a document.

A strategy returns once the sets in the store are an answer for the document's present version. More of them (a server's
own synchronous command, a server's own idle signal) have the same shape: :class:`Strategy`, chosen by :func:`choose`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, Protocol, TypeAlias, cast

from harness_tui.core.errors import HarnessError
from harness_tui.lsp.connection import Connection
from harness_tui.lsp.diagnostics import PUSHED, Slot
from harness_tui.lsp.documents import Document
from harness_tui.lsp.protocol import CONTENT_MODIFIED, DIAGNOSTIC, PARSE_ERROR, REQUEST_CANCELLED, SERVER_CANCELLED
from harness_tui.lsp.rpc import METHOD_NOT_FOUND, RpcError
from harness_tui.lsp.uris import from_uri

Deadline: TypeAlias = Callable[[], float]
"""Returns the monotonic second at which somebody wants an answer; it may move while a strategy waits."""

_RETRIES: Final = 12
_RETRY_S: Final = 0.05
_RETRY_CODES: Final = (SERVER_CANCELLED, CONTENT_MODIFIED, REQUEST_CANCELLED)


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


def choose(connection: Connection) -> Strategy:
    """Return the best way that this server offers now."""
    return Pull() if connection.abilities.identifiers else PushSettle()


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
