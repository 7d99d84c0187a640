"""The rows that the front end shows: what it needs to know of a session, a server, a rule, and nothing more.

Any frozen dataclass with these attributes is a row. Nothing here is imported at run time before the first frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from harness_tui.core.events import FileChanged
    from harness_tui.core.values import Action, Scope


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


class TurnRow(Protocol):
    """A run that can be taken back. ``text`` is its message, ``files`` are paths with lines added and removed.

    ``outside``: commands or servers worked in it too, and what they did stays.
    """

    @property
    def run(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def files(self) -> Sequence[tuple[str, int, int]]: ...
    @property
    def outside(self) -> bool: ...


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

    async def changes(self, session: str) -> Sequence[RunFiles]:
        """Return what each run of a session, with its subagents, did to files, the oldest first."""
        ...

    async def differences(self, files: Sequence[tuple[str, str | None, str | None]]) -> str:
        """Return the unified diffs of ``(path, before, after)``, hashes of kept contents.

        Where contents are not kept, or are no text, the diff of that file says so.
        """
        ...

    async def export(self, session: str, target: str) -> str:
        """Write a session to a file; return its path and size in words."""
        ...


class RunFiles(Protocol):
    """What one run did to files: changes with their times (RFC 3339). ``undone``: it was taken back."""

    @property
    def run(self) -> str: ...
    @property
    def began(self) -> str: ...
    @property
    def files(self) -> Sequence[tuple[str, FileChanged]]: ...
    @property
    def undone(self) -> bool: ...


class ModelRow(Protocol):
    """One model; a name that ends in ``/*`` stands for any of its provider.

    ``context`` in tokens, ``price`` a few characters (``$3 / $15``, for a million tokens of input and output).
    ``reason`` says why it is not ``available``, ``mend`` what to do about it; ``wants_key`` names the provider whose
    key is what it lacks.
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
    @property
    def wants_key(self) -> str | None: ...


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
