"""Every MCP server of one project: the entry of this package.

The pool starts servers, keeps their tools and prompts known under stable names, tells what changes, and ends all of it.
One server that cannot start costs the others nothing. Nothing here imports the SDK.
"""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Container, Coroutine, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from harness_tui.config.settings import McpServerSettings
from harness_tui.core.errors import HarnessError
from harness_tui.core.events import Notice, ServerChanged
from harness_tui.core.patterns import matches
from harness_tui.core.redaction import REDACTOR, SECRET_NAMES
from harness_tui.core.seams import AuditSink, EventSink, ProcessSpawner, PromptMessage, PromptSpec
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.egress.egress import Egress
from harness_tui.mcp.calling import Calling
from harness_tui.mcp.deadlines import OnProgress
from harness_tui.mcp.diagnosis import Diagnosis, diagnose
from harness_tui.mcp.listing import CallOutcome, Listing, ServerStatus, ToolDefinition, changes
from harness_tui.mcp.manifest import ManifestCache
from harness_tui.mcp.means import Means
from harness_tui.mcp.names import exposed_names, sanitised
from harness_tui.mcp.people import People
from harness_tui.mcp.prompts import McpPrompts, not_ready
from harness_tui.mcp.reasons import CallError
from harness_tui.mcp.remote_skills import McpSkills
from harness_tui.mcp.resources import McpResources
from harness_tui.mcp.supervisor import Supervisor
from harness_tui.mcp.task_results import McpTasks
from harness_tui.mcp.token_store import TokenStore
from harness_tui.mcp.tool import McpTool

STARTS_AT_ONCE: Final = 3


