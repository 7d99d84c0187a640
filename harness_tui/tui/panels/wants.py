"""What the person wants when they press a key in the side panel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Insert:
    """``text`` belongs into the prompt."""

    text: str


@dataclass(frozen=True, slots=True)
class Preview:
    """The text of a skill's file is to be shown."""

    path: str


@dataclass(frozen=True, slots=True)
class Restart:
    """A server is to be started afresh; ``kind`` is ``mcp`` or ``lsp``."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Stop:
    """A process is to be ended, with everything that it started."""

    owner: str
    pid: int


@dataclass(frozen=True, slots=True)
class ShowOutput:
    """What a process wrote is to be read; ``pid`` is ``None`` for a server that does not run."""

    owner: str
    pid: int | None


@dataclass(frozen=True, slots=True)
class ShowTrace:
    """The last messages between a language server and us are to be read."""

    name: str


@dataclass(frozen=True, slots=True)
class QuickFix:
    """The call that has a language server mend what it says of ``line`` belongs into the prompt."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file of the project is to be opened at ``line`` in the person's editor."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class CancelTask:
    """A subagent is to be cancelled, and nothing else of the run."""

    run: str


@dataclass(frozen=True, slots=True)
class ShowTask:
    """What a subagent did is to be read."""

    session: str
    title: str


@dataclass(frozen=True, slots=True)
class Switch:
    """A part of requests is to be left out, or to be sent again."""

    part: str


@dataclass(frozen=True, slots=True)
class ShowChange:
    """Differences of files are to be read: ``(path, before, after)``, hashes, ``None`` where there is no file."""

    title: str
    files: tuple[tuple[str, str | None, str | None], ...]


@dataclass(frozen=True, slots=True)
class UndoRun:
    """A run is to be taken back, with every later one."""

    run: str


@dataclass(frozen=True, slots=True)
class Read:
    """A text is to be read whole."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Resize:
    """The panel is to be wider by so many columns."""

    columns: int


@dataclass(frozen=True, slots=True)
class Watch:
    """Another tab is shown."""


@dataclass(frozen=True, slots=True)
class Leave:
    """Back to the prompt."""


@dataclass(frozen=True, slots=True)
class Browse:
    """Look at what an MCP server offers: its tools, or its resources."""

    what: str
    server: str


Want: TypeAlias = (
    Insert
    | Preview
    | Restart
    | Stop
    | ShowOutput
    | ShowTrace
    | OpenFile
    | QuickFix
    | CancelTask
    | ShowTask
    | Switch
    | ShowChange
    | UndoRun
    | Read
    | Resize
    | Watch
    | Leave
    | Browse
)
