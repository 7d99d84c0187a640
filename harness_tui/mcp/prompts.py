"""Prompts of servers, and their messages as the core knows messages: verbatim text, everything else attached."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, cast

from harness_tui.core.errors import HarnessError, RefusedError
from harness_tui.core.limits import ATTACHMENT_BYTES
from harness_tui.core.messages import Attachment
from harness_tui.core.seams import PromptMessage, PromptSpec
from harness_tui.mcp.content import IMAGE_TO_MODEL_BYTES, sniff
from harness_tui.mcp.reasons import CallError
from harness_tui.mcp.supervisor import Supervisor

_NOT_BASE64: Final = "left out: its data is not valid base64"


class McpPrompts:
    """The prompts of the servers in ``supervisors``.

    ``find`` returns a supervisor by name, or raises ``HarnessError`` with the names that there are.
    """

    def __init__(self, supervisors: Mapping[str, Supervisor], find: Callable[[str], Supervisor]) -> None:
        self._supervisors = supervisors
        self._find = find

    def prompts(self) -> Sequence[PromptSpec]:
        """Return the prompts of all servers known now, by server, then name."""
        return tuple(
            prompt
            for supervisor in self._supervisors.values()
            if supervisor.startable and supervisor.listing is not None
            for prompt in supervisor.listing.prompts
        )

    async def late_prompts(self, command: str) -> bool:
        """Wait for the start of the server that ``command`` names; tell whether its prompts are known only now.

        That is the server of ``mcp:server:prompt``, ``server:prompt`` or ``mcp__server__prompt`` whose name is the
        longest. Raises ``CallError`` with the reason why it cannot tell its prompts, ``RefusedError`` when it is not
        trusted.
        """
        able = [
            supervisor
            for name, supervisor in self._supervisors.items()
            if supervisor.listing is None and _names_server(command, name)
        ]
        for supervisor in sorted(able, key=lambda one: -len(one.server.name)):
            start = supervisor.begin()
            if start is not None:
                await asyncio.wait({start})
            if supervisor.listing is None:
                raise not_ready(supervisor)
            return True
        return False

    async def get_prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> Sequence[PromptMessage]:
        """Fetch a prompt's messages, starting the server when needed. Raises ``HarnessError``."""

        async def fetch(client: Any) -> list[tuple[str, dict[str, Any]]]:
            from harness_tui.mcp import reading  # the SDK is there by now

            return await reading.get_prompt(client, name, dict(arguments))

        messages = await self._find(server).ask(name, fetch)
        return await asyncio.to_thread(prompt_messages, f"{server}:{name}", messages)


def not_ready(supervisor: Supervisor) -> HarnessError:
    """Return the error that says why a server cannot tell what it offers."""
    reason = supervisor.reason or f"it is {supervisor.state}"
    where = f"MCP server {supervisor.server.name}"
    refused = not supervisor.server.trusted
    return (RefusedError if refused else CallError)(f"not ready: {reason}", where=where)


def _names_server(command: str, server: str) -> bool:
    """Tell whether ``command`` is written like a prompt of ``server``; blanks in a name are typed as ``_``."""
    word = "_".join(server.split())
    return command.startswith((f"mcp:{word}:", f"mcp/{word}/", f"{word}:", f"{word}/", f"mcp__{word}__"))


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
