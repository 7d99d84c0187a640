"""A session's events as what a person reads: prompts, answers, calls with their results, what happened beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

from harness_tui.core.envelope import Envelope
from harness_tui.core.events import (
    ContextCompacted,
    MessageAdded,
    Notice,
    ReasoningFinished,
    RedoApplied,
    RunFinished,
    RunStarted,
    TextFinished,
    ToolFinished,
    ToolStarted,
    UndoApplied,
)
from harness_tui.core.messages import AssistantMessage, Attachment, UserMessage
from harness_tui.core.record import record


@record
class Said:
    """A text: a person's (``who`` ``prompt``, ``steer``, ``shell``, ...), the model's, its reasoning."""

    who: Literal["prompt", "steer", "shell", "diagnostics", "other", "answer", "reasoning"]
    text: str
    time: str
    attachments: tuple[Attachment, ...] = ()


@record
class Call:
    """A call with its result; ``output`` is ``None`` when it has none."""

    tool: str
    title: str
    time: str
    output: str | None
    is_error: bool
    diff: str | None


@record
class Told:
    """Something that happened, in one sentence."""

    level: Literal["info", "warning", "error"]
    text: str
    time: str


Item: TypeAlias = Said | Call | Told


def read(envelopes: Iterable[Envelope]) -> Iterator[Item]:
    """Yield what a person reads, in order; a call stands where it ended."""
    started: dict[str, ToolStarted] = {}
    prompts: set[str | None] = set()
    for envelope in envelopes:
        time = envelope.time
        match envelope.event:
            case RunStarted(message=message):
                prompts.add(envelope.run)
                yield Said("prompt", message.text, time, message.attachments)
            case MessageAdded(message=UserMessage() as message, origin=origin):
                if origin != "prompt" or envelope.run not in prompts:
                    yield Said(_who(origin), message.text, time, message.attachments)
            case MessageAdded(message=AssistantMessage(text=text)) if text:  # of a server's prompt
                yield Said("answer", text, time)
            case ReasoningFinished(text=text):
                yield Said("reasoning", text, time)
            case TextFinished(text=text):
                yield Said("answer", text, time)
            case ToolStarted(call=call) as event:
                started[call] = event
            case ToolFinished(call=call, tool=tool, output=output, is_error=is_error, metadata=metadata):
                begun = started.pop(call, None)
                diff = metadata.get("diff")
                title = begun.title if begun is not None else tool
                yield Call(tool, title, time, output, is_error, diff if isinstance(diff, str) else None)
            case event:
                told = _told(event, time)
                if told is not None:
                    yield told
    for event in started.values():
        yield Call(event.tool, event.title, "", None, False, None)


def _who(origin: str) -> Literal["prompt", "steer", "shell", "diagnostics", "other"]:
    match origin:
        case "prompt" | "steer" | "shell" | "diagnostics":
            return origin
        case _:
            return "other"


def _told(event: object, time: str) -> Told | None:
    match event:
        case Notice(level=level, source=source, text=text):
            return Told(level, f"{source}: {text}", time)
        case ContextCompacted(before=before, after=after, summary=summary):
            return Told("info", f"history summed up, {before} tokens to {after}: {summary}", time)
        case UndoApplied(paths=paths):
            return Told("info", f"undone: {', '.join(paths) or 'no file'}", time)
        case RedoApplied(paths=paths):
            return Told("info", f"redone: {', '.join(paths) or 'no file'}", time)
        case RunFinished(reason=reason, error=error) if reason != "completed":
            return Told("warning", f"the run ended: {reason}{': ' + error.message if error else ''}", time)
        case _:
            return None
