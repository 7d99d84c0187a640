"""What MCP servers offer, for front ends: tools with their schemas, resources, and values while somebody types."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from harness_tui.core.errors import HarnessError, RefusedError
from harness_tui.core.ids import new_id
from harness_tui.core.record import record
from harness_tui.core.resources import ArgumentOf, ReadResource, ResourceTemplate
from harness_tui.core.seams import Check, GateCall, PromptSpec
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.library.arguments import read_line
from harness_tui.library.prompts import find_prompt
from harness_tui.mcp.schemas import faults_of
from harness_tui.mcp.typed_templates import begins, typing_of

if TYPE_CHECKING:
    from harness_tui.mcp.listing import ToolDefinition
    from harness_tui.mcp.tool import McpTool
    from harness_tui.workspace.workspace import Workspace

MOST: Final = 100
"""How many candidates are returned."""

_ABOUT_CHARS: Final = 200


@record
class ServerToolRow:
    """A tool of a server. ``tool`` is the server's own name for it, ``name`` the one that models and ``/call`` use.

    ``enabled`` is false for one that configuration keeps back; it has no ``name`` then. ``tokens`` is an estimate.
    """

    server: str
    tool: str
    name: str
    title: str
    description: str
    schema: dict[str, Any]
    tokens: int
    enabled: bool
    read_only: bool


@record
class ResourceRow:
    """A resource, or a template of addresses with its ``variables``; ``mention`` is how it is named in a message."""

    server: str
    uri: str
    mention: str
    name: str
    about: str
    mime: str
    size: int | None = None
    variables: tuple[str, ...] | None = None


@record
class MentionRow:
    """Something to put behind ``@``. ``whole``: nothing more has to be typed of it."""

    text: str
    about: str = ""
    whole: bool = True


@record
class ValueRow:
    """A value for an argument; ``text`` is what stands behind the command's name once it is taken."""

    value: str
    text: str


