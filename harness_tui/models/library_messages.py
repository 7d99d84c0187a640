"""Our messages in the form of pydantic_ai, and what a provider wants back verbatim.

Providers are strict: each call needs its result right after it, ids have an alphabet, nothing may be empty, and
reasoning goes back to whom it came from, exactly as it came, or not at all.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any, Final, cast

from harness_tui.core.messages import AssistantMessage, Attachment, Message, ToolMessage, UserMessage
from harness_tui.core.redaction import MARK
from harness_tui.models.adapt import NO_RESULT, PROVIDER_KEY, block, is_file
from harness_tui.models.sound_text import sound, sound_message
from harness_tui.models.tool_schemas import AdaptedTools, wire_call

PARTS_KEY: Final = "parts"
KIND_KEY: Final = "kind"
_EXTRAS: Final = ("id", "signature", "provider_name", "provider_details")


class Conversation:
    """Turns messages into those of ``library`` (``pydantic_ai.messages``).

    ``provider`` and ``kind`` are who gets its own opaque parts back; ``system`` is the name that the library has for
    it. ``media`` are the types of files that the model takes, ``marks_errors`` tells whether a failed result can be
    marked as one.
    """

    def __init__(
        self,
        library: ModuleType,
        tools: AdaptedTools,
        *,
        provider: str,
        kind: str,
        system: str,
        media: frozenset[str],
        marks_errors: bool,
    ) -> None:
        self._library: Any = library
        self._tools = tools
        self._provider, self._kind, self._system = provider, kind, system
        self._media = media
        self._marks_errors = marks_errors

    def request(self, system: str, messages: Sequence[Message]) -> list[Any]:
        """Return the messages of one request, ``system`` as the instructions of its last one."""
        result: list[Any] = []
        parts: list[Any] = []
        waiting: dict[str, str] = {}

        def settle() -> None:
            parts.extend(self._return(call, tool, NO_RESULT, failed=True) for call, tool in waiting.items())
            waiting.clear()

        def turn() -> None:
            settle()
            if parts:
                result.append(self._library.ModelRequest(parts=list(parts)))
                parts.clear()

        for message in map(sound_message, messages):
            match message:
                case UserMessage():
                    settle()
                    if content := self._content(message.text, message.attachments):
                        parts.append(self._library.UserPromptPart(content=content))
                case AssistantMessage():
                    response = self._response(message)
                    if response is not None:
                        turn()
                        result.append(response)
                        waiting.update((call.call, call.tool) for call in message.calls)
                case ToolMessage(call=call, tool=tool) if waiting.pop(call, None) is not None:
                    content = self._content(message.text, message.attachments) or ""
                    parts.append(self._return(call, tool, content, failed=message.is_error))
                case ToolMessage():
                    settle()
                    text = f"Result of an earlier call of {message.tool}:\n\n{message.text}"
                    parts.append(self._library.UserPromptPart(content=self._content(text, message.attachments)))
        turn()
        if not result or not isinstance(result[-1], self._library.ModelRequest):
            result.append(self._library.ModelRequest(parts=[self._library.UserPromptPart(content="(go on)")]))
        result[-1].instructions = sound(system) or None
        return result

    # --- what a person and tools say ---------------------------------------------------------------------------------

    def _return(self, call: str, tool: str, content: Any, *, failed: bool) -> Any:
        outcome = "failed" if failed and self._marks_errors else "success"
        return self._library.ToolReturnPart(
            tool_name=self._tools.name(tool), content=content, tool_call_id=wire_call(call), outcome=outcome
        )

    def _content(self, text: str, attachments: Sequence[Attachment]) -> str | list[Any]:
        files = [(item, self._file(item)) for item in attachments]
        blocks = [block(item) for item, file in files if file is None]
        whole = "\n\n".join([*([text] if text.strip() else []), *blocks])
        taken = [file for _, file in files if file is not None]
        if not taken:
            return whole
        return [*([whole] if whole else []), *taken]

    def _file(self, item: Attachment) -> Any:
        if not is_file(item) or item.mime not in self._media:
            return None
        try:
            data = base64.b64decode(item.content or "", validate=True)
        except (binascii.Error, ValueError):
            return None
        return self._library.BinaryContent(data=data, media_type=item.mime)

    # --- what a model said -------------------------------------------------------------------------------------------

    def _response(self, message: AssistantMessage) -> Any:
        parts = self._own_parts(message)
        if parts is None:
            parts = [self._library.TextPart(content=message.text)] if message.text.strip() else []
            parts += [self._call(call) for call in message.calls]
        if not parts:
            return None
        return self._library.ModelResponse(parts=parts, provider_name=self._system)

    def _call(self, call: Any, **extras: Any) -> Any:
        sent = self._tools.outgoing(call)
        return self._library.ToolCallPart(tool_name=sent.tool, args=sent.arguments, tool_call_id=sent.call, **extras)

    def _own_parts(self, message: AssistantMessage) -> list[Any] | None:
        """Return the parts as this provider sent them; ``None`` where they are another one's, or no longer whole."""
        opaque = message.opaque or {}
        stored = opaque.get(PARTS_KEY)
        if (opaque.get(PROVIDER_KEY), opaque.get(KIND_KEY)) != (self._provider, self._kind):
            return None
        if not isinstance(stored, list) or message.cut or MARK in json.dumps(stored, default=str):
            return None
        calls = {call.call: call for call in message.calls}
        texts = {"text": message.text, "thinking": message.reasoning}
        places = {"text": 0, "thinking": 0}
        parts: list[Any] = []
        for entry in cast(list[Any], stored):
            if not isinstance(entry, dict):
                return None
            fields = cast(dict[str, Any], entry)
            kind, extras = fields.get("part"), {key: fields[key] for key in _EXTRAS if key in fields}
            if kind == "call" and fields.get("call") in calls:
                parts.append(self._call(calls.pop(fields["call"]), **without(extras, "signature")))
            elif kind in places and isinstance(fields.get("length"), int):
                end = places[kind] + fields["length"]
                content, places[kind] = texts[kind][places[kind] : end], end
                parts += self._text(kind, content, extras)
            else:
                return None
        whole = all(places[kind] == len(text) for kind, text in texts.items())
        return parts if whole and not calls else None

    def _text(self, kind: str, content: str, extras: dict[str, Any]) -> list[Any]:
        if kind == "thinking":
            return [self._library.ThinkingPart(content=content, **extras)] if extras else []
        if not content.strip() and not extras.get("provider_details"):
            return []
        return [self._library.TextPart(content=content, **without(extras, "signature"))]


