"""What servers offer to be read: resources, templates of their addresses, and the values that fit an argument."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from harness_tui.core.messages import Attachment
from harness_tui.core.record import record


@record
class ResourceSpec:
    """One resource of a server. ``size`` is in bytes, as the server claims."""

    server: str
    uri: str
    name: str = ""
    description: str = ""
    mime: str | None = None
    size: int | None = None


@record
class ResourceTemplate:
    """A pattern of addresses (RFC 6570) with the names of its ``variables``, in order."""

    server: str
    uri_template: str
    name: str = ""
    description: str = ""
    mime: str | None = None
    variables: tuple[str, ...] = ()


@record
class ArgumentOf:
    """The prompt, or the template of addresses, that an argument belongs to."""

    kind: Literal["prompt", "template"]
    name: str


@record
class ReadResource:
    """What was read. ``notes`` say which parts are not among the attachments, and why."""

    attachments: tuple[Attachment, ...]
    notes: tuple[str, ...] = ()


class ReadableResources(Protocol):
    """Resources by what a person types for them."""

    def resource_named(self, text: str) -> tuple[str, str] | None:
        """Return server and address of ``server:uri``, ``None`` when no configured server is meant.

        What stands behind an address at the end of a sentence is no part of it, unless the server lists it so.
        """
        ...

    async def read_resource(self, server: str, uri: str, *, images: bool = True) -> ReadResource:
        """Read a resource, its server started when needed; without ``images`` text only. Raises ``HarnessError``."""
        ...


class ResourceSource(ReadableResources, Protocol):
    """Servers that offer resources."""

    def resources(self) -> Sequence[ResourceSpec]:
        """Return the resources known now, by server, then address."""
        ...

    def templates(self) -> Sequence[ResourceTemplate]:
        """Return the templates known now, by server, then address."""
        ...

    async def expand(self, template: ResourceTemplate, values: Mapping[str, str]) -> str:
        """Return the address that ``template`` gives with ``values``. Raises ``HarnessError`` for no template."""
        ...

    async def complete(
        self, server: str, of: ArgumentOf, argument: str, value: str, others: Mapping[str, str]
    ) -> Sequence[str]:
        """Return what the server offers for ``argument`` that begins with ``value``, empty where it offers nothing.

        ``others`` are the arguments that are known. Starts no server. Raises ``HarnessError``.
        """
        ...