class ServerOffers:
    """What the servers of ``workspace`` offer; ``agent`` and ``mode`` are those of the present session."""

    def __init__(self, workspace: Workspace, *, session: str, agent: str, mode: str) -> None:
        self._workspace = workspace
        self._session = session
        self._agent = agent
        self._mode = mode

    # --- tools ---------------------------------------------------------------------------------------

    async def tools(self, server: str | None = None) -> Sequence[ServerToolRow]:
        """Return the tools known now, by server and name, those that configuration keeps back as well."""
        return await asyncio.to_thread(_tool_rows, self._workspace.mcp.catalogue(), server)

    async def faults(self, schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
        """Say what of ``arguments`` does not fit ``schema``; empty when all does."""
        return await asyncio.to_thread(faults_of, schema, arguments)

    # --- resources -----------------------------------------------------------------------------------

    async def resources(self, server: str | None = None) -> Sequence[ResourceRow]:
        """Return the resources known now, then the templates."""
        source = self._workspace.mcp.resources
        rows = [
            ResourceRow(
                item.server,
                item.uri,
                _named(item.server, item.uri),
                item.name,
                item.description,
                item.mime or "",
                item.size,
            )
            for item in source.resources()
        ]
        rows += [
            ResourceRow(
                item.server,
                item.uri_template,
                _named(item.server, item.uri_template),
                item.name,
                item.description,
                item.mime or "",
                variables=item.variables,
            )
            for item in source.templates()
        ]
        return [row for row in rows if server in (None, row.server)]

    async def read(self, server: str, uri: str) -> ReadResource:
        """Read a resource for the person; raises ``RefusedError`` where a rule denies it, or ``HarnessError``."""
        agent = self._workspace.loaded.settings.agents.get(self._agent)
        call = GateCall(
            call=new_id("hand"),
            tool="mcp",
            checks=(Check("mcp", f"{server}_read_resource"),),
            session=self._session,
            agent=self._agent,
            mode=self._mode,
            origin="person",
            agent_rules=agent.permission if agent is not None else (),
        )
        if self._workspace.gate.decide(call).action != "allow":
            raise RefusedError("reading it is not allowed", where=f"mcp {server}_read_resource")
        return await self._workspace.mcp.resources.read_resource(server, uri)

    async def address(self, server: str, template: str, values: Mapping[str, str]) -> str:
        """Return the address that a template gives with ``values``. Raises ``HarnessError``."""
        return await self._workspace.mcp.resources.expand(ResourceTemplate(server, template), values)

    async def values(
        self, server: str, template: str, variable: str, value: str, others: Mapping[str, str]
    ) -> Sequence[str]:
        """Return what the server offers for a variable of a template; nothing where it offers nothing."""
        return await self._complete(server, ArgumentOf("template", template), variable, value, others)

    # --- while somebody types ------------------------------------------------------------------------

    async def mentions(self, typed: str) -> Sequence[MentionRow]:
        """Return what may stand behind ``@`` where ``typed`` stands: ``server:uri`` rows, best first, at most 100.

        Is quick while a server or an address is typed; the values of a variable are asked of its server, so that this
        may take seconds: call it again, and cancel it, at each key.
        """
        source, wanted = self._workspace.mcp.resources, typed.casefold()
        ranked: tuple[list[MentionRow], ...] = ([], [])
        for item in source.resources():
            text = _named(item.server, item.uri)
            place = text.casefold().find(wanted)
            if place >= 0 or wanted in item.name.casefold():
                ranked[place != 0].append(MentionRow(text, _about(item.name, item.description)))
        values: list[MentionRow] = []
        for template in source.templates():
            text = _named(template.server, template.uri_template)
            if begins(text).casefold().startswith(wanted):
                ranked[0].append(
                    MentionRow(begins(text), f"{text} {_about(template.name, template.description)}", False)
                )
            elif len(values) < MOST:
                values += await self._template_values(template, typed)
        return [*values, *ranked[0], *ranked[1]][:MOST]

    async def _template_values(self, template: ResourceTemplate, typed: str) -> list[MentionRow]:
        head = _named(template.server, "")
        typing = typing_of(template.uri_template, typed.removeprefix(head)) if typed.startswith(head) else None
        if typing is None:
            return []
        of = ArgumentOf("template", template.uri_template)
        found = await self._complete(template.server, of, typing.variable, typing.value, typing.others)
        last = template.variables[-1:] == (typing.variable,)
        return [MentionRow(head + typing.with_value(value), typing.variable, last) for value in found]

    async def prompt_values(self, name: str, typed: str) -> Sequence[ValueRow]:
        """Return values for the argument that is being typed at the end of ``/name typed``.

        A word gets quotes where it needs them, and a blank where another argument follows. Takes up to some seconds,
        as above.
        """
        spec = find_prompt(name, self._workspace.mcp.prompts())
        if spec is None or not spec.arguments:
            return []
        argument, value, others, before = _being_typed(spec, typed)
        found = await self._complete(spec.server, ArgumentOf("prompt", spec.name), argument, value, others)
        last = argument == spec.arguments[-1].name
        return [ValueRow(text, before + (text if last else f"{_word(text)} ")) for text in found]

    async def _complete(
        self, server: str, of: ArgumentOf, argument: str, value: str, others: Mapping[str, str]
    ) -> Sequence[str]:
        try:
            found = await self._workspace.mcp.resources.complete(server, of, argument, value, others)
        except HarnessError:
            return []  # a server that cannot say what fits: whatever is typed is sent as it is
        return [text for text in found if text and clean_for_display(text, one_line=True) == text]


def _tool_rows(
    catalogue: Sequence[tuple[str, ToolDefinition, McpTool | None]], server: str | None
) -> list[ServerToolRow]:
    return [
        ServerToolRow(
            server=name,
            tool=definition.name,
            name=tool.spec.name if tool is not None else "",
            title=definition.title or "",
            description=definition.description,
            schema=definition.schema,
            tokens=definition.tokens,
            enabled=tool is not None,
            read_only=definition.read_only,
        )
        for name, definition, tool in catalogue
        if server in (None, name)
    ]


def _named(server: str, uri: str) -> str:
    return f"{'_'.join(server.split())}:{uri}"


def _about(name: str, description: str) -> str:
    text = f"{name}: {description}" if name and description else name or description
    return cut_end(clean_for_display(text, one_line=True), _ABOUT_CHARS)


def _being_typed(spec: PromptSpec, typed: str) -> tuple[str, str, dict[str, str], str]:
    """Return the argument at the end of ``typed``, what stands of it, the values of those before, and their text."""
    line = read_line(typed)
    lead = len(typed) - len(typed.lstrip())
    count = len(line.words)
    number = count + 1 if not count or typed[-1:].isspace() else count
    last = len(spec.arguments)
    if number >= last:  # the last argument takes the rest of the line
        number, value = last, line.rest(last) if count >= last else ""
    else:
        value = line.word(number)
    others = {item.name: line.word(place) for place, item in enumerate(spec.arguments[: number - 1], 1)}
    start = lead + line.words[number - 1].start if number <= count else len(typed)
    return spec.arguments[number - 1].name, value, others, typed[:start]


def _word(text: str) -> str:
    if not any(character.isspace() or character in "\"'" for character in text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
