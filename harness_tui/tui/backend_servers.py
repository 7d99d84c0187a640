"""What MCP servers offer, as the front end needs it; the workspace satisfies these Protocols by shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from harness_tui.core.resources import ReadResource


class ServerToolRow(Protocol):
    """A tool of a server. ``tool`` is the server's own name for it, ``name`` the one that ``/call`` uses.

    ``enabled`` is false for one that configuration keeps back. ``tokens`` is an estimate.
    """

    @property
    def server(self) -> str: ...
    @property
    def tool(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def schema(self) -> dict[str, Any]: ...
    @property
    def tokens(self) -> int: ...
    @property
    def enabled(self) -> bool: ...
    @property
    def read_only(self) -> bool: ...


class ResourceRow(Protocol):
    """A resource, or a template of addresses with its ``variables``; ``mention`` stands behind ``@`` in a message."""

    @property
    def server(self) -> str: ...
    @property
    def uri(self) -> str: ...
    @property
    def mention(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def about(self) -> str: ...
    @property
    def mime(self) -> str: ...
    @property
    def size(self) -> int | None: ...
    @property
    def variables(self) -> tuple[str, ...] | None: ...


class MentionRow(Protocol):
    """Something to put behind ``@``. ``whole``: nothing more has to be typed of it."""

    @property
    def text(self) -> str: ...
    @property
    def about(self) -> str: ...
    @property
    def whole(self) -> bool: ...


class ValueRow(Protocol):
    """A value for an argument; ``text`` is what stands behind the command's name once it is taken."""

    @property
    def value(self) -> str: ...
    @property
    def text(self) -> str: ...


class ServerOffers(Protocol):
    """What the servers offer. Methods that ask a server raise ``HarnessError``, those for typing never do."""

    async def tools(self, server: str | None = None) -> Sequence[ServerToolRow]:
        """Return the tools known now, by server and name, those that configuration keeps back as well."""
        ...

    async def faults(self, schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
        """Say what of ``arguments`` does not fit ``schema``; empty when all does."""
        ...

    async def resources(self, server: str | None = None) -> Sequence[ResourceRow]:
        """Return the resources known now, then the templates."""
        ...

    async def read(self, server: str, uri: str) -> ReadResource:
        """Read a resource, its server started when needed."""
        ...

    async def address(self, server: str, template: str, values: Mapping[str, str]) -> str:
        """Return the address that a template gives with ``values``."""
        ...

    async def values(
        self, server: str, template: str, variable: str, value: str, others: Mapping[str, str]
    ) -> Sequence[str]:
        """Return what the server offers for a variable of a template."""
        ...

    async def mentions(self, typed: str) -> Sequence[MentionRow]:
        """Return what may stand behind ``@`` where ``typed`` stands: ``server:uri`` rows, best first, at most 100.

        Quick while a server or an address is typed; the values of a variable are asked of its server, so that this may
        take seconds: call it again, and cancel it, at each key.
        """
        ...

    async def prompt_values(self, name: str, typed: str) -> Sequence[ValueRow]:
        """Return values for the argument at the end of ``/name typed``. Takes up to some seconds, as above."""
        ...
