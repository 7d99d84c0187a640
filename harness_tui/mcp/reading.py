"""Requests of the client beyond tools: prompts, resources, their templates, and values for arguments.

Imports the SDK: loaded with the first server, in a thread.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar, cast

from mcp import Client, MCPError
from mcp.shared.uri_template import InvalidUriTemplate, UriTemplate
from mcp_types import PromptReference, ResourceTemplateReference

from harness_tui.core.resources import ArgumentOf, ResourceSpec, ResourceTemplate
from harness_tui.core.text import cut_end
from harness_tui.mcp.exchange import without_surrogates
from harness_tui.mcp.reasons import METHOD_NOT_FOUND, plain_words

MAX_PAGES: Final = 100
MAX_RESOURCES: Final = 2_000
MAX_TEMPLATES: Final = 500
DESCRIPTION_CHARS: Final = 1_000
COMPLETIONS: Final = 100

_URI_CHARS: Final = 2_048
T = TypeVar("T")


async def list_resources(client: Client, server: str, left_out: dict[str, str]) -> tuple[ResourceSpec, ...]:
    """Return the resources of ``server``, by address. One that cannot list them still has its tools."""

    async def page(cursor: str | None) -> tuple[list[ResourceSpec], str | None]:
        result = await client.list_resources(cursor=cursor)
        return [
            ResourceSpec(
                server,
                item.uri,
                item.title or item.name,
                cut_end(item.description or "", DESCRIPTION_CHARS),
                item.mime_type,
                item.size,
            )
            for item in result.resources
            if len(item.uri) <= _URI_CHARS
        ], result.next_cursor

    found = await _pages(page, "resources/list", MAX_RESOURCES, left_out)
    return tuple(sorted({item.uri: item for item in reversed(found)}.values(), key=lambda item: item.uri))


async def list_templates(client: Client, server: str, left_out: dict[str, str]) -> tuple[ResourceTemplate, ...]:
    """Return the templates of ``server``, by address; one that is none is left out with its reason."""

    async def page(cursor: str | None) -> tuple[list[ResourceTemplate], str | None]:
        result = await client.list_resource_templates(cursor=cursor)
        found: list[ResourceTemplate] = []
        for item in result.resource_templates:
            try:
                variables = tuple(UriTemplate.parse(item.uri_template, max_length=_URI_CHARS).variable_names)
            except InvalidUriTemplate as error:
                left_out[cut_end(item.uri_template, 100)] = f"is no template of addresses: {plain_words(error)}"
                continue
            about = cut_end(item.description or "", DESCRIPTION_CHARS)
            name = item.title or item.name
            found.append(ResourceTemplate(server, item.uri_template, name, about, item.mime_type, variables))
        return found, result.next_cursor

    found = await _pages(page, "resources/templates/list", MAX_TEMPLATES, left_out)
    return tuple(sorted({item.uri_template: item for item in reversed(found)}.values(), key=lambda t: t.uri_template))


async def _pages(
    page: Callable[[str | None], Awaitable[tuple[list[T], str | None]]],
    method: str,
    most: int,
    left_out: dict[str, str],
) -> list[T]:
    found: list[T] = []
    cursor: str | None = None
    try:
        for _ in range(MAX_PAGES):
            items, cursor = await page(cursor)
            found += items
            if not cursor:
                return found
            if len(found) >= most:
                break
        left_out[method] = f"stopped after {len(found[:most])}"
    except MCPError as error:
        if error.code != METHOD_NOT_FOUND:
            left_out[method] = plain_words(error)
    except ValueError as error:
        left_out[method] = plain_words(error)
    return found[:most]


async def read(client: Client, uri: str) -> list[dict[str, Any]]:
    """Return the contents of a resource in wire form. Raises what the SDK raises."""
    result = await client.read_resource(str(without_surrogates(uri)))
    return [item.model_dump(by_alias=True, exclude_none=True) for item in result.contents]


async def get_prompt(client: Client, name: str, arguments: dict[str, str]) -> list[tuple[str, dict[str, Any]]]:
    """Return the messages of a prompt as pairs of role and content block in wire form."""
    result = await client.get_prompt(name, cast(dict[str, str], without_surrogates(arguments)))
    return [(message.role, message.content.model_dump(by_alias=True, exclude_none=True)) for message in result.messages]


async def complete(
    client: Client, of: ArgumentOf, argument: str, value: str, others: Mapping[str, str]
) -> tuple[str, ...]:
    """Return what the server offers for an argument. Raises what the SDK raises."""
    ref = (
        PromptReference(type="ref/prompt", name=of.name)
        if of.kind == "prompt"
        else ResourceTemplateReference(type="ref/resource", uri=of.name)
    )
    result = await client.complete(ref, {"name": argument, "value": value}, dict(others) or None)
    return tuple(dict.fromkeys(result.completion.values))[:COMPLETIONS]


def expand(template: str, values: Mapping[str, str]) -> str:
    """Return the address that ``template`` gives with ``values``. Raises ``ValueError`` for no template."""
    return UriTemplate.parse(template, max_length=_URI_CHARS).expand(dict(values))
