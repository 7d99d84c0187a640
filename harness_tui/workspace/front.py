"""The workspace as the TUI sees it: its seam, satisfied by shape."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

from harness_tui._version import __version__
from harness_tui.agent.live import LiveSession
from harness_tui.children.registry import ProcessInfo
from harness_tui.config.loader import Flags
from harness_tui.config.start_values import keep_start_values, read_start_values
from harness_tui.core.bus import Subscription
from harness_tui.core.envelope import Envelope
from harness_tui.core.errors import HarnessError
from harness_tui.core.events import Notice
from harness_tui.core.intents import Intent
from harness_tui.core.seams import ProposedFile
from harness_tui.core.values import Scope
from harness_tui.models.offline import NAME as OFFLINE
from harness_tui.models.providers import KEY_PROVIDERS, LOCAL_PROVIDERS
from harness_tui.sessions.store import SessionInfo
from harness_tui.workspace.clipboard import copy_text
from harness_tui.workspace.library import WorkspaceLibrary
from harness_tui.workspace.logins import ServerLogins
from harness_tui.workspace.model_rows import ModelRow, model_rows
from harness_tui.workspace.offers import ServerOffers
from harness_tui.workspace.permissions import PermissionRows, SessionPermissions
from harness_tui.workspace.prompt_aids import PromptAids
from harness_tui.workspace.records import SessionRecords
from harness_tui.workspace.rows import (
    AgentRow,
    Info,
    ProblemRow,
    TrustState,
    trust_rows,
)
from harness_tui.workspace.settings import WorkspaceSettings
from harness_tui.workspace.turns import TurnRow, turn_rows
from harness_tui.workspace.workspace import OpenOptions, Workspace

_NO_MODEL = "No model yet. Commands, skills, /call, !shell, MCP servers and diagnostics work without one."
_GET_ONE = (
    f"looked for keys of {', '.join(entry.name for entry in KEY_PROVIDERS)}, in the environment and kept ones, and for"
    f" {', '.join(server.title for server in LOCAL_PROVIDERS)} on this machine. Type /model: it asks for a key where"
    " you choose a provider, and shows a server that you start now. Any message tells of more ways"
)


class StartOptions(Protocol):
    """What the command line asked for."""

    @property
    def agent(self) -> str | None: ...
    @property
    def model(self) -> str | None: ...
    @property
    def mode(self) -> str | None: ...
    @property
    def session(self) -> str | None: ...
    @property
    def continue_latest(self) -> bool: ...


class OpenSession:
    """A live session, as the TUI sees it."""

    def __init__(self, workspace: Workspace, live: LiveSession) -> None:
        self._workspace = workspace
        self.live = live

    @property
    def id(self) -> str:
        """The session's identifier."""
        return self.live.id

    def subscribe(self) -> Subscription:
        """Return a raw reader of everything published from now on."""
        return self.live.stream.subscribe()

    async def history(self) -> Sequence[Envelope]:
        """Return every recorded event up to now."""
        store, session = self._workspace.store, self.live.id
        await self.live.flush()
        return await asyncio.to_thread(lambda: list(store.events(session)))

    async def proposal(self, request: str) -> Sequence[ProposedFile]:
        """Return the files of a request that waits, as they are and as they would be."""
        return await self.live.proposal(request)

    async def turns(self) -> Sequence[TurnRow]:
        """Return the runs that can be taken back, the latest first."""
        store, session = self._workspace.store, self.live.id
        await self.live.flush()
        return turn_rows(await asyncio.to_thread(store.undo_log, session))

    async def send(self, intent: Intent) -> None:
        """Hand over what the person wants."""
        await self.live.send(intent)