class McpPool:
    """A ``ToolSource`` and a ``PromptSource`` over all configured servers.

    ``resources`` is their ``ResourceSource``, ``skills`` their ``RemoteSkillSource``, ``tasks`` their ``LateResults``.

    ``cache_dir`` holds manifests, ``root`` is the project root, ``reserved`` are the names of built-in tools.
    ``people``: servers may ask a person while they are called; ``logins`` is the file that keeps logins.
    Untrusted, disabled and faulty entries are listed with their reason and never started.
    """

    def __init__(
        self,
        servers: Mapping[str, McpServerSettings],
        *,
        spawner: ProcessSpawner,
        sink: EventSink,
        egress: Egress | None = None,
        audit: AuditSink | None = None,
        cache_dir: Path,
        root: Path,
        reserved: Container[str] = (),
        people: bool = False,
        logins: Path | None = None,
    ) -> None:
        self._sink = sink
        self._audit = audit
        self._cache = ManifestCache(cache_dir, root)
        self._reserved = reserved
        slots = asyncio.Semaphore(STARTS_AT_ONCE)
        store = TokenStore(logins or cache_dir / "logins.json")
        means = Means(spawner, egress or Egress(audit=audit), root, People(present=people, audit=audit), store)
        self._supervisors = {
            name: Supervisor(servers[name], means=means, events=self, slots=slots) for name in sorted(servers)
        }
        self.resources = McpResources(self._supervisors, self._supervisor)
        self.skills = McpSkills(self._supervisors, self._supervisor)
        self._calling = Calling(self._supervisor, audit)
        self.tasks = McpTasks(self._calling, self._supervisor)
        self._prompts = McpPrompts(self._supervisors, self._supervisor)
        self._tools: dict[str, McpTool] | None = None
        self._costs: dict[str, tuple[Listing | None, int, int]] = {}
        self._opening: asyncio.Task[None] | None = None
        self._loaded = False
        self._background: set[asyncio.Task[None]] = set()
        for server in servers.values():
            _register_secrets(server)

    # --- life ------------------------------------------------------------------------------------

    def start(self, *, eager: bool = False, only: str | None = None) -> None:
        """Begin, in the background: read manifests, then start what is not lazy or not known.

        With ``eager`` all are started; with ``only`` no other server than that one.
        """
        self._opening = asyncio.create_task(self._open(self._opening, eager, only), name="mcp-open")

    async def _open(self, before: asyncio.Task[None] | None, eager: bool, only: str | None) -> None:
        if before is not None:
            await asyncio.wait({before})
        await self.load()
        for name, supervisor in self._supervisors.items():
            if only not in (None, name):
                continue
            wanted = eager or not supervisor.server.lazy or supervisor.listing is None
            if not wanted or supervisor.begin() is None:
                self.state_changed(supervisor)

    async def load(self) -> None:
        """Read the cached manifests, starting nothing: enough to list what is known."""
        if self._loaded:
            return
        self._loaded = True
        waiting = [supervisor for supervisor in self._supervisors.values() if supervisor.startable]
        cached = await asyncio.to_thread(lambda: [self._cache.load(supervisor.server) for supervisor in waiting])
        for supervisor, listing in zip(waiting, cached, strict=True):
            if listing is not None and supervisor.listing is None:
                supervisor.listing = listing
        self._tools = None

    async def wait_started(self, timeout: float | None = None) -> bool:
        """Wait until no server is starting, ``timeout`` seconds at most; tell whether that is so."""
        try:
            async with asyncio.timeout(timeout):
                while pending := self._pending():
                    await asyncio.wait(pending)
        except TimeoutError:
            return False
        return True

    def _pending(self) -> list[asyncio.Task[None]]:
        tasks = [self._opening] if self._opening is not None and not self._opening.done() else []
        starts = (supervisor.starting for supervisor in self._supervisors.values())
        return tasks + [start for start in starts if start is not None]

    async def restart(self, name: str) -> ServerStatus:
        """Start ``name`` afresh and return its state then. Raises ``HarnessError`` when it may not be started."""
        supervisor = self._supervisor(name)
        await supervisor.restart()
        return self._status(supervisor)

    async def diagnose(self, name: str) -> Diagnosis:
        """Start ``name`` if it does not run, and explain how that went. Raises ``HarnessError`` for an unknown one."""
        supervisor = self._supervisor(name)
        await self.load()
        return await diagnose(supervisor, self._status)

    async def stop(self, name: str) -> ServerStatus:
        """End ``name`` until it is restarted and return its state then. Raises ``HarnessError`` as :meth:`restart`."""
        supervisor = self._supervisor(name)
        await supervisor.stop()
        return self._status(supervisor)

    async def close(self) -> None:
        """End every server, in parallel and bounded."""
        if self._opening is not None and not self._opening.done():
            self._opening.cancel()
            await asyncio.wait({self._opening})
        await asyncio.gather(*(supervisor.close() for supervisor in self._supervisors.values()))
        if self._background:
            await asyncio.wait(self._background)

    # --- tools -----------------------------------------------------------------------------------

    def tools(self) -> Sequence[McpTool]:
        """Return the enabled tools of all servers known now, sorted by name."""
        return tuple(self._named().values())

    def find(self, name: str) -> McpTool | None:
        """Return the tool that models know as ``name``."""
        return self._named().get(name)

    async def late_tool(self, name: str) -> McpTool | None:
        """Return a tool that is not known yet once its server has started, ``None`` when no server could have it.

        Which servers could is told by the beginning of ``name``. Raises ``CallError`` with the reason of the one that
        cannot tell its tools, ``RefusedError`` for one that is not trusted: a configured server is never answered for
        with *no such tool*.
        """
        able = [
            supervisor
            for supervisor in self._supervisors.values()
            if supervisor.listing is None and name.startswith(sanitised(f"{supervisor.server.name}_"))
        ]
        for supervisor in sorted(able, key=lambda one: -len(one.server.name)):
            start = supervisor.begin()
            if start is not None:
                await asyncio.wait({start})
            if (found := self.find(name)) is not None:
                return found
            if supervisor.listing is None:
                raise not_ready(supervisor)
        return self.find(name)

    def server_tools(self, name: str) -> Sequence[McpTool]:
        """Return the enabled tools of one server. Raises ``HarnessError`` for an unknown server."""
        self._supervisor(name)
        return tuple(tool for tool in self._named().values() if tool.server == name)

    def catalogue(self) -> Sequence[tuple[str, ToolDefinition, McpTool | None]]:
        """Return the known tools of all servers, by server and name; ``None`` for one that configuration keeps back."""
        offered = {(tool.server, tool.definition.name): tool for tool in self._named().values()}
        return [
            (name, definition, offered.get((name, definition.name)))
            for name, supervisor in self._supervisors.items()
            if supervisor.offered and supervisor.listing is not None
            for definition in supervisor.listing.tools
        ]

    def _named(self) -> dict[str, McpTool]:
        if self._tools is None:
            known = {
                (name, definition.name): definition
                for name, supervisor in self._supervisors.items()
                for definition in _enabled(supervisor)
            }
            names = exposed_names(known, self._reserved)
            self._tools = {name: McpTool(name, pair[0], known[pair], self) for name, pair in sorted(names.items())}
        return self._tools

    async def call(
        self,
        server: str,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        on_progress: OnProgress | None = None,
        fingerprint: str | None = None,
    ) -> CallOutcome:
        """Call ``tool`` (the server's own name for it), starting the server or waiting for its start.

        With ``fingerprint`` the call is made only while the tool's definition still has it. Raises ``HarnessError`` for
        an unknown server and ``CallError`` (a ``ToolError``) with the reason for everything else.
        """
        supervisor = self._supervisor(server)
        if not _allows(supervisor.server, tool):
            raise CallError(f"{tool} is disabled in the configuration", where=f"MCP server {server}")
        return await self._calling.call(server, tool, arguments, on_progress=on_progress, fingerprint=fingerprint)

    # --- prompts and resources -------------------------------------------------------------------

    def prompts(self) -> Sequence[PromptSpec]:
        """Return the prompts of all servers known now, by server, then name."""
        return self._prompts.prompts()

    async def late_prompts(self, command: str) -> bool:
        """Wait for the start of the server that ``command`` names; see :meth:`McpPrompts.late_prompts`."""
        return await self._prompts.late_prompts(command)

    async def get_prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> Sequence[PromptMessage]:
        """Fetch a prompt's messages, starting the server when needed. Raises ``HarnessError``."""
        return await self._prompts.get_prompt(server, name, arguments)

    # --- what is known ---------------------------------------------------------------------------

    def status(self) -> list[ServerStatus]:
        """Return one line for each configured server, sorted by name."""
        return [self._status(supervisor) for supervisor in self._supervisors.values()]

    def states(self) -> list[ServerChanged]:
        """Return the present state of every server as events: what a new session is told first."""
        return [self._changed(supervisor) for supervisor in self._supervisors.values()]

    def _status(self, supervisor: Supervisor) -> ServerStatus:
        server, listing = supervisor.server, supervisor.listing
        tools, tokens = self._cost(supervisor)
        return ServerStatus(
            name=server.name,
            state=supervisor.state,
            reason=supervisor.reason,
            protocol=listing.protocol if listing is not None else None,
            transport="stdio" if not server.url else "sse" if server.transport == "sse" else "http",
            tools=tools,
            tokens=tokens,
            stderr_tail=supervisor.stderr_tail,
            source=server.source,
            mend=supervisor.mend,
        )

    def _changed(self, supervisor: Supervisor) -> ServerChanged:
        detail = replace(supervisor.detail, tokens=self._cost(supervisor)[1] or None)
        return ServerChanged("mcp", supervisor.server.name, supervisor.state, detail, supervisor.reason)

    def _cost(self, supervisor: Supervisor) -> tuple[int, int]:
        """Return how many tools a server offers, and what they take in a request; counted once for a listing."""
        name, listing = supervisor.server.name, supervisor.listing
        known = self._costs.get(name)
        if known is None or known[0] is not listing:
            offered = _enabled(supervisor)
            known = self._costs[name] = (listing, len(offered), sum(definition.tokens for definition in offered))
        return known[1], known[2]

    def _supervisor(self, name: str) -> Supervisor:
        supervisor = self._supervisors.get(name)
        if supervisor is not None:
            return supervisor
        near = difflib.get_close_matches(name, self._supervisors, n=1)
        listed = ", ".join(self._supervisors) or "none"
        raise HarnessError(
            "no MCP server of this name is configured",
            where=name,
            mend=f"did you mean {near[0]}?" if near else f"configured: {listed}",
            code="unknown-server",
        )

    # --- what supervisors tell -------------------------------------------------------------------

    def state_changed(self, supervisor: Supervisor) -> None:
        """Publish a server's state, and a notice when it failed."""
        self._sink.emit(self._changed(supervisor))
        name = supervisor.server.name
        if self._audit is not None:
            self._audit.record("mcp_server", server=name, state=supervisor.state, reason=supervisor.reason)
        if supervisor.state in ("failed", "needs_auth") and supervisor.startable:
            retry = f"`harness mcp doctor {name}` explains it; r in the panel Servers (F2) starts it again"
            hint = f"{supervisor.mend}; {retry}" if supervisor.mend else retry
            if supervisor.state == "needs_auth" and supervisor.mend:  # that is all there is to do
                hint = supervisor.mend
            self._notice("error", name, f"MCP server {name}: {supervisor.reason}", hint)

    def listing_changed(self, supervisor: Supervisor, before: Listing | None) -> None:
        """Take up what a server offers now, keep it for the next time, and tell what changed."""
        self._tools = None
        listing, name = supervisor.listing, supervisor.server.name
        if listing is None:
            return
        self._accompany(self._keep(supervisor, listing))
        if listing.remark is not None and (before is None or before.remark != listing.remark):
            self._notice("warning", name, f"MCP server {name}: {listing.remark}", None)
        told = changes(before, listing) if before is not None else ""
        if told:
            self._notice("info", name, f"the tools of MCP server {name} changed: {told}", None)

    def resource_changed(self, supervisor: Supervisor, uri: str) -> None:
        """Tell that a resource that was attached is another one by now."""
        name = supervisor.server.name
        shown = cut_end(clean_for_display(f"{name}:{uri}", one_line=True), 200)
        self._notice("info", name, f"the resource {shown} changed", f"mention @{shown} again to attach it as it is now")

    def remarked(self, supervisor: Supervisor, text: str) -> None:
        """Publish something odd that a server does."""
        name = supervisor.server.name
        self._notice("warning", name, f"MCP server {name}: {text}", None)

    def _notice(self, level: Any, server: str, text: str, hint: str | None) -> None:
        self._sink.emit(Notice(level, f"mcp:{server}", text, hint))

    def _accompany(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(coroutine)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _keep(self, supervisor: Supervisor, listing: Listing) -> None:
        try:
            await asyncio.to_thread(self._cache.save, supervisor.server, listing)
        except OSError as error:
            self.remarked(supervisor, f"what it offers could not be cached: {error.strerror or error}")


def _enabled(supervisor: Supervisor) -> Sequence[ToolDefinition]:
    if supervisor.listing is None or not supervisor.offered:
        return ()
    return [definition for definition in supervisor.listing.tools if _allows(supervisor.server, definition.name)]


def _allows(server: McpServerSettings, tool: str) -> bool:
    """Tell whether configuration lets ``tool`` through; of several patterns that fit it the last one counts."""
    allowed = True
    for pattern, enabled in server.tools.items():
        if matches(pattern, tool):
            allowed = enabled
    return allowed


def _register_secrets(server: McpServerSettings) -> None:
    for value in server.headers.values():
        REDACTOR.add(value)
    for name, value in server.env.items():
        if SECRET_NAMES.search(name):
            REDACTOR.add(value)
