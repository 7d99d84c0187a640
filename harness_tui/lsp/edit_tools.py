"""``rename`` and ``quick_fix``: what a language server proposes, made as one edit that was seen and decided on.

The server is asked before the decision, since what it proposes is what is decided on. How files are changed is the
business of the file tools: see ``core.seams.FileChanger``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from harness_tui.core import seams
from harness_tui.core.errors import HarnessError, StalePreviewError, ToolError
from harness_tui.core.record import record
from harness_tui.core.seams import Amended, FileChanger, PreparedCall, ProposedFile, ToolContext, ToolResult
from harness_tui.core.values import SourceRef, ToolSpec
from harness_tui.lsp.queries import Queries, Servers
from harness_tui.lsp.refactoring import Proposal, Refactoring
from harness_tui.lsp.report import one_line
from harness_tui.lsp.roots import place_in_project
from harness_tui.lsp.rpc import PeerClosedError
from harness_tui.lsp.symbols import split_name
from harness_tui.lsp.tool import checks_of, existing_file

ANSWER_S: Final = 30.0
_TRIES: Final = 3
_NAME_CHARS: Final = 500
_LINE: Final = "A part of the line on which it stands, or its number."


def _spec(name: str, description: str, properties: Mapping[str, str], required: tuple[str, ...]) -> ToolSpec:
    return ToolSpec(
        name=name,
        description=description,
        parameters={
            "type": "object",
            "properties": {name: {"type": "string", "description": text} for name, text in properties.items()},
            "required": list(required),
            "additionalProperties": False,
        },
        source=SourceRef("lsp"),
    )


_RENAME: Final = _spec(
    "rename",
    "Rename a symbol wherever it is used, in every file, by the language server: exact, where a search would also find "
    "other things of that name. The symbol is named as it is written (total, or Shelf.total), with a file in which it "
    "stands; line narrows it. The files need not have been read before.",
    {
        "symbol": "The present name.",
        "to": "The new name, without the names before it.",
        "path": "A file in which the symbol stands; may be left out where the project defines it once.",
        "line": _LINE,
    },
    ("symbol", "to"),
)
_QUICK_FIX: Final = _spec(
    "quick_fix",
    "Do what a language server offers to mend one of its diagnostics, such as adding an import. Without a title the "
    "only or the obvious fix is taken; where there are several, the error lists their titles.",
    {
        "path": "The file with the diagnostic.",
        "line": "The number of its line, or a part of the line.",
        "title": "The title of the fix, or a part of it that only this one has.",
    },
    ("path", "line"),
)


@record
class _State:
    """What :meth:`run` needs: the call as the file tools prepared it, and what is said beside its result."""

    prepared: PreparedCall
    note: str


class _AlteredBelow:
    """Satisfies ``core.seams.Proposal``: what a person alters is altered in the call as the file tools prepared it."""

    def __init__(self, proposal: seams.Proposal, note: str) -> None:
        self._proposal = proposal
        self._note = note

    def files(self) -> Sequence[ProposedFile]:
        """Return every file that would be written."""
        return self._proposal.files()

    def amended(self, edits: Mapping[str, str | None]) -> Amended:
        """Return the call with ``edits`` in it."""
        amended = self._proposal.amended(edits)
        return replace(amended, prepared=_noted(amended.prepared, self._note))


def _noted(prepared: PreparedCall, note: str) -> PreparedCall:
    proposal = None if prepared.proposal is None else _AlteredBelow(prepared.proposal, note)
    return replace(prepared, state=_State(prepared, note), proposal=proposal)


class _EditTool:
    """What both tools share: they ask a server, and give what it proposes to the file tools."""

    def __init__(self, spec: ToolSpec, servers: Servers, changer: FileChanger) -> None:
        self._spec = spec
        self._servers = servers
        self._changer = changer
        self._refactoring = Refactoring(servers)

    @property
    def spec(self) -> ToolSpec:
        """Name, description, parameters."""
        return self._spec

    async def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Ask the server, plan what it proposes, show its difference. Raises ``ToolError``."""
        given = _texts(self._spec, arguments)
        for turn in range(_TRIES):
            path, proposal = await self._in_time(self._propose(given, context))
            try:
                prepared = await self._changer.prepare(
                    self._spec.name, proposal.title, proposal.files, context, checks_of(path, context.root)
                )
            except StalePreviewError:
                if turn == _TRIES - 1:
                    raise
                continue  # somebody wrote between its answer and our look: its next answer knows of that
            return _noted(prepared, proposal.note)
        raise AssertionError("the last turn returns or raises")

    async def run(self, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        """Write all files or none. Raises ``StalePreviewError`` or ``ToolError``."""
        state: _State = prepared.state
        result = await self._changer.run(self._spec.name, state.prepared, context)
        return replace(result, output=f"{result.output}\n{state.note}") if state.note else result

    async def _propose(self, given: Mapping[str, str], context: ToolContext) -> tuple[Path, Proposal]:
        raise NotImplementedError

    async def _in_time(self, asked: Awaitable[tuple[Path, Proposal]]) -> tuple[Path, Proposal]:
        name = self._spec.name
        try:
            async with asyncio.timeout(ANSWER_S):
                return await asked
        except TimeoutError as error:
            raise ToolError(
                f"the language server has not answered after {ANSWER_S:g} s",
                where=name,
                mend="it may still be reading the project: ask again, or use edit",
            ) from error
        except ToolError:
            raise
        except HarnessError as error:
            what = f"the language server {error.what}" if isinstance(error, PeerClosedError) else error.what
            raise ToolError(what, where=error.where or name, mend=error.mend, code=error.code) from error

    def _place(self, path: Path) -> Path:
        """Return ``path`` as servers are told it. Raises ``HarnessError`` outside the project."""
        place = place_in_project(path, self._servers.root)
        if place is None:
            raise HarnessError("the file is outside the project", where=str(path), mend="no server serves it: use edit")
        return place


class RenameTool(_EditTool):
    """``rename``."""

    def __init__(self, servers: Servers, changer: FileChanger) -> None:
        super().__init__(_RENAME, servers, changer)
        self._queries = Queries(servers)

    async def _propose(self, given: Mapping[str, str], context: ToolContext) -> tuple[Path, Proposal]:
        symbol, to = given["symbol"].strip(), given["to"].strip()
        if len(to) > _NAME_CHARS or not to.isprintable():
            raise ToolError("the new name is no name", where="rename", mend=f"one line of at most {_NAME_CHARS}")
        if "path" in given:
            path, line = self._place(await asyncio.to_thread(existing_file, given["path"], context)), given.get("line")
        else:
            path, line = await self._find(symbol, given.get("line"), context)
        return path, await self._refactoring.rename(path, symbol, line, to)

    async def _find(self, symbol: str, line: str | None, context: ToolContext) -> tuple[Path, str]:
        """Return file and line of a symbol that the project defines once."""
        bare = split_name(symbol)[-1]
        places = [place for place in await self._queries.find(symbol) if place.what.partition(" ")[2] == bare]
        if line is not None:
            places = [place for place in places if line.strip() in (str(place.line), place.text) or line in place.text]
        if len(places) == 1:
            return self._place(context.root / places[0].path), str(places[0].line)
        listed = ", ".join(f"{one_line(place.path, 200)}:{place.line}" for place in places[:10])
        what = (
            f"{len(places)} symbols are called {one_line(symbol, 80)}" if places else "no symbol of that name is known"
        )
        raise ToolError(what, where="rename", mend=f"give path: {listed}" if places else "give a file with path")


class QuickFixTool(_EditTool):
    """``quick_fix``."""

    def __init__(self, servers: Servers, changer: FileChanger) -> None:
        super().__init__(_QUICK_FIX, servers, changer)

    async def _propose(self, given: Mapping[str, str], context: ToolContext) -> tuple[Path, Proposal]:
        path = self._place(await asyncio.to_thread(existing_file, given["path"], context))
        return path, await self._refactoring.fix(path, given["line"], given.get("title"), ANSWER_S / 3)


def _texts(spec: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return the arguments as texts; a line may be a number. Raises ``ToolError``."""
    known = list(spec.parameters["properties"])
    unknown = sorted(set(arguments) - set(known))
    if unknown:
        raise ToolError(
            f"unknown arguments: {', '.join(unknown)}", where=spec.name, mend=f"known are {', '.join(known)}"
        )
    given: dict[str, str] = {}
    for name in known:
        value = arguments.get(name)
        if name == "line" and isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if value is None or (value == "" and name not in spec.parameters["required"]):
            continue
        if not isinstance(value, str):
            raise ToolError(f"{name} must be text", where=spec.name)
        given[name] = value
    missing = [name for name in spec.parameters["required"] if not given.get(name, "").strip()]
    if missing:
        raise ToolError(f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing", where=spec.name)
    return given
