"""The messages of a server's prompt as the core knows messages: verbatim text, everything else attached."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from typing import Any, Final, Literal, cast

from harness_tui.core.limits import ATTACHMENT_BYTES
from harness_tui.core.messages import Attachment
from harness_tui.core.seams import PromptMessage
from harness_tui.mcp.content import IMAGE_TO_MODEL_BYTES, sniff

_NOT_BASE64: Final = "left out: its data is not valid base64"


def prompt_messages(prompt: str, messages: Sequence[tuple[str, dict[str, Any]]]) -> list[PromptMessage]:
    """Turn pairs of role and content block into messages. ``prompt`` names where attachments come from.

    Decodes base64: call it in a thread.
    """
    return [_message(role, block, f"{prompt}#{number}") for number, (role, block) in enumerate(messages, start=1)]


def _message(role: str, block: dict[str, Any], uri: str) -> PromptMessage:
    who: Literal["user", "assistant"] = "assistant" if role == "assistant" else "user"
    match block:
        case {"type": "text", "text": str() as text}:
            return PromptMessage(who, text)
        case {"type": "image" | "audio" as kind, "data": str() as data}:
            return _binary(who, str(kind), data, uri)
        case {"type": "resource", "resource": {"uri": str() as source, "text": str() as text} as resource}:
            mime = cast(dict[str, Any], resource).get("mimeType") or "text/plain"
            return PromptMessage(who, "", (_text(text, str(mime), source),))
        case {"type": "resource", "resource": {"uri": str() as source, "blob": str() as data}}:
            return _binary(who, "resource", data, source)
        case {"type": "resource_link", "uri": str() as source}:
            return PromptMessage(who, f"[resource link: {source}]")
        case _:
            return PromptMessage(who, json.dumps(block, ensure_ascii=False))


def _text(text: str, mime: str, uri: str) -> Attachment:
    data = text.encode("utf-8", "replace")
    if len(data) <= ATTACHMENT_BYTES:
        return Attachment("resource", mime, len(data), uri=uri, content=text)
    head = data[:ATTACHMENT_BYTES].decode("utf-8", "ignore")
    note = f"[... truncated: the first {ATTACHMENT_BYTES} of {len(data)} bytes are attached ...]"
    return Attachment("resource", mime, len(data), uri=uri, truncated=True, content=f"{head}\n{note}")


def _binary(who: Literal["user", "assistant"], kind: str, data: str, uri: str) -> PromptMessage:
    try:
        decoded = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return PromptMessage(who, f"[{kind} {_NOT_BASE64}]")
    mime, _ = sniff(decoded)
    if len(decoded) > IMAGE_TO_MODEL_BYTES:
        return PromptMessage(who, f"[{kind} left out: {mime} of {len(decoded)} bytes, from {uri}]")
    if mime.startswith("image/"):
        return PromptMessage(who, "", (Attachment("image", mime, len(decoded), uri=uri, content=data),))
    return PromptMessage(who, f"[{kind}: {mime}, {len(decoded)} bytes, from {uri}]")