def opaque_parts(parts: Iterable[Any], calls: Mapping[int, str], *, provider: str, kind: str) -> dict[str, Any] | None:
    """Return what is kept of a response for its provider, ``None`` when nothing but text and plain calls was in it.

    Text is not kept a second time, only how much of it belongs to each part. ``calls`` are the ids of call parts by
    their place.
    """
    entries: list[dict[str, Any]] = []
    special = False
    for index, part in enumerate(parts):
        extras = {name: value for name in _EXTRAS if (value := _jsonable(getattr(part, name, None))) is not None}
        match part.part_kind:
            case "text" | "thinking":
                entry: dict[str, Any] = {"part": part.part_kind, "length": len(sound(part.content))}
            case "tool-call":
                entry = {"part": "call", "call": calls[index]}
            case _:
                continue
        special = special or bool(set(extras) - {"provider_name"})
        entries.append(entry | extras)
    return {PROVIDER_KEY: provider, KIND_KEY: kind, PARTS_KEY: entries} if special else None


def without(fields: dict[str, Any], name: str) -> dict[str, Any]:
    """Return ``fields`` without ``name``."""
    return {key: value for key, value in fields.items() if key != name}


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: item for key, item in cast(dict[str, Any], value).items() if _plain(item)} or None
    return value if _plain(value) else None


def _plain(value: Any) -> bool:
    try:
        return json.loads(json.dumps(value)) == value
    except (TypeError, ValueError):
        return False
