"""The context ledger: what a request is made of, part by part, each with its tokens and its switch.

A switch leaves a part out of the requests from then on, and never out of the record: switched on again it is back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Final

from harness_tui.agent.prompt import PromptPart
from harness_tui.agent.tokens import attachment_tokens, message_tokens, text_tokens, tool_tokens
from harness_tui.agent.told import as_told
from harness_tui.core.event_parts import ContextPart
from harness_tui.core.messages import AssistantMessage, Message, ToolMessage, UserMessage
from harness_tui.core.seams import Tool

SYSTEM: Final = "system"
AGENT: Final = "agent"
SKILLS: Final = "skills"
TOOLS: Final = "tools"
HISTORY: Final = "history"
TURN: Final = "turn"
FILES: Final = "files"
_PROMPT_NAMES: Final = {"base": SYSTEM, "environment": SYSTEM, "agent": AGENT, "skills": SKILLS}
_TITLES: Final = {
    SYSTEM: "system prompt",
    AGENT: "prompt of the agent",
    SKILLS: "skills catalogue",
    TOOLS: "built-in tools",
    HISTORY: "earlier turns",
    TURN: "present turn",
    FILES: "attached files and images",
}


def prompt_switch(part: PromptPart) -> str:
    """Return the name of the switch that a part of the system prompt belongs to."""
    return f"instructions:{part.source}" if part.name == "instructions" else _PROMPT_NAMES[part.name]


def tool_switch(tool: Tool) -> str:
    """Return the name of the switch that a tool belongs to."""
    source = tool.spec.source
    match source.kind:
        case "mcp":
            return f"mcp:{source.server}"
        case "skill":
            return SKILLS
        case _:
            return TOOLS


def known_switch(name: str) -> bool:
    """Tell whether ``name`` can be a switch."""
    kind, colon, rest = name.partition(":")
    return (name in _TITLES and name != TURN) or (kind in ("instructions", "mcp") and bool(colon and rest))


def sent(messages: Sequence[Message], off: Collection[str]) -> tuple[Message, ...]:
    """Return what a model is sent of the history: without earlier turns, without attachments, where these are off."""
    if HISTORY in off:
        messages = messages[_present_turn(messages) :]
    if FILES in off:
        messages = [_without_attachments(message) for message in messages]
    return tuple(messages)


def measure(
    prompt: Iterable[PromptPart],
    tools: Iterable[Tool],
    messages: Sequence[Message],
    off: Collection[str],
    *,
    deferred: Iterable[Tool] = (),
) -> tuple[ContextPart, ...]:
    """Return the parts of a request, those that are off as well: system prompt, tools, history, files.

    ``deferred`` are tools that are not sent before they are found.
    """
    parts: dict[str, ContextPart] = {}

    def add(name: str, tokens: int, *, deferred: int = 0) -> None:
        old = parts.get(name)
        if old is None:
            title = _TITLES.get(name) or name.partition(":")[2]
            old = ContextPart(name, title, 0, items=0, switch=name != TURN, off=name in off)
        waiting = (old.deferred or 0) + deferred or None
        parts[name] = replace(old, tokens=old.tokens + tokens, items=old.items + 1, deferred=waiting)

    for part in prompt:
        add(prompt_switch(part), text_tokens(part.text))
    for tool in tools:
        add(tool_switch(tool), tool_tokens(as_told(tool.spec)))
    for tool in deferred:
        add(tool_switch(tool), 0, deferred=1)
    turn = _present_turn(messages)
    for index, message in enumerate(messages):
        add(HISTORY if index < turn else TURN, message_tokens(message, attachments=False))
        for attachment in () if isinstance(message, AssistantMessage) else message.attachments:
            add(FILES, attachment_tokens(attachment))
    if SYSTEM in parts:
        parts[SYSTEM] = replace(parts[SYSTEM], items=1)
    return tuple(parts.values())


def total(parts: Iterable[ContextPart]) -> int:
    """Return the tokens of what is not switched off."""
    return sum(part.tokens for part in parts if not part.off)


def _present_turn(messages: Sequence[Message]) -> int:
    """Return where the last message of the person stands, with those right before it."""
    index = next((i for i in range(len(messages) - 1, -1, -1) if isinstance(messages[i], UserMessage)), 0)
    while index > 0 and isinstance(messages[index - 1], UserMessage):
        index -= 1
    return index


def _without_attachments(message: Message) -> Message:
    if isinstance(message, AssistantMessage) or not message.attachments:
        return message
    names = ", ".join(item.path or item.uri or item.kind for item in message.attachments)
    text = f"{message.text}\n[not sent, the person switched files off: {names}]"
    match message:
        case UserMessage():
            return replace(message, text=text, attachments=())
        case ToolMessage():
            return replace(message, text=text, attachments=())
