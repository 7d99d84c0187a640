"""One project, open: configuration, trust, gate, processes, servers, sessions.

:meth:`Workspace.open` reads and builds, in threads where it takes long; nothing of an untrusted folder starts.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from harness_tui.agent.child_sessions import Subagents
from harness_tui.agent.live import LiveSession
from harness_tui.agent.parts import AgentParts
from harness_tui.children.registry import ChildRegistry
from harness_tui.config.loader import Loaded
from harness_tui.config.places import Places
from harness_tui.config.project import Project, find_project
from harness_tui.config.trust import TrustStore
from harness_tui.core.clock import SystemClock
from harness_tui.core.errors import HarnessError
from harness_tui.core.events import Notice
from harness_tui.egress.egress import Egress
from harness_tui.library.library import Library
from harness_tui.lsp.pool import LspPool
from harness_tui.mcp.pool import McpPool
from harness_tui.models.registry import ModelRegistry
from harness_tui.permissions.approvals import Approvals
from harness_tui.permissions.gate import Gate
from harness_tui.sessions.audit import AuditLog
from harness_tui.sessions.blobs import BlobStore
from harness_tui.sessions.store import SessionStore
from harness_tui.tools.jobs import Jobs
from harness_tui.tools.toolset import BuiltinTools
from harness_tui.workspace.library_rows import library_notices
from harness_tui.workspace.logs import log_to_file
from harness_tui.workspace.options import RESERVED_TOOLS, SERVER_WAIT_S, OpenOptions
from harness_tui.workspace.processes import WorkspaceProcesses
from harness_tui.workspace.reading import read_parts
from harness_tui.workspace.sessions import OpenSessions
from harness_tui.workspace.surroundings import Surroundings

__all__ = ["RESERVED_TOOLS", "OpenOptions", "Workspace"]


class Workspace:
    """One open project. Use :meth:`open`, and :meth:`close` at the end, whatever happened."""

    def __init__(self, project: Project, places: Places, options: OpenOptions) -> None:
        self.project = project
        self.places = places
        self.options = options
        self.surroundings = Surroundings()
        self.trust = TrustStore(places)
        self.clock = SystemClock()
        self.children = ChildRegistry(places.ledger, logs=places.logs)
        self.store = SessionStore(places.database)
        self.blobs = BlobStore(places.blobs)
        self.approvals = Approvals(places, project.root)
        self._loop = asyncio.get_running_loop()
        self.store.report_to(self._record_fault)
        self.approvals.report_to(self._approval_fault)
        self.audit = AuditLog(places.audit_file)
        self.loaded: Loaded
        self.library: Library
        self.gate: Gate
        self.models: ModelRegistry
        self.mcp: McpPool
        self.lsp: LspPool
        self._builtin: BuiltinTools
        self._jobs = Jobs()
        self._subagents = Subagents()
        self._parts: AgentParts
        self.sessions = OpenSessions(self)
        self._model: str | None = None
        self._closed = False
        self._sweeping: asyncio.Task[None] | None = None

    # --- opening -------------------------------------------------------------------------------------

    @classmethod
    async def open(cls, start: Path, options: OpenOptions | None = None) -> Workspace:
        """Open the project of ``start``. Raises ``UsageError`` for what was asked for and cannot be had."""
        options = options or OpenOptions()
        places = Places.from_environment(options.environ)
        await asyncio.to_thread(log_to_file, places.logs)
        project = await asyncio.to_thread(find_project, start)
        workspace = cls(project, places, options)
        try:
            await workspace._build()
        except BaseException:
            await workspace.children.close()
            raise
        workspace._sweeping = asyncio.create_task(workspace._sweep(), name="sweep what earlier shells left")
        return workspace

    async def _sweep(self) -> None:
        swept = await self.children.sweep()
        if swept.ended:
            text = f"ended what a shell that was killed had left: {', '.join(sorted(set(swept.ended)))}"
            self.surroundings.emit(Notice("info", "children", text))
        if swept.left:
            text = f"these processes of a shell that was killed could not be ended: {', '.join(map(str, swept.left))}"
            self.surroundings.emit(Notice("warning", "children", text, "end them by hand"))

    async def _build(self) -> None:
        read = await asyncio.to_thread(
            read_parts, self.project, self.places, self.options, self.trust, self.approvals, self.children
        )
        self.loaded, self.library, self.gate, self.models = read.loaded, read.library, read.gate, read.models
        settings = read.loaded.settings
        if self.options.mcp:
            settings = replace(settings, mcp={**settings.mcp, **self.options.mcp})
        egress = Egress(settings.egress, environ=self.options.environ, audit=self.audit)
        self.mcp = McpPool(
            settings.mcp,
            spawner=self.children,
            sink=self.surroundings,
            egress=egress,
            audit=self.audit,
            cache_dir=self.places.manifests,
            root=self.project.root,
            reserved=RESERVED_TOOLS,
            people=self._somebody_answers(),
            logins=self.places.logins_file,
        )
        self.lsp = LspPool(
            self.project.root,
            settings.lsp,
            spawner=self.children,
            sink=self.surroundings,
            trusted=self.trusted,
            cold_wait=self._cold_wait(),
            environ=self.options.environ,
            clock=self.clock,
        )
        diagnostics = self.lsp if settings.lsp.diagnostics_on_edit else None
        builtin = self._builtin = BuiltinTools(
            self.children, diagnostics, egress=egress, jobs=self._jobs, blobs=self.blobs
        )
        self.lsp.offer_edits(builtin.joint)
        self._subagents.use_agents(tuple(settings.agents.values()))
        self.library.remote.use(self.mcp.skills)
        self._parts = AgentParts(
            project=self.project,
            places=self.places,
            settings=settings,
            gate=self.gate,
            models=self.models,
            library=self.library,
            sources=(builtin, self.lsp, self.library, self._subagents, self.mcp),
            prompts=self.mcp,
            resources=self.mcp.resources,
            spawner=self.children,
            store=self.store,
            audit=self.audit,
            clock=self.clock,
            wait_for_servers=self.wait_for_servers,
            late_tool=self.mcp.late_tool,
            late_prompts=self.mcp.late_prompts,
            trusted=self.trusted,
            subagents=self._subagents,
            forget_session=self.forget_session,
            blobs=self.blobs,
            diagnostics=self.lsp,
            late_results=self.mcp.tasks,
            step_limit=self.options.step_limit,
            answer_form=self.options.answer_form,
        )
        for problem in read.loaded.problems:
            self.surroundings.emit(problem.to_notice())
        for notice in library_notices(self.library.problems(), whole=self.options.headless):
            self.surroundings.emit(notice)
        if self.options.start_servers:
            self.mcp.start()
        else:
            await self.mcp.load()

    def _somebody_answers(self) -> bool:
        """Whether servers may ask while they are called: a person, or a script with answers."""
        model = self.options.flags.model or self.loaded.settings.model or ""
        return self.options.policy == "person" or model.startswith("replay:")

    def _cold_wait(self) -> float:
        configured = self.loaded.settings.lsp.cold_wait_ms
        if configured is not None:
            return configured / 1000
        return 10.0 if self.options.headless else 1.5

    @property
    def trusted(self) -> bool:
        """Whether what the folder brings along may be used."""
        return self.loaded.trust.usable

    @property
    def parts(self) -> AgentParts:
        """What sessions work with."""
        return self._parts

    @property
    def processes(self) -> WorkspaceProcesses:
        """The child processes, for people."""
        return WorkspaceProcesses(self.children, self.mcp, self.lsp, self._jobs, self.places.logs)

    def use_parts(self, parts: AgentParts) -> None:
        """Give the sessions that are opened from now on, and those that are open, other parts."""
        self._parts = parts
        self.sessions.use_parts(parts)

    async def wait_for_servers(self) -> None:
        """Wait until no MCP server is starting, at most ten seconds headless and three else."""
        await self.mcp.wait_started(SERVER_WAIT_S[self.options.headless])

    def _approval_fault(self, error: HarnessError) -> None:
        notice = Notice("warning", "permissions", str(error), error.mend)
        self._loop.call_soon_threadsafe(self.surroundings.emit, notice)

    def _record_fault(self, text: str) -> None:
        self._loop.call_soon_threadsafe(self.surroundings.emit, Notice("warning", "sessions", text))

    async def reload(self) -> None:
        """Read everything again, after trust or configuration changed; open sessions go on with the new parts."""
        await asyncio.gather(self.mcp.close(), self.lsp.close(), self._builtin.close())
        self.surroundings.forget_servers()
        await self._build()
        self.use_parts(self._parts)

    async def start_servers(self, name: str | None = None) -> None:
        """Start every enabled MCP server, or ``name`` alone, and wait until each is ready or has failed."""
        servers = self.loaded.settings.mcp
        self.mcp.start(eager=True, only=name)
        waiting = [server for server in servers.values() if name in (None, server.name)]
        await self.mcp.wait_started(max((server.timeout.start for server in waiting), default=0.0) + 5.0)

    async def choose_model(self) -> str | None:
        """Return the configured model, else the one that keys or local servers offer, told by a notice; or ``None``."""
        flags, settings = self.options.flags, self.loaded.settings
        agent = settings.agents.get(flags.agent or settings.agent)
        named = flags.model or (agent.model if agent else None)
        if named is not None:
            return named
        if self._model is None:
            self._model = settings.model
        if self._model is None:
            choice = await self.models.default()
            if choice is not None:
                self._model = choice.model.name
                self.surroundings.emit(Notice("info", "models", choice.notice))
        return self._model

    @property
    def model(self) -> str | None:
        """The model of the sessions that are opened from now on, where one is configured or was found."""
        return self._model or self.loaded.settings.model

    def use_model(self, name: str) -> None:
        """Take ``name`` as the model of the sessions that are opened from now on."""
        self._model = name

    # --- sessions ------------------------------------------------------------------------------------

    async def new_session(self, *, session_id: str | None = None) -> LiveSession:
        """Create a session. Subscribe to its stream, then call :meth:`start_session`."""
        return await self.sessions.new(session_id=session_id)

    async def unrecorded_session(self) -> LiveSession:
        """Return a session that leaves no record, for calls by hand."""
        return self.sessions.unrecorded()

    async def resume(self, session: str) -> LiveSession:
        """Open a recorded session again, repaired. Raises ``HarnessError`` when it is open elsewhere."""
        return await self.sessions.resume(session)

    async def latest(self) -> str:
        """Return the id of the latest session of this project. Raises ``UsageError`` when there is none."""
        return await self.sessions.latest()

    async def start_session(self, live: LiveSession) -> None:
        """Announce ``live``, then tell it what it has to know of the surroundings."""
        await self.sessions.start(live)

    async def close_session(self, live: LiveSession) -> None:
        """End a session's run and close its record."""
        await self.sessions.close(live)

    async def close(self) -> None:
        """End runs, servers and children, in this order; returns when nothing is left. May be called twice."""
        if self._closed:
            return
        self._closed = True
        self.children.hurry()
        if self._sweeping is not None:
            self._sweeping.cancel()
        try:
            await self.sessions.close_all()
            await self._jobs.close()
            if hasattr(self, "mcp"):
                await asyncio.gather(self.mcp.close(), self.lsp.close(), self._builtin.close(), self.models.close())
        finally:
            await self.children.close()
            await asyncio.to_thread(self.store.close)
            await asyncio.to_thread(self.audit.close)

    async def forget_session(self, session: str) -> None:
        """End what a session left running, and drop what is kept of it."""
        await self._jobs.end(session)
        self._builtin.forget(session)
        self.library.forget(session)

    def notice(self, notice: Notice) -> None:
        """Tell every open session something."""
        self.surroundings.emit(notice)
