"""What a server says it offers, as plain values: the same for a live server and for a cached manifest."""

from __future__ import annotations

import hashlib
import json
from dataclasses import field, replace
from typing import Any, Final, Literal, TypeAlias

from harness_tui.core.limits import TOOL_DESCRIPTION_CHARS
from harness_tui.core.record import record
from harness_tui.core.remote_skills import RemoteSkill
from harness_tui.core.resources import ResourceSpec, ResourceTemplate
from harness_tui.core.seams import PromptSpec

Era: TypeAlias = Literal["modern", "legacy"]
"""``modern`` servers speak without a handshake (2026-07-28 and later), ``legacy`` ones begin with ``initialize``."""

TOKEN_CHARS: Final = 4
"""Characters that count as one token in estimates."""


@record
class ToolDefinition:
    """One tool as its server defines it. ``schema`` is the input schema, untouched; hints are the server's own claims.

    ``structured`` tells that an output schema is declared. ``digest`` and ``cost`` are fingerprint and tokens, known
    beforehand in a :meth:`weighed` one.
    """

    name: str
    description: str
    schema: dict[str, Any]
    title: str | None = None
    read_only: bool = False
    structured: bool = False
    digest: str | None = field(default=None, compare=False)
    cost: int | None = field(default=None, compare=False)

    def weighed(self) -> ToolDefinition:
        """Return the same with fingerprint and tokens counted: for thousands of tools to be done in a thread."""
        plain = replace(self, digest=None, cost=None)
        return replace(self, digest=plain.fingerprint, cost=plain.tokens)

    @property
    def fingerprint(self) -> str:
        """The SHA-256 that approvals are bound to: it changes when what the model reads of this tool changes."""
        if self.digest is not None:
            return self.digest
        shown = json.dumps([self.name, self.description, self.schema], sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(shown.encode("ascii")).hexdigest()

    @property
    def tokens(self) -> int:
        """Roughly what this definition costs in each request."""
        if self.cost is not None:
            return self.cost
        words = self.description[:TOOL_DESCRIPTION_CHARS]
        return -(-len(json.dumps([self.name, words, self.schema], ensure_ascii=False)) // TOKEN_CHARS)


@record
class Quarantined:
    """A tool that is left out, and why."""

    name: str
    reason: str


@record
class Listing:
    """Everything that one server offers. ``protocol`` is the revision that was negotiated.

    ``completes``: it offers values for the arguments of prompts and templates. ``publishes``: it has skills, also such
    as it does not list.
    """

    tools: tuple[ToolDefinition, ...] = ()
    prompts: tuple[PromptSpec, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()
    protocol: str | None = None
    era: Era | None = None
    instructions: str | None = None
    resources: tuple[ResourceSpec, ...] = ()
    templates: tuple[ResourceTemplate, ...] = ()
    completes: bool = False
    skills: tuple[RemoteSkill, ...] = ()
    publishes: bool = False

    def tool(self, name: str) -> ToolDefinition | None:
        """Return the tool that the server calls ``name``."""
        return next((tool for tool in self.tools if tool.name == name), None)

    @property
    def remark(self) -> str | None:
        """Say which tools are left out, and why; ``None`` when none is."""
        if not self.quarantined:
            return None
        listed = "; ".join(f"{item.name} ({item.reason})" for item in self.quarantined[:5])
        more = len(self.quarantined) - 5
        return f"left out: {listed}" + (f" and {more} more" if more > 0 else "")


@record
class CallOutcome:
    """The answer to one call. ``content`` holds the blocks in their wire form, ``structured`` any JSON value."""

    content: tuple[dict[str, Any], ...]
    structured: Any = None
    is_error: bool = False


@record
class ServerStatus:
    """One line of a server list. ``tools`` counts what is offered, ``tokens`` estimates what that costs per request.

    ``state`` is one of ``core.values.McpState``; ``source`` is the ``file:line`` of the entry; ``mend`` says what to do
    about a server that failed.
    """

    name: str
    state: str
    reason: str | None
    protocol: str | None
    transport: str
    tools: int
    tokens: int
    stderr_tail: str
    source: str
    mend: str | None = None


def changes(before: Listing, after: Listing) -> str:
    """Say which tools are new, gone or different, empty where none is."""
    old = {tool.name: tool.fingerprint for tool in before.tools}
    new = {tool.name: tool.fingerprint for tool in after.tools}
    parts = {
        "new": sorted(new.keys() - old.keys()),
        "gone": sorted(old.keys() - new.keys()),
        "different": sorted(name for name in new.keys() & old.keys() if new[name] != old[name]),
    }
    return "; ".join(f"{word}: {', '.join(names)}" for word, names in parts.items() if names)
