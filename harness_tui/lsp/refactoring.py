"""What a server proposes to change: the rename of a symbol, the fix of a diagnostic.

A proposal is only worth something for the texts that it was made for. So every file that it names is shown to the
server as it is on disk, and the server is asked again until none of them was new to it; the hash of each text goes
along, and nothing is written where a file has other bytes by then. Commands of a server are never run.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from harness_tui.core.errors import HarnessError
from harness_tui.core.paths import name_in
from harness_tui.core.record import record
from harness_tui.core.seams import FileChange
from harness_tui.lsp.connection import Connection
from harness_tui.lsp.documents import Document
from harness_tui.lsp.protocol import CODE_ACTION, PREPARE_RENAME, QUICK_FIX, RENAME, RESOLVE_ACTION
from harness_tui.lsp.queries import Queries, Servers, Spot, ask
from harness_tui.lsp.report import one_line
from harness_tui.lsp.rpc import RpcError
from harness_tui.lsp.symbols import start_of
from harness_tui.lsp.text import read_snapshot, split_lines
from harness_tui.lsp.workspace_edit import EditedFile, read_workspace_edit, refused, text_changes

_ROUNDS: Final = 4
_AGAIN_S: Final = 0.05
_FILES: Final = 500
_REST_S: Final = 10.0
"""So long a rename waits for a server that is still reading the project."""
_DIAGNOSTICS: Final = 20
_TITLES: Final = 20
_TITLE_CHARS: Final = 200

Texts: TypeAlias = dict[Path, str]
"""What a server knew when it was asked: the digest of each open text. Versions grow without a new text too."""


@record
class Proposal:
    """What is to become of files; ``title`` says it in one line, ``note`` what else there is to say."""

    title: str
    files: tuple[FileChange, ...]
    note: str = ""


@record
class _Asked:
    """The edit that a server answered with, raw, and the texts that it knew when it was asked."""

    connection: Connection
    texts: Texts
    edit: Any
    title: str
    note: str = ""


@record
class Fix:
    """A fix that a server offers. ``raw`` is its code action, ``preferred`` that it is the obvious one."""

    title: str
    server: str
    raw: dict[str, Any]
    connection: Connection
    texts: Texts
    preferred: bool = False


class Refactoring:
    """Asks ``servers``. Every method raises ``HarnessError`` with what is missing and how to mend it."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers
        self._queries = Queries(servers)

    async def rename(self, path: Path, symbol: str, line: str | None, to: str) -> Proposal:
        """Return how the symbol gets the name ``to`` wherever it is used."""

        async def ask_once() -> _Asked:
            spot = await self._renamable(await self._queries.spots(RENAME, path, symbol, line, only=True), symbol)
            working = await spot.connection.rested(_REST_S)
            texts = _texts(spot.connection)
            raw = await ask(spot.connection, RENAME, spot.params | {"newName": to})
            if working is None and await spot.connection.rested(0.0) is not None:
                # It said only with its answer that it has begun to read.
                working, texts = await spot.connection.rested(_REST_S), _texts(spot.connection)
                raw = await ask(spot.connection, RENAME, spot.params | {"newName": to})
            title, note = f"Rename {one_line(symbol, 60)} to {one_line(to, 60)}", ""
            if working is not None:
                note = f"{spot.connection.spec.name} was still at work ({working}): it may not know every use."
            return _Asked(spot.connection, texts, raw, title, note)

        found = await self._settled(path, ask_once)
        count = f"{len(found.files)} file{'' if len(found.files) == 1 else 's'}"
        doubt = ", and the server is still at work" if found.note else ""
        return replace(found, title=f"{found.title} in {count}{doubt}")

    async def fix(self, path: Path, line: str, title: str | None, wait: float) -> Proposal:
        """Return the fix called ``title`` for what servers say of a line; without ``title`` the only or obvious one.

        A server that has nothing to say after ``wait`` seconds is left out.
        """
        name = name_in(path, self._servers.root)

        async def ask_once() -> _Asked:
            fix = _chosen(await self._fixes(path, line, wait), title, name)
            raw = fix.raw
            if raw.get("edit") is None and fix.connection.abilities.resolves_actions:
                raw = _mapping(await ask(fix.connection, RESOLVE_ACTION, raw))
            command = _command_of(raw) or _command_of(fix.raw)
            if raw.get("edit") is None:
                why = "it changes no text"
                if command:
                    why = f"it is a command of the server ({one_line(command)}), and commands of servers are not run"
                raise refused(why, one_line(fix.title, _TITLE_CHARS))
            note = f"The server's command {one_line(command)} that belongs to it was not run." if command else ""
            return _Asked(fix.connection, fix.texts, raw["edit"], f"Fix {name}: {one_line(fix.title, 80)}", note)

        return await self._settled(path, ask_once)

    # --- renaming --------------------------------------------------------------------------------

    async def _renamable(self, spots: Sequence[Spot], symbol: str) -> Spot:
        """Return the first place of the symbol that its server can rename; the first one where it does not say."""
        first = spots[0]
        if not first.connection.abilities.prepares_rename:
            return first
        why = f"the server says that {one_line(symbol, 80)} cannot be renamed"
        for spot in spots:
            try:
                if await ask(spot.connection, PREPARE_RENAME, spot.params) is not None:
                    return spot
            except RpcError as error:  # some say so by an error
                why = error.what
        raise HarnessError(why, where=f"{name_in(first.document.path, self._servers.root)}:{first.line + 1}")

    # --- fixing ----------------------------------------------------------------------------------

    async def _fixes(self, path: Path, line: str, wait: float) -> list[Fix]:
        """Return what every server of the file offers for its items of a line, each once."""
        where = name_in(path, self._servers.root)
        clients = self._servers.serving(path)
        if not clients:
            raise HarnessError("no language server serves this file", where=where, mend="harness lsp doctor says why")
        results = await asyncio.gather(*(client.current(path, wait) for client in clients), return_exceptions=True)
        reasons = [result.what for result in results if isinstance(result, HarnessError)]
        known = [result for result in results if not isinstance(result, BaseException)]
        for result in results:
            if isinstance(result, BaseException) and not isinstance(result, HarnessError):
                raise result
        if not known:
            raise HarnessError(f"nothing is known of this file: {'; '.join(reasons)}", where=where)
        found: dict[tuple[str, str], Fix] = {}
        items = 0
        for connection, document, raw in known:
            wanted = _lines_meant(document, line, where)
            for item in [item for item in raw if isinstance(item, dict) and start_of(item.get("range"))[0] in wanted]:
                items += 1
                if items > _DIAGNOSTICS or CODE_ACTION not in connection.abilities.providers:
                    continue
                for fix in await self._ask_for_fixes(connection, document, cast(dict[str, Any], item)):
                    found.setdefault((fix.server, fix.title), fix)
        if not items:
            lines = sorted({start_of(_mapping(item).get("range"))[0] + 1 for _, _, raw in known for item in raw})
            listed = ", ".join(map(str, lines[:_TITLES])) or "none in the file"
            raise HarnessError("there is no diagnostic on that line", where=where, mend=f"lines with one: {listed}")
        return list(found.values())

    async def _ask_for_fixes(self, connection: Connection, document: Document, item: dict[str, Any]) -> list[Fix]:
        texts = _texts(connection)
        params = {
            "textDocument": {"uri": document.uri},
            "range": item.get("range"),
            "context": {"diagnostics": [item], "only": [QUICK_FIX], "triggerKind": 1},
        }
        answer = await ask(connection, CODE_ACTION, params)
        fixes: list[Fix] = []
        for entry in cast(list[Any], answer) if isinstance(answer, list) else []:
            raw = _mapping(entry)
            title, kind = raw.get("title"), raw.get("kind")
            if not isinstance(title, str) or not title or raw.get("disabled"):
                continue
            if isinstance(kind, str) and kind.partition(".")[0] != QUICK_FIX:
                continue
            preferred = raw.get("isPreferred") is True
            fixes.append(Fix(title, connection.spec.name, raw, connection, texts, preferred))
        return fixes

    # --- the texts that it was made for ----------------------------------------------------------

    async def _settled(self, about: Path, ask_once: Callable[[], Awaitable[_Asked]]) -> Proposal:
        """Ask until the server knew every text that it would change; the file that it is ``about`` comes first."""
        with contextlib.ExitStack() as kept:
            for turn in range(_ROUNDS):
                asked = await ask_once()
                edits = read_workspace_edit(asked.edit)
                if not edits:
                    raise HarnessError("the server proposes no change", where=name_in(about, self._servers.root))
                if len(edits) > _FILES:
                    raise refused(f"it touches {len(edits)} files, more than {_FILES}")
                paths = [_own(asked.connection, file.path) for file in edits]
                kept.enter_context(asked.connection.documents.keeping(paths))
                shown = await self._show(asked, edits, paths)
                if shown is None:
                    await asyncio.sleep(_AGAIN_S * turn)
                    continue
                files = await asyncio.to_thread(self._changes, asked.connection, edits, paths, shown)
                files.sort(key=lambda file: (file.path != about, file.path.as_posix()))
                return Proposal(asked.title, tuple(files), asked.note)
        where = name_in(about, self._servers.root)
        raise HarnessError("the files change faster than the server answers", where=where, mend="ask again in a moment")

    @staticmethod
    async def _show(asked: _Asked, edits: Sequence[EditedFile], paths: Sequence[Path]) -> list[Document | None] | None:
        """Show the server the files as they are on disk; ``None`` when one of them was new to it."""
        connection = asked.connection
        for path, file in zip(paths, edits, strict=True):
            if not file.created and connection.spec.serves(path):
                await connection.sync(path, busy=paths)
        shown: list[Document | None] = []
        for path in paths:
            document = connection.documents.get(path)
            if document is not None and asked.texts.get(path) != document.snapshot.digest:
                return None
            shown.append(None if document is None else replace(document))  # it may go on meanwhile
        return shown

    def _changes(
        self,
        connection: Connection,
        edits: Sequence[EditedFile],
        paths: Sequence[Path],
        shown: Sequence[Document | None],
    ) -> list[FileChange]:
        """Turn the server's places into ours. Blocks."""
        return [
            self._change(connection, file, path, document)
            for file, path, document in zip(edits, paths, shown, strict=True)
        ]

    def _change(self, connection: Connection, file: EditedFile, path: Path, document: Document | None) -> FileChange:
        where, encoding = name_in(path, self._servers.root), connection.abilities.encoding
        moved = None if file.moved_to is None else _own(connection, file.moved_to)
        if path.is_dir():
            raise refused("it would move or change a folder", where)
        if file.created and not path.exists():
            return FileChange(path, None, text_changes(file.edits, [""], encoding, where))
        if file.created and not file.may_exist:
            raise refused("it would create a file that is there already", where)
        if document is not None and file.version is not None and not _is_of(file.version, document):
            raise refused(f"it is for version {file.version} of the text, which is at {document.version}", where)
        snapshot = read_snapshot(path) if document is None else document.snapshot
        places = text_changes(file.edits, split_lines(snapshot.text), encoding, where)
        return FileChange(path, snapshot.digest, places, moved)


