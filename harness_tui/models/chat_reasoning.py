"""Reasoning in the chat completions protocol, which has no place for it: how it comes, and how it goes back.

Servers say it as ``reasoning_content`` (DeepSeek, llama.cpp, Moonshot, xAI), as ``reasoning`` (ollama, vLLM, Groq,
OpenRouter), as parts of ``content`` (Mistral), and as ``reasoning_details`` (OpenRouter, MiniMax), whose signatures and
encrypted parts are wanted back as they were. Models that reason between calls want theirs back with the calls, under
the name that it came by; DeepSeek refuses a request without it.
"""

from __future__ import annotations

from typing import Any, Final, cast

from harness_tui.core.messages import AssistantMessage
from harness_tui.core.redaction import MARK

FIELD_KEY: Final = "reasoning_field"
DETAILS_KEY: Final = "reasoning_details"
"""Parts of ``AssistantMessage.opaque``: the name by which the reasoning came, and its details. Its text is kept in the
message alone."""

FIELDS: Final = ("reasoning_content", "reasoning")
_CONTENT: Final = "content"
_GROWING: Final = ("text", "summary", "data", "signature")
_MOST: Final = 1024


class ReasoningTrail:
    """Takes the parts of one answer in which reasoning may be."""

    def __init__(self) -> None:
        self._field: str | None = None
        self._details: list[dict[str, Any]] = []

    def take(self, delta: dict[str, Any]) -> str:
        """Return the reasoning of a part of the answer, ``""`` where there is none."""
        details = delta.get(DETAILS_KEY)
        told = "".join(self._detail(item) for item in _objects(details))
        for name in FIELDS:
            text = delta.get(name)
            if isinstance(text, str) and text:
                self._field = self._field or name
                return text
        if thinking := _thinking(delta.get(_CONTENT)):
            self._field = self._field or _CONTENT
            return thinking
        return told

    def _detail(self, item: dict[str, Any]) -> str:
        """Add a detail to those before, of which the last may go on in it; return its text."""
        last = self._details[-1] if self._details else None
        same = last is not None and all(last.get(name) == item.get(name) for name in ("type", "index", "id"))
        if last is None or not same:
            if len(self._details) < _MOST:
                self._details.append(dict(item))
        else:
            for name, value in item.items():
                grows = name in _GROWING and isinstance(value, str) and isinstance(last.get(name), str)
                if grows or value is not None:
                    last[name] = last[name] + value if grows else value
        text = item.get("text") or item.get("summary")
        return text if isinstance(text, str) else ""

    def kept(self) -> dict[str, Any]:
        """Return what ``opaque`` keeps of it."""
        if self._details:
            return {DETAILS_KEY: self._details}
        return {FIELD_KEY: self._field} if self._field else {}


def with_reasoning(sent: dict[str, Any], message: AssistantMessage, opaque: dict[str, Any]) -> dict[str, Any]:
    """Return ``sent`` (a message of a request) with the reasoning of ``message`` as its provider gave it.

    ``opaque`` is that of the message where it is this provider's. Details that a redaction went through stay away:
    their signatures are wrong by now.
    """
    details = opaque.get(DETAILS_KEY)
    if isinstance(details, list) and MARK not in str(cast(list[Any], details)):
        return sent | {DETAILS_KEY: details}
    field, text = opaque.get(FIELD_KEY), message.reasoning
    if not text:
        return sent
    if field in FIELDS:
        return sent | {str(field): text}
    if field == _CONTENT:
        thinking = {"type": "thinking", "thinking": [{"type": "text", "text": text}]}
        said = [{"type": "text", "text": message.text}] if message.text else []
        return sent | {_CONTENT: [thinking, *said]}
    return sent


def _thinking(content: Any) -> str:
    """Return the text of the parts of ``content`` that are thinking."""
    found: list[str] = []
    for part in _objects(content):
        if part.get("type") == "thinking":
            thought = part.get("thinking")
            texts = [thought] if isinstance(thought, str) else [item.get("text") for item in _objects(thought)]
            found += [text for text in texts if isinstance(text, str)]
    return "".join(found)


def _objects(value: Any) -> list[dict[str, Any]]:
    items = cast(list[Any], value) if isinstance(value, list) else ()
    return [cast(dict[str, Any], item) for item in items if isinstance(item, dict)]
