"""The seam between this front end and the workspace: what the TUI needs, and nothing more.

The workspace satisfies these Protocols by shape (it lies below and imports nothing of the TUI); rows are any frozen
dataclasses with these attributes. Nothing here is imported at run time before the first frame.

``run.run`` imports a backend by dotted name, ``package.module:factory``, and calls ``factory(start: Path, options:
StartOptions) -> Backend``. A factory is quick and leaves the disk alone: work belongs into :meth:`Backend.open`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from harness_tui.core.bus import Subscription
    from harness_tui.core.envelope import Envelope
    from harness_tui.core.intents import Intent
    from harness_tui.core.values import Action, Scope


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


class ProblemRow(Protocol):
    """A fault in a file. ``where`` is ``file:line``, ``mend`` says what to do."""

    @property
    def level(self) -> Literal["info", "warning", "error"]: ...
    @property
    def where(self) -> str | None: ...
    @property
    def text(self) -> str: ...
    @property
    def mend(self) -> str | None: ...


class TrustItem(Protocol):
    """One thing that the folder brings along and that waits for trust.

    ``kind`` says how it changed since trust was given (``new``, ``changed``, ``removed``), empty where it never was.
    ``text`` says what would run or be allowed, ``source`` its file (``file:line`` where known).
    """

    @property
    def kind(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def source(self) -> str: ...


class TrustState(Protocol):
    """The folder's trust. ``ask``: the dialog is due (there is something to trust, not dismissed as it is now)."""

    @property
    def trusted(self) -> bool: ...
    @property
    def ask(self) -> bool: ...
    @property
    def items(self) -> Sequence[TrustItem]: ...


class BackendInfo(Protocol):
    """An open workspace. ``root`` is the project root; ``problems`` are the configuration's."""

    @property
    def root(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def trust(self) -> TrustState: ...
    @property
    def problems(self) -> Sequence[ProblemRow]: ...


class SessionRow(Protocol):
    """One recorded session. ``updated`` is RFC 3339 UTC; ``live`` means open in a running program."""

    @property
    def session(self) -> str: ...
    @property
    def title(self) -> str | None: ...
    @property
    def updated(self) -> str: ...
    @property
    def messages(self) -> int: ...
    @property
    def live(self) -> bool: ...


class ForkPoint(Protocol):
    """A message of the person's; a fork before it ends with the event ``seq``."""

    @property
    def seq(self) -> int: ...
    @property
    def text(self) -> str: ...


class SessionRecords(Protocol):
    """What can be done with recorded sessions, open ones too. Each raises ``HarnessError``."""

    async def fork_points(self, session: str) -> Sequence[ForkPoint]:
        """Return where the person spoke, the latest first."""
        ...

    async def fork(self, session: str, at: int | None) -> str:
        """Copy a session, up to the event ``at`` or whole, and return the copy's id."""
        ...

    async def text(self, session: str) -> str:
        """Return a session as Markdown."""
        ...

    async def export(self, session: str, target: str) -> str:
        """Write a session to a file; return its path and size in words."""
        ...


class CommandRow(Protocol):
    """One command: a file, bundled, or a server's prompt. ``source`` is a word or path that tells which."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def argument_hint(self) -> str | None: ...
    @property
    def source(self) -> str: ...
    @property
    def trusted(self) -> bool: ...
    @property
    def hidden(self) -> bool: ...


class SkillRow(Protocol):
    """One skill. ``slash`` is its name as a command; ``hidden_reason`` says why the model is not offered it."""

    @property
    def name(self) -> str: ...
    @property
    def slash(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def argument_hint(self) -> str | None: ...
    @property
    def source(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def trusted(self) -> bool: ...
    @property
    def hidden_reason(self) -> str | None: ...


class ModelRow(Protocol):
    """One model; a name that ends in ``/*`` stands for any of its provider.

    ``context`` in tokens, ``price`` a few characters (``$3 / $15``, for a million tokens of input and output).
    ``reason`` says why it is not ``available``, ``mend`` what to do about it.
    """

    @property
    def name(self) -> str: ...
    @property
    def context(self) -> int | None: ...
    @property
    def price(self) -> str | None: ...
    @property
    def aliases(self) -> Sequence[str]: ...
    @property
    def favourite(self) -> bool: ...
    @property
    def available(self) -> bool: ...
    @property
    def reason(self) -> str | None: ...
    @property
    def mend(self) -> str | None: ...


class AgentRow(Protocol):
    """One agent that a person can talk to."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...


class DescendantRow(Protocol):
    """A process that a child started, directly or not. ``rss`` in bytes, ``cpu`` in seconds."""

    @property
    def pid(self) -> int: ...
    @property
    def ppid(self) -> int: ...
    @property
    def rss(self) -> int: ...
    @property
    def cpu(self) -> float: ...
    @property
    def command(self) -> Sequence[str]: ...


class ProcessRow(Protocol):
    """One child process. ``started`` is RFC 3339 UTC, ``rss`` in bytes, ``cpu`` in seconds.

    ``restarts`` are the earlier starts of its owner, ``tree`` what it started, parents first.
    """

    @property
    def owner(self) -> str: ...
    @property
    def pid(self) -> int: ...
    @property
    def started(self) -> str: ...
    @property
    def rss(self) -> int: ...
    @property
    def cpu(self) -> float: ...
    @property
    def restarts(self) -> int: ...
    @property
    def command(self) -> Sequence[str]: ...
    @property
    def tree(self) -> Sequence[DescendantRow]: ...


class RuleRow(Protocol):
    """One permission rule; ``source`` is ``file:line``, or says where else it comes from."""

    @property
    def permission(self) -> str: ...
    @property
    def pattern(self) -> str: ...
    @property
    def action(self) -> Action: ...
    @property
    def layer(self) -> str: ...
    @property
    def source(self) -> str: ...


class ApprovalRow(Protocol):
    """One approval; ``added`` is RFC 3339 UTC. ``bound``: it holds while the tool is described as it was."""

    @property
    def scope(self) -> Scope: ...
    @property
    def permission(self) -> str: ...
    @property
    def pattern(self) -> str: ...
    @property
    def added(self) -> str: ...
    @property
    def bound(self) -> bool: ...


class PermissionRows(Protocol):
    """Rules in the order in which they are asked, approvals newest first, and what is wrong with their file."""

    @property
    def agent(self) -> str: ...
    @property
    def mode(self) -> str: ...
    @property
    def rules(self) -> Sequence[RuleRow]: ...
    @property
    def approvals(self) -> Sequence[ApprovalRow]: ...
    @property
    def problems(self) -> Sequence[str]: ...


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

    async def commands(self) -> Sequence[CommandRow]:
        """Return all commands but the TUI's own, in the order of their names."""
        ...

    async def skills(self) -> Sequence[SkillRow]:
        """Return all skills, those that cannot be used as well."""
        ...

    async def skill_text(self, path: str) -> str:
        """Return a skill's file for the preview."""
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
        """Stop and start one server; its state comes as events."""
        ...

    async def close(self) -> None:
        """End runs, servers and children; returns when nothing is left. May be called at any time, also twice."""
        ...
