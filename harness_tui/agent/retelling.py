"""Messages as plain text: what a summary is made from, and what it keeps of the latest turns word by word."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from harness_tui.agent.tokens import CHARS_A_TOKEN, text_tokens
from harness_tui.core.messages import AssistantMessage, Message, ToolMessage, UserMessage
from harness_tui.core.record import record
from harness_tui.core.text import cut_end, cut_middle

_RESULT_BYTES: Final = 2_000
_RESULT_LINES: Final = 100
_ARGUMENT_CHARS: Final = 1_000
_MESSAGE_BYTES: Final = 16_000
_MESSAGE_LINES: Final = 1_000


@record
class Split:
    """A history in two: ``old`` is summed up, ``recent`` kept as it is told."""

    old: tuple[Message, ...]
    recent: tuple[Message, ...]


def split_history(messages: Sequence[Message], keep: int) -> Split:
    """Split so that ``recent`` takes at most ``keep`` tokens, but holds the last message and what belongs to it.

    A result is never parted from its call.
    """
    start, taken = len(messages), 0
    for index in range(len(messages) - 1, -1, -1):
        taken += text_tokens(retold(messages[index]))
        if taken > keep:
            break
        if not isinstance(messages[index], ToolMessage):
            start = index
    if start == len(messages):  # the last message alone is larger: it is kept, cut
        start = next((i for i in range(len(messages) - 1, -1, -1) if not isinstance(messages[i], ToolMessage)), 0)
    return Split(tuple(messages[:start]), tuple(messages[start:]))


def retold(message: Message) -> str:
    """Return one message as text, long results and arguments cut."""
    match message:
        case UserMessage(text=text, attachments=attachments):
            names = [item.path or item.uri or item.kind for item in attachments]
            beside = f"\n[attached: {', '.join(names)}]" if names else ""
            return f"[person]\n{_cut(text, _MESSAGE_BYTES, _MESSAGE_LINES)}{beside}"
        case AssistantMessage(text=text, calls=calls):
            said = [_cut(text, _MESSAGE_BYTES, _MESSAGE_LINES)] if text else []
            made = [
                f"[call {call.call}: {call.tool} "
                f"{cut_end(json.dumps(call.arguments, ensure_ascii=False, default=str), _ARGUMENT_CHARS)}]"
                for call in calls
            ]
            return "\n".join(["[assistant]", *said, *made])
        case ToolMessage(call=call, tool=tool, text=text, is_error=is_error):
            kind = "error" if is_error else "result"
            return f"[{kind} of {call}: {tool}]\n{_cut(text, _RESULT_BYTES, _RESULT_LINES)}"


def retell(messages: Sequence[Message], *, max_tokens: int) -> str:
    """Return several messages as one text; over ``max_tokens`` the middle is left out, and a line says so."""
    text = "\n\n".join(map(retold, messages))
    return cut_middle(text, max_bytes=max_tokens * CHARS_A_TOKEN, max_lines=10**9).text


def _cut(text: str, max_bytes: int, max_lines: int) -> str:
    return cut_middle(text, max_bytes=max_bytes, max_lines=max_lines).text
