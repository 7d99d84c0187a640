"""What a person, an editor or an orchestrator wants: the other half of the contract.

JSON is ``{"intent": name, ...fields}``. One that does not fit is answered by a ``notice``.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final, Literal, TypeVar, dataclass_transform

from harness_tui.core.codec import CodecError, decode, encode
from harness_tui.core.event_parts import FileEdit, QueueItem
from harness_tui.core.messages import Attachment
from harness_tui.core.record import record
from harness_tui.core.values import Scope


class Intent:
    """The base of every intent; ``intent`` is its name on the wire."""

    __slots__ = ()
    intent: ClassVar[str]


INTENTS: Final[dict[str, type[Intent]]] = {}
"""The one registry: wire name to class."""

I = TypeVar("I", bound=Intent)  # noqa: E741


@dataclass_transform(frozen_default=True)
def _intent(cls: type[I]) -> type[I]:
    made = record(cls)
    INTENTS[made.intent] = made
    return made


@_intent
class Submit(Intent):
    """Send a message, or ``/name args``. ``now`` while a run goes on is refused with a notice.

    ``piped`` is data that stands below the message as it is: nobody typed it, so nothing that it mentions is read and
    nothing in it is an argument.
    """

    intent = "submit"
    text: str
    attachments: tuple[Attachment, ...] | None = None
    agent: str | None = None
    model: str | None = None
    when: Literal["now", "queue", "steer"] = "now"
    piped: str | None = None


@_intent
class Answer(Intent):
    """Answer a request. ``parts`` are indices into ``preview.parts``; no ``scope`` means once.

    ``offer`` is an index into ``offers``; without it the first offer of the ``scope`` is meant, the narrowest.
    ``edits`` alter files of a diff preview before they are written.
    """

    intent = "answer"
    request: str
    action: Literal["allow", "deny", "accept", "decline", "cancel"]
    scope: Scope | None = None
    parts: tuple[int, ...] | None = None
    content: dict[str, Any] | None = None
    note: str | None = None
    offer: int | None = None
    edits: tuple[FileEdit, ...] | None = None


@_intent
class Cancel(Intent):
    """End the run that goes on."""

    intent = "cancel"
    run: str | None = None


@_intent
class EditQueue(Intent):
    """Replace the waiting messages."""

    intent = "edit_queue"
    items: tuple[QueueItem, ...]


@_intent
class SetSession(Intent):
    """Change agent, model, mode or title of the session."""

    intent = "set"
    agent: str | None = None
    model: str | None = None
    mode: str | None = None
    title: str | None = None


@_intent
class CallTool(Intent):
    """Call a tool by hand, through the same gate."""

    intent = "call"
    tool: str
    arguments: dict[str, Any]


@_intent
class Shell(Intent):
    """Run a command that a person typed; its output is kept for the model."""

    intent = "shell"
    command: str


@_intent
class Undo(Intent):
    """Take back a run and every one after it: messages and files. Without ``run`` the latest that is in force.

    With ``only`` one of both: ``messages`` leaves the files as they are; ``files`` changes nothing of what was said,
    tells the model, and is a run of its own, which can be taken back like any other.
    """

    intent = "undo"
    run: str | None = None
    only: Literal["messages", "files"] | None = None


@_intent
class Redo(Intent):
    """Put the run that was taken back last in force again; possible until the next message."""

    intent = "redo"


@_intent
class Compact(Intent):
    """Sum up the history; ``focus`` says what matters most. While a run goes on it is done before the next step."""

    intent = "compact"
    focus: str | None = None


@_intent
class ReportContext(Intent):
    """Answered by ``context_reported``. With ``part`` that part is switched ``on`` or off first."""

    intent = "context"
    part: str | None = None
    on: bool = True


@_intent
class HandOver(Intent):
    """Let ``agent`` carry out the plan that was made in this session."""

    intent = "hand_over"
    agent: str = "build"


def intent_to_json(intent: Intent) -> dict[str, Any]:
    """Return the wire object."""
    return {"intent": intent.intent} | encode(intent, with_private=True)


def intent_from_json(data: Any) -> Intent:
    """Read a wire object. Raises ``CodecError`` that names the field."""
    if not isinstance(data, dict):
        raise CodecError("an intent is a JSON object", where="intent")
    name = data.get("intent")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    cls = INTENTS.get(name) if isinstance(name, str) else None
    if cls is None:
        known = ", ".join(sorted(INTENTS))
        raise CodecError(f"unknown intent {name!r}, known are {known}", where="intent")
    return decode(cls, data, str(name))  # pyright: ignore[reportUnknownArgumentType]
