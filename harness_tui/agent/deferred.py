"""Tools of MCP servers that a model finds when it needs them, where all of their definitions would take too much room.

Past a budget none of them is sent; the model gets ``tool_search`` instead, and what it finds is sent from the next step
on. Which were found is read from the history, so that it is the same after a crash, in a resumed session, and gone once
the history was summed up.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from harness_tui.agent.tokens import tool_tokens
from harness_tui.agent.told import as_told
from harness_tui.config.settings import ToolSearchSettings
from harness_tui.core.errors import ToolError
from harness_tui.core.event_parts import ArgumentsPreview
from harness_tui.core.messages import AssistantMessage, Message, ToolMessage
from harness_tui.core.patterns import matches
from harness_tui.core.record import record
from harness_tui.core.seams import PreparedCall, Tool, ToolContext, ToolResult
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.core.values import SourceRef, ToolSpec

NAME: Final = "tool_search"
SHARE: Final = 0.1
"""The part of a model's context that definitions of MCP tools may take before they are searched for."""
UNKNOWN_BUDGET: Final = 20_000
"""The budget in tokens where the size of the context is not known."""
TOOLS_AT_ONCE: Final = 100
"""More tools of servers than this are searched for whatever they take: some providers refuse more than 128 in all."""
FOUND: Final = 8

_MOST: Final = 20
_NAMED_CHARS: Final = 2_000
_ABOUT_CHARS: Final = 300
_LINE: Final = re.compile(r"^- ([A-Za-z0-9_-]{1,64})(?::|$)", re.MULTILINE)
_WORD: Final = re.compile(r"[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_COMMON: Final = frozenset({"a", "an", "and", "as", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to"})


@record
class Divided:
    """The tools of a step: ``sent`` goes to the model, ``deferred`` waits to be found."""

    sent: dict[str, Tool]
    deferred: dict[str, Tool]


def budget_of(settings: ToolSearchSettings, context_limit: int | None) -> int:
    """Return how many tokens definitions of MCP tools may take."""
    if settings.budget is not None:
        return settings.budget
    return int(context_limit * SHARE) if context_limit else UNKNOWN_BUDGET


def divide(
    tools: Mapping[str, Tool], messages: Iterable[Message], settings: ToolSearchSettings, context_limit: int | None
) -> Divided:
    """Return which of ``tools`` are sent, with ``tool_search`` where some are not."""
    foreign = {name: tool for name, tool in tools.items() if tool.spec.source.kind == "mcp"}
    cost = sum(tool_tokens(as_told(tool.spec)) for tool in foreign.values())
    if len(foreign) <= TOOLS_AT_ONCE and cost <= budget_of(settings, context_limit):
        return Divided(dict(tools), {})
    known = found_in(messages)
    deferred = {
        name: tool
        for name, tool in foreign.items()
        if name not in known and not any(matches(pattern, name) for pattern in settings.always)
    }
    if not deferred:
        return Divided(dict(tools), {})
    sent = {name: tool for name, tool in tools.items() if name not in deferred}
    return Divided(sent | {NAME: ToolSearch(foreign, deferred)}, deferred)


def found_in(messages: Iterable[Message]) -> set[str]:
    """Return the names of the tools that a history found or called."""
    found: set[str] = set()
    for message in messages:
        match message:
            case AssistantMessage(calls=calls):
                found |= {call.tool for call in calls}
            case ToolMessage(tool=tool, text=text, is_error=False) if tool == NAME:
                found |= set(_LINE.findall(text))
            case _:
                pass
    return found