class WorkspaceBackend:
    """One project's workspace for one TUI."""

    def __init__(self, start: Path, options: StartOptions) -> None:
        self._start = start
        self._options = options
        self._workspace: Workspace | None = None
        self._session: OpenSession | None = None
        self._prompt: PromptAids | None = None

    @property
    def workspace(self) -> Workspace:
        """The open workspace. Raises ``HarnessError`` before :meth:`open` and after :meth:`close`."""
        if self._workspace is None:
            raise HarnessError("the project is not open")
        return self._workspace

    async def open(self) -> Info:
        """Read configuration and trust, build the parts, start the servers that may be started."""
        flags = Flags(model=self._options.model, agent=self._options.agent, mode=self._options.mode)
        options = OpenOptions(flags=flags, policy="person", headless=False)
        self._workspace = workspace = await Workspace.open(self._start, options)
        problems = tuple(
            ProblemRow(problem.level, problem.where, problem.message, problem.mend)
            for problem in workspace.loaded.problems
        )
        return Info(str(workspace.project.root), __version__, self._trust(), problems)

    @property
    def trust(self) -> TrustState:
        """The folder's trust as it was read last."""
        return self._trust()

    def _trust(self) -> TrustState:
        trust = self.workspace.loaded.trust
        return TrustState(trust.trusted, trust.ask, trust_rows(trust.files))

    # --- sessions ------------------------------------------------------------------------------------

    async def start_session(self) -> OpenSession:
        """Return the session that the command line asked for."""
        workspace = self.workspace
        if await workspace.choose_model() is None:
            workspace.use_model(OFFLINE)
            workspace.notice(Notice("info", "models", _NO_MODEL, _GET_ONE))
        if self._options.session is not None:
            return await self._take(await workspace.resume(self._options.session))
        if self._options.continue_latest:
            return await self._take(await workspace.resume(await workspace.latest()))
        return await self._take(await workspace.new_session())

    async def new_session(self) -> OpenSession:
        """Close the present session and open a new one."""
        return await self._take(await self.workspace.new_session())

    async def resume(self, session: str) -> OpenSession:
        """Close the present session and open a recorded one."""
        if self._session is not None and self._session.id == session:
            return self._session
        return await self._take(await self.workspace.resume(session))

    async def _take(self, live: LiveSession) -> OpenSession:
        if self._session is not None:
            await self.workspace.close_session(self._session.live)
        self._session = OpenSession(self.workspace, live)
        await self.workspace.start_session(live)
        return self._session

    @property
    def records(self) -> SessionRecords:
        """What can be done with recorded sessions."""
        return SessionRecords(self.workspace)

    async def sessions(self) -> Sequence[SessionInfo]:
        """Return this project's sessions, latest first, without those of subagents."""
        workspace = self.workspace
        found = await asyncio.to_thread(workspace.store.list, workspace.project.root)
        return [info for info in found if info.parent is None]

    # --- what there is -------------------------------------------------------------------------------

    @property
    def library(self) -> WorkspaceLibrary:
        """Commands and skills, as the present session may use them."""
        settings = self.workspace.loaded.settings
        if self._session is None:
            return WorkspaceLibrary(self.workspace, session="", agent=settings.agent, mode=settings.mode)
        choice = self._session.live.choice
        return WorkspaceLibrary(self.workspace, session=self._session.id, agent=choice.agent, mode=choice.mode)

    @property
    def prompt(self) -> PromptAids:
        """What the prompt needs: mentions, what was typed before, the editor, the clipboard."""
        if self._prompt is None:
            self._prompt = PromptAids(self.workspace)
        return self._prompt

    @property
    def settings(self) -> WorkspaceSettings:
        """The configuration."""
        return WorkspaceSettings(self.workspace)

    @property
    def servers(self) -> ServerOffers:
        """What MCP servers offer."""
        settings = self.workspace.loaded.settings
        if self._session is None:
            return ServerOffers(self.workspace, session="", agent=settings.agent, mode=settings.mode)
        choice = self._session.live.choice
        return ServerOffers(self.workspace, session=self._session.id, agent=choice.agent, mode=choice.mode)

    async def models(self) -> Sequence[ModelRow]:
        """Return the models that are known, at once."""
        return model_rows(await asyncio.to_thread(self.workspace.models.list))

    async def survey_models(self) -> Sequence[ModelRow]:
        """Return the models that there are, after asking servers and providers; takes a few seconds at most."""
        catalogue = self.workspace.models.catalogue
        found = await catalogue.survey(ask_hosted=True)
        return model_rows(await asyncio.to_thread(catalogue.priced, found))

    async def set_favourite(self, name: str, favourite: bool) -> None:
        """Make a model a favourite, or none."""
        await asyncio.to_thread(self.workspace.models.set_favourite, name, favourite)

    async def keep_key(self, provider: str, key: str) -> str:
        """Keep a key of a provider, and say where. Raises ``HarnessError`` for what is none."""
        return await asyncio.to_thread(self.workspace.models.keep_key, provider, key)

    async def copy_text(self, text: str) -> str:
        """Put ``text`` on the clipboard by a tool of this desktop; return its name, empty where there is none."""
        workspace = self.workspace
        return await copy_text(workspace.children, text, workspace.options.environ, workspace.project.start)

    async def agents(self) -> Sequence[AgentRow]:
        """Return the agents that a person can talk to."""
        agents = self.workspace.loaded.settings.agents.values()
        return [AgentRow(agent.name, agent.description) for agent in agents if agent.mode != "subagent"]

    async def tools(self) -> Sequence[str]:
        """Return the names of the tools known now."""
        return sorted(self.workspace.parts.tools())

    # --- processes -----------------------------------------------------------------------------------

    async def processes(self) -> Sequence[ProcessInfo]:
        """Return the child processes that run now."""
        return await self.workspace.processes.list()

    async def stop_process(self, owner: str, pid: int) -> None:
        """End a child process with everything that it started; a server stays stopped until it is restarted."""
        await self.workspace.processes.stop(owner, pid)

    async def process_output(self, owner: str, pid: int | None) -> str:
        """Return the last of what it wrote: a server's standard error, the output of a command in the background."""
        return await self.workspace.processes.output(owner, pid)

    async def server_trace(self, name: str) -> str:
        """Return the last messages between a language server and us."""
        return await asyncio.to_thread(self.workspace.lsp.trace, name)

    # --- permissions ---------------------------------------------------------------------------------

    async def permissions(self) -> PermissionRows:
        """Return the rules and approvals that count in the present session."""
        return await self._permissions().rows()

    async def revoke(self, scope: Scope, permission: str, pattern: str) -> int:
        """Take an approval back; return how many there were."""
        return await self._permissions().revoke(scope, permission, pattern)

    async def explain(self, text: str) -> Sequence[str]:
        """Return as lines why a call is decided as it is."""
        return await self._permissions().explain(text)

    def _permissions(self) -> SessionPermissions:
        if self._session is None:
            raise HarnessError("there is no session yet")
        choice = self._session.live.choice
        return SessionPermissions(self.workspace, session=self._session.id, agent=choice.agent, mode=choice.mode)

    # --- what a person decides -----------------------------------------------------------------------

    async def grant_trust(self) -> TrustState:
        """Trust the folder as it was shown, and start what waited for that.

        Raises ``RefusedError`` when the content changed since it was shown.
        """
        workspace = self.workspace
        await asyncio.to_thread(workspace.trust.grant, workspace.project, seen=workspace.loaded.trust)
        await workspace.reload()
        return self._trust()

    async def dismiss_trust(self) -> None:
        """Do not ask again until the content changes."""
        workspace = self.workspace
        await asyncio.to_thread(workspace.trust.dismiss, workspace.project)

    async def restart_server(self, kind: Literal["mcp", "lsp"], name: str) -> None:
        """Stop and start one server. One that wants a login shows its page."""
        if kind == "lsp":
            await self.workspace.lsp.restart(name)
        else:
            await self._logins().restart(name)

    async def log_in(self, name: str) -> str:
        """Log in to an MCP server in the present session, and say what came of it."""
        return await self._logins().log_in(name)

    async def log_out(self, name: str) -> str:
        """Forget the login of an MCP server, and say what came of it."""
        return await self._logins().log_out(name)

    def _logins(self) -> ServerLogins:
        return ServerLogins(self.workspace, self._session.live.ask if self._session is not None else None)

    async def diagnose_server(self, name: str) -> Sequence[str]:
        """Start an MCP server, all of them without a ``name``, and say in lines how that went and what to do."""
        names = [name] if name else sorted(self.workspace.loaded.settings.mcp)
        found = await asyncio.gather(*(self.workspace.mcp.diagnose(one) for one in names))
        none = ["no MCP server is configured; `harness mcp add` adds one"]
        return [line for one in found for line in one.lines()] or none

    async def screen_values(self) -> Mapping[str, Any]:
        """Return what the person last chose of the screen; empty where nothing is kept."""
        return await asyncio.to_thread(read_start_values, self.workspace.places.start_file)

    async def keep_screen_value(self, name: str, value: Any) -> None:
        """Keep a choice for the next start."""
        await asyncio.to_thread(keep_start_values, self.workspace.places.start_file, {name: value})

    async def close(self) -> None:
        """End runs, servers and children."""
        if self._prompt is not None:
            await self._prompt.close()
        if self._workspace is not None:
            await self._workspace.close()


def create_backend(start: Path, options: StartOptions) -> WorkspaceBackend:
    """Return the backend of the project of ``start``; nothing is read before it is opened."""
    return WorkspaceBackend(start, options)
