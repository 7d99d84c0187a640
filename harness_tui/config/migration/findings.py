"""What was found in the files of another tool: what can be carried over, and what cannot, each with its place."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from harness_tui.core.record import record
from harness_tui.core.values import Action

if TYPE_CHECKING:
    from harness_tui.config.migration.agent_files import AgentFile

Level: TypeAlias = Literal["user", "project", "local"]
"""Whose a setting is: the person's everywhere, the project's, or the person's in this project alone."""

RANK: Final[dict[Action, int]] = {"allow": 0, "ask": 1, "deny": 2}
"""The order in which rules are written: within one file the last one that matches decides."""

CLOSED: Final = -2
"""The rank of a rule that closes everything which later ones open a part of."""

REOPENED: Final = -1
"""The rank of a rule that opens such a part."""


@record
class FoundRule:
    """A permission rule in our terms. ``where`` is ``file:line`` of what it was made of, ``was`` its text there.

    ``place`` is its rank where its action does not give it.
    """

    permission: str
    pattern: str
    action: Action
    where: str = ""
    was: str = ""
    place: int | None = None

    @property
    def rank(self) -> int:
        """Where it stands among the others."""
        return RANK[self.action] if self.place is None else self.place

    @property
    def key(self) -> tuple[str, str, Action]:
        """What two rules have in common that say the same."""
        return self.permission, self.pattern, self.action


@record
class Left:
    """Something that is not carried over: where it stands, what it is, and why."""

    where: str
    what: str
    why: str


@record
class FoundValue:
    """A value for our configuration, and the place of what it was made of."""

    value: Any
    where: str


@record
class Secret:
    """A secret in clear text: the variable that it is read from now, and where it stood. Never its value."""

    variable: str
    where: str
    what: str


@dataclass(slots=True)
class Findings:
    """What one level of another tool's settings holds. ``ordered`` tells that the order of ``rules`` has a meaning.

    ``values`` are single values by their keys (``("mcp", "time")``, ``("model",)``). ``keys`` are keys of providers in
    clear text, which are written nowhere by themselves; ``known`` are hashes of secrets by their variable.
    """

    level: Level
    ordered: bool = False
    rules: list[FoundRule] = field(default_factory=list[FoundRule])
    values: dict[tuple[str, ...], FoundValue] = field(default_factory=dict[tuple[str, ...], FoundValue])
    agents: list[AgentFile] = field(default_factory=list["AgentFile"])
    left: list[Left] = field(default_factory=list[Left])
    notes: list[Left] = field(default_factory=list[Left])
    secrets: list[Secret] = field(default_factory=list[Secret])
    keys: dict[str, str] = field(default_factory=dict[str, str])
    known: dict[str, str] = field(default_factory=dict[str, str])
    read: list[Path] = field(default_factory=list[Path])

    def leave(self, where: str, what: str, why: str) -> None:
        """Say that something is not carried over."""
        self.left.append(Left(where, what, why))

    def note(self, where: str, what: str, why: str) -> None:
        """Say something that a person should know and need not mend."""
        self.notes.append(Left(where, what, why))
