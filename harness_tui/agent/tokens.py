"""How many tokens a request takes: what a provider counted last, and estimates for everything since.

An estimate is four characters a token, which is near the truth for English prose and code, too low for scripts of other
families; it is never shown as a count.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final

from harness_tui.core.messages import AssistantMessage, Attachment, Message
from harness_tui.core.values import ToolSpec

CHARS_A_TOKEN: Final = 4
_IMAGE_TOKENS: Final = 1_500
_MESSAGE_TOKENS: Final = 4


def text_tokens(text: str) -> int:
    """Return the estimate for a text."""
    return -(-len(text) // CHARS_A_TOKEN)


def attachment_tokens(attachment: Attachment) -> int:
    """Return the estimate for what goes beside a message's text."""
    if attachment.kind == "image":
        return _IMAGE_TOKENS
    return text_tokens(attachment.content or "") + text_tokens(attachment.path or attachment.uri or "")


def message_tokens(message: Message, *, attachments: bool = True) -> int:
    """Return the estimate for a message, with what is attached to it unless that is counted apart."""
    total = _MESSAGE_TOKENS + text_tokens(message.text)
    if isinstance(message, AssistantMessage):
        for call in message.calls:
            total += text_tokens(call.tool) + text_tokens(json.dumps(call.arguments, default=str))
        return total
    return total + (sum(map(attachment_tokens, message.attachments)) if attachments else 0)


def messages_tokens(messages: Iterable[Message]) -> int:
    """Return the estimate for several messages."""
    return sum(map(message_tokens, messages))


def tool_tokens(spec: ToolSpec) -> int:
    """Return the estimate for what a model is told of a tool."""
    return text_tokens(spec.name + spec.description + json.dumps(spec.parameters, default=str))


class ContextMeter:
    """What the last answered request took, by the provider's own count where it gave one."""

    def __init__(self) -> None:
        self._counted: int | None = None
        self._messages = 0

    @property
    def counted(self) -> int | None:
        """Tokens of the last request and its answer as the provider counted them; ``None`` before the first."""
        return self._counted

    def count(self, used: int, messages: int) -> None:
        """Note that a request and its answer took ``used`` tokens, with ``messages`` in the history after it."""
        self._counted, self._messages = used, messages

    def forget(self) -> None:
        """Drop the count: the history is another one now."""
        self._counted, self._messages = None, 0

    def used(self, system: str, tools: Sequence[ToolSpec], messages: Sequence[Message]) -> int:
        """Return what a request with these parts takes: the last count and what came since, else an estimate."""
        if self._counted is not None and self._messages <= len(messages):
            return self._counted + messages_tokens(messages[self._messages :])
        return text_tokens(system) + sum(map(tool_tokens, tools)) + messages_tokens(messages)
