"""The seam between this front end and the workspace: what the TUI needs, and nothing more.

The workspace satisfies these Protocols by shape (it lies below and imports nothing of the TUI); rows are any frozen
dataclasses with these attributes. Nothing here is imported at run time before the first frame.

``run.run`` imports a backend by dotted name, ``package.module:factory``, and calls ``factory(start: Path, options:
StartOptions) -> Backend``. A factory is quick and leaves the disk alone: work belongs into :meth:`Backend.open`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from harness_tui.core.bus import Subscription
    from harness_tui.core.envelope import Envelope
    from harness_tui.core.intents import Intent
    from harness_tui.core.seams import ProposedFile
    from harness_tui.core.values import Scope
    from harness_tui.tui.backend_library import LibraryFiles
    from harness_tui.tui.backend_prompt import PromptAids
    from harness_tui.tui.backend_rows import (
        AgentRow,
        BackendInfo,
        ModelRow,
        PermissionRows,
        ProcessRow,
        SessionRecords,
        SessionRow,
        TrustState,
        TurnRow,
    )
    from harness_tui.tui.backend_servers import ServerOffers
    from harness_tui.tui.backend_settings import SettingsAccess


class StartOptions(Protocol):
    """What the command line asked for; ``None`` leaves it to the configuration.

    ``session`` resumes one, ``continue_latest`` the latest of this project.
    """

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


class BackendSession(Protocol):
    """One open session."""

    @property
    def id(self) -> str:
        """The session's identifier."""
        ...

    def subscribe(self) -> Subscription:
        """Return a raw reader of everything published from now on."""
        ...

    async def history(self) -> Sequence[Envelope]:
        """Return every event of the session up to now, in order, deltas left out or merged.

        The TUI subscribes first and reads the history then; events that come both ways are told apart by ``seq``.
        """
        ...

    async def proposal(self, request: str) -> Sequence[ProposedFile]:
        """Return the files of a request that waits, as they are and as they would be, for who alters them.

        Empty where there is nothing to alter. Raises ``HarnessError`` for what is no plain text.
        """
        ...

    async def turns(self) -> Sequence[TurnRow]:
        """Return the runs that can be taken back, the latest first. Raises ``HarnessError``."""
        ...

    async def send(self, intent: Intent) -> None:
        """Hand over what the person wants. One that does not fit is answered by a ``notice``."""
        ...


class Backend(Protocol):
    """One project's workspace. Methods may be called after :meth:`open` returned; they raise ``HarnessError``."""

    async def open(self) -> BackendInfo:
        """Read configuration and trust, build the parts. Starts no server that needs a trust not given."""
        ...

    async def start_session(self) -> BackendSession:
        """Return the session that the command line asked for: a new one, a named one, or the latest."""
        ...

    async def new_session(self) -> BackendSession:
        """Close the present session and open a new one."""
        ...

    async def resume(self, session: str) -> BackendSession:
        """Close the present session and open a recorded one. One that is open elsewhere raises ``HarnessError``."""
        ...

    @property
    def records(self) -> SessionRecords:
        """What can be done with recorded sessions."""
        ...

    async def sessions(self) -> Sequence[SessionRow]:
        """Return this project's sessions, latest first."""
        ...

    @property
    def library(self) -> LibraryFiles:
        """Commands and skills."""
        ...

    @property
    def settings(self) -> SettingsAccess:
        """The configuration."""
        ...

    @property
    def servers(self) -> ServerOffers:
        """What MCP servers offer: tools, resources, values while somebody types."""
        ...

    @property
    def prompt(self) -> PromptAids:
        """What the prompt needs: mentions, what was typed before, the editor, the clipboard."""
        ...

    async def models(self) -> Sequence[ModelRow]:
        """Return the models that are known, at once."""
        ...

    async def survey_models(self) -> Sequence[ModelRow]:
        """Return the models that there are, after asking servers and providers; takes a few seconds at most."""
        ...

    async def set_favourite(self, name: str, favourite: bool) -> None:
        """Make a model a favourite, or none."""
        ...

    async def keep_key(self, provider: str, key: str) -> str:
        """Keep a key of a provider, and say where. Raises ``HarnessError`` for what is none."""
        ...

    async def copy_text(self, text: str) -> str:
        """Put ``text`` on the clipboard by a tool of this desktop; return its name, empty where there is none."""
        ...

    async def agents(self) -> Sequence[AgentRow]:
        """Return the agents that a person can talk to."""
        ...

    async def tools(self) -> Sequence[str]:
        """Return the names of the tools known now, for the completion of ``/call``."""
        ...

    async def processes(self) -> Sequence[ProcessRow]:
        """Return the child processes that run now."""
        ...

    async def stop_process(self, owner: str, pid: int) -> None:
        """End a child process with everything that it started, and return when it is gone.

        A server stays stopped until it is restarted.
        """
        ...

    async def process_output(self, owner: str, pid: int | None) -> str:
        """Return the last of what it wrote: a server's standard error, the output of a command in the background.

        ``pid`` is ``None`` for a server that does not run. Empty where nothing is kept.
        """
        ...

    async def server_trace(self, name: str) -> str:
        """Return the last messages between a language server and us. Empty where there were none."""
        ...

    async def permissions(self) -> PermissionRows:
        """Return the rules and approvals that count in the present session."""
        ...

    async def revoke(self, scope: Scope, permission: str, pattern: str) -> int:
        """Take an approval back; return how many there were."""
        ...

    async def explain(self, text: str) -> Sequence[str]:
        """Return as lines why a call is decided as it is.

        ``text`` is ``TOOL {json}``, or ``TOOL value`` for a command, a path, a URL.
        """
        ...

    async def grant_trust(self) -> TrustState:
        """Trust the folder as it is now, and start what waited for that."""
        ...

    async def dismiss_trust(self) -> None:
        """Do not ask again until the content changes."""
        ...

    async def restart_server(self, kind: Literal["mcp", "lsp"], name: str) -> None:
        """Stop and start one server; its state comes as events. One that wants a login shows its page."""
        ...

    async def log_in(self, name: str) -> str:
        """Log in to an MCP server: its page is shown as a question of the session. Return what came of it."""
        ...

    async def log_out(self, name: str) -> str:
        """Forget the login of an MCP server. Return what came of it."""
        ...

    async def diagnose_server(self, name: str) -> Sequence[str]:
        """Start an MCP server, all of them without a ``name``, and say in lines how that went and what to do."""
        ...

    async def screen_values(self) -> Mapping[str, Any]:
        """Return what the person last chose of the screen, such as the panel's width; empty where nothing is kept."""
        ...

    async def keep_screen_value(self, name: str, value: Any) -> None:
        """Keep a choice for the next start. Never fails: it is not worth a word."""
        ...

    async def close(self) -> None:
        """End runs, servers and children; returns when nothing is left. May be called at any time, also twice."""
        ...