def _own(connection: Connection, path: Path) -> Path:
    """Return our spelling of a path that a server names."""
    document = connection.documents.find(path)
    return path if document is None else document.path


def _texts(connection: Connection) -> Texts:
    documents = (connection.documents.get(path) for path in connection.documents.paths())
    return {document.path: document.snapshot.digest for document in documents if document is not None}


def _is_of(version: int, document: Document) -> bool:
    """Tell whether a version had the present text: the same text may have been sent again since."""
    return document.since <= version <= document.version


def _chosen(fixes: Sequence[Fix], title: str | None, where: str) -> Fix:
    if not fixes:
        raise HarnessError("no server offers a fix for that line", where=where, mend="mend it with edit")
    listed = "; ".join(one_line(fix.title, _TITLE_CHARS) for fix in fixes[:_TITLES])
    if title is None:
        preferred = [fix for fix in fixes if fix.preferred] or list(fixes)
        if len(preferred) == 1:
            return preferred[0]
        raise HarnessError("there are several fixes", where=where, mend=f"give the title of one: {listed}")
    wanted = title.strip().casefold()
    exact = [fix for fix in fixes if one_line(fix.title, _TITLE_CHARS).casefold() == wanted]
    part = [fix for fix in fixes if wanted in fix.title.casefold()]
    if not exact and len(part) != 1:
        what = "several fixes have that in their titles" if part else "there is no fix of that title"
        raise HarnessError(what, where=where, mend=f"the titles are: {listed}")
    return (exact or part)[0]


def _lines_meant(document: Document, line: str, where: str) -> set[int]:
    text = line.strip()
    if text.isdecimal():
        number = int(text)
        if not 1 <= number <= len(document.lines):
            raise HarnessError(f"there is no line {number}", where=where, mend=f"there are {len(document.lines)}")
        return {number - 1}
    found = {number for number, content in enumerate(document.lines) if text in content}
    if not found:
        raise HarnessError(
            f"no line holds {one_line(text, 80)!r}", where=where, mend="give a part of the line as it is, or its number"
        )
    return found


def _command_of(raw: dict[str, Any]) -> str | None:
    command = raw.get("command")
    name = command if isinstance(command, str) else _mapping(command).get("command")
    return name if isinstance(name, str) else None


def _mapping(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
