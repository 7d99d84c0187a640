"""What servers offer besides tools, each piece of it fetched only where that may be."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

from harness_tui.core.errors import RefusedError
from harness_tui.core.resources import ReadableResources, ReadResource
from harness_tui.core.seams import PromptMessage, PromptSource, PromptSpec

MayRead: TypeAlias = Callable[[str, str], Awaitable[bool]]
"""``(server, uri)``: tells whether the resource may be read, asking somebody where that is to be asked."""


class GatedPrompts:
    """The prompts of servers, each fetched only where no rule denies it."""

    def __init__(self, source: PromptSource, may_fetch: Callable[[str], bool]) -> None:
        self._source = source
        self._may_fetch = may_fetch

    def prompts(self) -> Sequence[PromptSpec]:
        """Return the prompts known now."""
        return self._source.prompts()

    async def get_prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> Sequence[PromptMessage]:
        """Fetch a prompt's messages. Raises ``RefusedError`` where a rule denies it."""
        if not self._may_fetch(server):
            raise RefusedError(f"a rule denies prompts of the server {server}", where=f"mcp {server}_get_prompt")
        return await self._source.get_prompt(server, name, arguments)


class GatedResources:
    """The resources of servers, each read only where that is allowed."""

    def __init__(self, source: ReadableResources, may_read: MayRead) -> None:
        self._source = source
        self._may_read = may_read

    def resource_named(self, text: str) -> tuple[str, str] | None:
        """Return server and address of ``server:uri``, ``None`` when no configured server is meant."""
        return self._source.resource_named(text)

    async def read_resource(self, server: str, uri: str, *, images: bool = True) -> ReadResource:
        """Read a resource. Raises ``RefusedError`` where that is not allowed."""
        if not await self._may_read(server, uri):
            raise RefusedError("reading it is not allowed", where=f"mcp {server}_read_resource")
        return await self._source.read_resource(server, uri, images=images)
