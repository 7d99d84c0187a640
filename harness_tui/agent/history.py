"""The replay log of a session in memory: what the next request is made of."""

from __future__ import annotations

from collections.abc import Iterable

from harness_tui.core.messages import AssistantMessage, Message


class History:
    """Messages in order, after the last compaction. Only ever appended to."""

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self._messages: list[Message] = list(messages)

    @property
    def messages(self) -> tuple[Message, ...]:
        """What a model is sent."""
        return tuple(self._messages)

    def add(self, message: Message) -> None:
        """Append one message."""
        self._messages.append(message)

    def last_answer(self) -> str:
        """Return the text of the last assistant message, empty when there is none."""
        for message in reversed(self._messages):
            if isinstance(message, AssistantMessage):
                return message.text
        return ""
