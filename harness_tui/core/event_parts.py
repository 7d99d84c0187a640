"""The records that events are made of: previews, offers, references, details of servers."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from harness_tui.core.messages import Attachment
from harness_tui.core.record import record
from harness_tui.core.values import Action


@record
class Parent:
    """The call of another session that this session works for."""

    session: str
    run: str
    call: str


@record
class CommandRef:
    """The command a message was expanded from; ``source`` is its file, or the server of a prompt."""

    name: str
    source: str


@record
class Truncation:
    """Where the whole of a cut output is, and how large it is."""

    path: str
    bytes: int


@record
class CommandPart:
    """One simple command of a shell text with the decision on it."""

    command: str
    decision: Action


@record
class PreviewFile:
    """One of several files of a change, with the SHA-256 of its bytes before (absent for a new file) and after (absent
    for one that goes), and how many lines are added and removed."""

    path: str
    added: int
    removed: int
    before_hash: str | None = None
    after_hash: str | None = None


@record
class DiffPreview:
    """A unified diff; ``before_hash`` is the SHA-256 of the file it was made from, absent for a new file.

    Of a change of several files ``files`` names them all; ``path`` and ``before_hash`` are those of the first, and
    ``text`` holds the diff of each after a line ``diff PATH``.
    """

    path: str
    text: str
    before_hash: str | None = None
    kind: Literal["diff"] = "diff"
    files: tuple[PreviewFile, ...] | None = None


@record
class FileEdit:
    """What a person has in the place of what was proposed: the whole text of a file, its line ends as ``\\n``.

    Without ``text`` the file is left as it is. ``path`` is that of the preview.
    """

    path: str
    text: str | None = None


@record
class CommandPreview:
    """A shell text, its parts and the folder it would run in."""

    command: str
    parts: tuple[CommandPart, ...]
    workdir: str
    kind: Literal["command"] = "command"


@record
class ArgumentsPreview:
    """The arguments of a call as they would be sent."""

    arguments: dict[str, Any]
    kind: Literal["arguments"] = "arguments"


@record
class UrlPreview:
    """A URL that would be fetched or opened."""

    url: str
    host: str
    kind: Literal["url"] = "url"


Preview: TypeAlias = DiffPreview | CommandPreview | ArgumentsPreview | UrlPreview


@record
class OfferedRule:
    """A rule as it would be stored."""

    permission: str
    pattern: str
    action: Action


@record
class Offer:
    """What a wider approval would store, exactly. With ``mode`` it stores nothing: the session goes to that mode."""

    scope: Literal["session", "project", "user"]
    rules: tuple[OfferedRule, ...]
    mode: str | None = None


@record
class QueueItem:
    """A message that waits: ``queue`` for the end of the run, ``steer`` for its next step.

    In ``edit_queue`` what an item does not say stays as it was; an empty list takes attachments away.
    """

    id: str
    text: str
    mode: Literal["queue", "steer"]
    attachments: tuple[Attachment, ...] | None = None
    agent: str | None = None
    model: str | None = None
    piped: str | None = None


@record
class ContextPart:
    """A part of a request: ``name`` is what its switch is called, ``tokens`` an estimate, ``items`` how many there are.

    ``switch`` tells whether it can be switched off, ``off`` that it is. ``deferred`` of the items are tools that are
    sent only once the model has found them.
    """

    name: str
    title: str
    tokens: int
    items: int = 1
    switch: bool = True
    off: bool = False
    deferred: int | None = None


@record
class ServerDetail:
    """What is known of a server beyond its state; ``tools`` is a count, ``tokens`` about what they take."""

    pid: int | None = None
    protocol: str | None = None
    tools: int | None = None
    stderr_tail: str | None = None
    restarts: int | None = None
    root: str | None = None
    tokens: int | None = None


@record
class RunError:
    """Why a run failed."""

    kind: str
    message: str
    hint: str | None = None