class ToolSearch:
    """The tool ``tool_search``, a ``core.seams.Tool``. ``deferred`` are those of ``tools`` that are not sent."""

    def __init__(self, tools: Mapping[str, Tool], deferred: Mapping[str, Tool]) -> None:
        self._tools = tools
        self._spec = ToolSpec(NAME, _description(deferred), _PARAMETERS, SourceRef("builtin"), read_only=True)

    @property
    def spec(self) -> ToolSpec:
        """Name, description, parameters."""
        return self._spec

    async def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Check the arguments. Nothing has to be decided: what is found is decided on when it is called."""
        unknown = sorted(arguments.keys() - _PARAMETERS["properties"].keys())
        if unknown:
            raise ToolError(f"unknown arguments: {', '.join(unknown)}; known are: query, names, limit", where=NAME)
        query, names, limit = arguments.get("query", ""), arguments.get("names") or [], arguments.get("limit", FOUND)
        listed = cast(list[Any], names) if isinstance(names, list) else None
        if not isinstance(query, str) or listed is None or not all(isinstance(name, str) for name in listed):
            raise ToolError("query is a text, names is a list of texts", where=NAME)
        if not isinstance(limit, int) or isinstance(limit, bool):
            raise ToolError("limit is a whole number", where=NAME)
        if not query.strip() and not listed:
            raise ToolError("say what is looked for, in query, or which tools are wanted, in names", where=NAME)
        said = query.strip() or ", ".join(listed)
        title = f"Find tools: {cut_end(clean_for_display(said, one_line=True), 80)}"
        state = (query, tuple(cast(list[str], listed)), max(1, min(_MOST, limit)))
        return PreparedCall(title=title, checks=(), preview=ArgumentsPreview(arguments), state=state)

    async def run(self, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        """Return the tools that fit; from the next step on they can be called."""
        query, names, limit = cast(tuple[str, tuple[str, ...], int], prepared.state)
        return await asyncio.to_thread(self._search, query, names, limit)

    def _search(self, query: str, names: Sequence[str], limit: int) -> ToolResult:
        wanted = [name for name in dict.fromkeys(names) if name in self._tools][:_MOST]
        absent = [name for name in dict.fromkeys(names) if name not in self._tools]
        ranked = [name for name in rank(query, self._tools) if name not in wanted][:limit] if query.strip() else []
        found = [*wanted, *ranked]
        lines = [_line(self._tools[name].spec) for name in found]
        if found:
            head = f"{len(found)} of {len(self._tools)} tools. From your next step on you can call them:"
            lines = [head, *lines]
        elif query.strip():
            lines = [f"No tool fits. There are {len(self._tools)}; try other words, or a name from the description."]
        if absent:
            lines.append(f"No such tool: {', '.join(cut_end(clean_for_display(n, one_line=True), 80) for n in absent)}")
        return ToolResult("\n".join(lines), is_error=not found, metadata={"tools": found})


def rank(query: str, tools: Mapping[str, Tool]) -> list[str]:
    """Return the names of ``tools`` that share a word with ``query``, the best first.

    Rare words count more than common ones, words of a name more than those of a description.
    """
    wanted = list(dict.fromkeys(word for word in _words(query) if word not in _COMMON))
    texts = {name: (_words(name), _words(tool.spec.description[:2_000])) for name, tool in tools.items()}
    holders: Counter[str] = Counter()
    for named, described in texts.values():
        holders.update({*named, *described})
    scores: dict[str, float] = {}
    for name, (named, described) in texts.items():
        score = 0.0
        for word in wanted:
            weight = math.log(1 + len(texts) / (1 + holders[word])) + 0.1
            if word in named:
                score += 3 * weight
            elif word in described:
                score += weight
            elif len(word) > 3 and any(
                part.startswith(word) or word.startswith(part) for part in named if len(part) > 3
            ):
                score += 2 * weight
        if query.strip() == name:
            score += 1_000
        if score:
            scores[name] = score
    return sorted(scores, key=lambda name: (-scores[name], name))


def _words(text: str) -> list[str]:
    return _WORD.findall(_CAMEL.sub(" ", text).casefold())


def _line(spec: ToolSpec) -> str:
    server = clean_for_display(spec.source.server or "", one_line=True)
    about = cut_end(clean_for_display(spec.description, one_line=True, show_invisible=True), _ABOUT_CHARS)
    return f"- {spec.name}: (server {server} says) {about}" if about else f"- {spec.name}: (server {server})"


def _description(deferred: Mapping[str, Tool]) -> str:
    servers: dict[str, list[str]] = {}
    for name, tool in deferred.items():
        servers.setdefault(tool.spec.source.server or "", []).append(name)
    room = _NAMED_CHARS // max(1, len(servers))
    lines = [
        f"- {clean_for_display(server, one_line=True)} ({len(names)}): {_some(names, room)}"
        for server, names in servers.items()
    ]
    return "\n".join([_ABOUT, *lines])


def _some(names: Sequence[str], room: int) -> str:
    kept: list[str] = []
    for name in names:
        room -= len(name) + 2
        if room < 0:
            break
        kept.append(name)
    more = len(names) - len(kept)
    return ", ".join(kept) + (f" and {more} more" if more and kept else "names are found by searching" if more else "")


_ABOUT: Final = (
    "Finds tools of MCP servers. There are too many to list them all here: search by what you want to do (query), or"
    " ask for tools by their exact names (names). What is found can be called from your next step on. Servers and"
    " their tools:"
)
_PARAMETERS: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What the tool should do, in a few words."},
        "names": {"type": "array", "items": {"type": "string"}, "description": "Exact names of tools."},
        "limit": {"type": "integer", "description": f"How many to find at most, {FOUND} if not said, {_MOST} at most."},
    },
}
