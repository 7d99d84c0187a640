"""Commands and skills of one workspace for people: what there is, what a line would send, new files, the editor."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from harness_tui.children.editors import editor_command
from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.limits import TEMPLATE_BYTES
from harness_tui.core.paths import is_inside, read_regular, short
from harness_tui.core.seams import Check, GateCall
from harness_tui.library.scaffold import create
from harness_tui.workspace.library_rows import LibraryRows, library_rows
from harness_tui.workspace.library_watch import library_changes
from harness_tui.workspace.previewing import Preview, Unfetched, preview_line

if TYPE_CHECKING:
    from harness_tui.workspace.workspace import Workspace


class WorkspaceLibrary:
    """``agent`` and ``mode`` are those of the session ``session`` now: they decide what is allowed."""

    def __init__(self, workspace: Workspace, *, session: str, agent: str, mode: str) -> None:
        self._workspace = workspace
        self._session = session
        self._agent = agent
        self._mode = mode

    async def look(self) -> LibraryRows:
        """Look at every folder again, and return what there is."""
        return await asyncio.to_thread(self._look, Unfetched(self._workspace.mcp.prompts()))

    def changes(self) -> AsyncIterator[None]:
        """Yield each time that commands, skills or what is wrong with them changed. Never ends."""
        return library_changes(self._workspace)

    def _look(self, prompts: Unfetched) -> LibraryRows:
        workspace = self._workspace
        workspace.library.refresh()
        return library_rows(
            workspace.library,
            prompts,
            agent=workspace.loaded.settings.agents.get(self._agent),
            denied=self._denied(),
            configuration=workspace.loaded.problems,
        )

    def _denied(self) -> Callable[[str], bool]:
        """Return what tells whether a skill is denied; the gate is asked only where some rule could."""
        workspace = self._workspace
        agent = workspace.loaded.settings.agents.get(self._agent)
        own = agent.permission if agent is not None else ()
        rules = [*own, *(rule for layer in workspace.gate.layers for rule in layer.rules)]
        if not any(rule.action == "deny" and rule.permission in ("skill", "*") for rule in rules):
            return lambda _: False

        def denied(name: str) -> bool:
            call = GateCall(
                call="menu",
                tool="skill",
                checks=(Check("skill", name),),
                session=self._session,
                agent=self._agent,
                mode=self._mode,
                agent_rules=own,
            )
            return workspace.gate.decide(call).action == "deny"

        return denied

    async def text(self, path: str) -> str:
        """Return a file for its preview, of a skill of a server its entry. Raises ``HarnessError``."""
        for skill in self._workspace.library.remote.all():
            if path == f"{skill.server}:{skill.uri}":
                return skill.shown
        data = await asyncio.to_thread(read_regular, Path(path), max_bytes=4 * TEMPLATE_BYTES)
        return data.decode("utf-8", "replace")

    async def preview(self, line: str) -> Preview:
        """Return what ``line`` would send; nothing runs, and nobody is asked."""
        prompts = Unfetched(self._workspace.mcp.prompts())
        looked_up = preview_line(
            self._workspace, line, prompts, session=self._session, agent=self._agent, mode=self._mode
        )
        # On a loop of its own: somebody types meanwhile, and a pasted line of megabytes takes its time.
        return await asyncio.to_thread(asyncio.run, looked_up)

    async def create(self, kind: Literal["commands", "skills"], name: str, *, user: bool) -> str:
        """Write a new command or skill from its template, and return its path. Raises ``UsageError``."""
        workspace = self._workspace
        _, path = await asyncio.to_thread(
            create, kind, name, user=user, project=workspace.project, places=workspace.places
        )
        return str(path)

    async def edit(self, path: str, line: int | None = None) -> None:
        """Open a file in the person's editor, and return when they have closed it. Only while nothing else draws.

        A folder that was trusted before stays so: the person made the change. Raises ``HarnessError``.
        """
        workspace, file = self._workspace, Path(path)
        if not await asyncio.to_thread(file.is_file):
            raise UsageError("there is no such file any more", where=short(path))
        argv = editor_command(workspace.options.environ, file, line)
        inside = is_inside(file, workspace.project.root)
        trusted = inside and (await asyncio.to_thread(workspace.trust.status, workspace.project)).trusted
        status = await workspace.children.foreground(argv, cwd=file.parent)
        if trusted and await asyncio.to_thread(os.path.exists, file):
            await asyncio.to_thread(workspace.trust.update, workspace.project, file)
        if status:
            how = f"ended with {status}" if status > 0 else f"was ended by {signal.Signals(-status).name}"
            raise HarnessError(f"the editor {Path(argv[0]).name} {how}", where=short(path))
