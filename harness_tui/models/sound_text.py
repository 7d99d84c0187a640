"""Text that every request can hold: no half of a character.

A character beyond the first 65,536 is two halves in JSON (``\\ud83d\\ude00``), and servers that count halves cut
between them. A half that enters a conversation makes each later request of it one that cannot be written.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar, cast

from harness_tui.core.messages import AssistantMessage, Message, ToolCall, ToolMessage

T = TypeVar("T")


def sound(text: str) -> str:
    """Return ``text`` with halves that lie side by side joined, and every other half as U+FFFD."""
    if text.isascii() or _is_sound(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def sound_data(data: T) -> T:
    """Return JSON-like ``data`` with each text in it :func:`sound`; the same object where nothing has to change."""
    match data:
        case str():
            return cast(T, sound(data))
        case list():
            items = cast(list[Any], data)
            new_items = [sound_data(item) for item in items]
            same = all(new is old for new, old in zip(new_items, items, strict=True))
            return data if same else cast(T, new_items)
        case dict():
            fields = cast(dict[Any, Any], data)
            new_fields = {sound_data(key): sound_data(value) for key, value in fields.items()}
            same = all(new_fields.get(key, fields) is value for key, value in fields.items())
            return data if same else cast(T, new_fields)
        case _:
            return data


def sound_message(message: Message) -> Message:
    """Return ``message`` with each text in it :func:`sound`, whoever wrote it."""
    if isinstance(message, AssistantMessage):
        calls = tuple(
            ToolCall(sound(call.call), call.tool, sound_data(call.arguments), call.raw and sound(call.raw))
            for call in message.calls
        )
        text, reasoning = sound(message.text), sound(message.reasoning)
        return replace(message, text=text, reasoning=reasoning, calls=calls)
    attachments = tuple(replace(item, content=item.content and sound(item.content)) for item in message.attachments)
    text = sound(message.text)
    if isinstance(message, ToolMessage):
        return replace(message, call=sound(message.call), text=text, attachments=attachments)
    return replace(message, text=text, attachments=attachments)


class Halves:
    """Puts characters together whose halves come in two pieces of a stream."""

    def __init__(self) -> None:
        self._held = ""

    def take(self, text: str) -> str:
        """Return what can be shown of the stream with ``text`` added; a first half at its end is held back."""
        text, self._held = self._held + text, ""
        if text and 0xD800 <= ord(text[-1]) <= 0xDBFF:
            text, self._held = text[:-1], text[-1]
        return sound(text)

    def rest(self) -> str:
        """Return what is left at the end."""
        text, self._held = self._held, ""
        return sound(text)


def _is_sound(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
