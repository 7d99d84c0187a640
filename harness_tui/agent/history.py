"""The replay log of a session in memory: what the next request is made of."""

from __future__ import annotations

from collections.abc import Iterable

from harness_tui.core.envelope import Envelope
from harness_tui.core.events import ContextCompacted, MessageAdded, RunStarted, StepFinished, ToolFinished
from harness_tui.core.messages import AssistantMessage, Message, ToolMessage


class History:
    """Messages in order, after the last compaction.

    It listens to the session's stream, as the record does: what a model is sent next is what was told, however a run
    ended. Results stand in the order of their calls, whichever came first.
    """

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self._messages: list[Message] = []
        self._open: list[str] = []
        for message in messages:
            self._add(message)

    def reset(self, messages: Iterable[Message]) -> None:
        """Take other messages in the place of those that were known: something was undone, or redone."""
        self._messages.clear()
        self._open.clear()
        for message in messages:
            self._add(message)

    @property
    def messages(self) -> tuple[Message, ...]:
        """What a model is sent."""
        return tuple(self._messages)

    def listener(self, envelope: Envelope) -> None:
        """Take what an event of the session adds."""
        match envelope.event:
            case RunStarted(message=message) | StepFinished(message=message):
                self._add(message)
            case MessageAdded(message=message, origin=origin):
                if origin != "prompt":  # the prompt came with ``run_started``
                    self._add(message)
            case ToolFinished(call=call, tool=tool, output=output, is_error=is_error, attachments=attachments):
                self._add(ToolMessage(call, tool, output, is_error, attachments or ()))
            case ContextCompacted():
                self._messages.clear()
                self._open.clear()
            case _:
                pass

    def _add(self, message: Message) -> None:
        match message:
            case ToolMessage(call=call):
                if call not in self._open:  # of a call by hand, which no model asked for
                    return
                self._open.remove(call)
                self._messages.append(message)
                self._sort_results()
                return
            case AssistantMessage(calls=calls):
                self._open = [item.call for item in calls]
            case _:
                pass
        self._messages.append(message)

    def _sort_results(self) -> None:
        start = max(index for index, message in enumerate(self._messages) if isinstance(message, AssistantMessage))
        asked, later = self._messages[start], self._messages[start + 1 :]
        if isinstance(asked, AssistantMessage) and all(isinstance(message, ToolMessage) for message in later):
            place = {call.call: index for index, call in reversed(tuple(enumerate(asked.calls)))}
            later.sort(key=lambda message: place[message.call] if isinstance(message, ToolMessage) else 0)
            self._messages[start + 1 :] = later
