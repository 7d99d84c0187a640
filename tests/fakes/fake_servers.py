"""What MCP servers offer to a front end, from lists; what is asked of them is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness_tui.core.messages import Attachment
from harness_tui.core.resources import ReadResource
from harness_tui.mcp.schemas import faults_of


@dataclass(frozen=True, slots=True)
class FakeTool:
    server: str
    tool: str
    description: str = ""
    schema: dict[str, Any] = field(default_factory=dict[str, Any])
    tokens: int = 100
    enabled: bool = True
    read_only: bool = False
    title: str = ""

    @property
    def name(self) -> str:
        return f"{self.server}_{self.tool}" if self.enabled else ""


@dataclass(frozen=True, slots=True)
class FakeResource:
    server: str
    uri: str
    name: str = ""
    about: str = ""
    mime: str = "text/plain"
    size: int | None = None
    variables: tuple[str, ...] | None = None

    @property
    def mention(self) -> str:
        return f"{self.server}:{self.uri}"


@dataclass(frozen=True, slots=True)
class FakeValue:
    value: str
    text: str


class FakeServers:
    """Satisfies ``tui.backend_servers.ServerOffers``."""

    def __init__(self, tools: Sequence[FakeTool] = (), resources: Sequence[FakeResource] = ()) -> None:
        self.listed = tools
        self.things = resources
        self.asked: list[str] = []
        self.offered: dict[str, list[str]] = {}

    async def tools(self, server: str | None = None) -> Sequence[FakeTool]:
        return [tool for tool in self.listed if server in (None, tool.server)]

    async def faults(self, schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
        return faults_of(schema, arguments)

    async def resources(self, server: str | None = None) -> Sequence[FakeResource]:
        return [item for item in self.things if server in (None, item.server)]

    async def read(self, server: str, uri: str) -> ReadResource:
        self.asked.append(f"read {server}:{uri}")
        text = f"text of {uri}\x1b[2J"
        return ReadResource((Attachment("resource", "text/plain", len(text), uri=f"{server}:{uri}", content=text),))

    async def address(self, server: str, template: str, values: Mapping[str, str]) -> str:
        for name, value in values.items():
            template = template.replace(f"{{{name}}}", value)
        return template

    async def values(
        self, server: str, template: str, variable: str, value: str, others: Mapping[str, str]
    ) -> Sequence[str]:
        self.asked.append(f"values {variable} {dict(others)}")
        return self.offered.get(variable, [])

    async def mentions(self, typed: str) -> Sequence[Any]:
        return []

    async def prompt_values(self, name: str, typed: str) -> Sequence[FakeValue]:
        self.asked.append(f"prompt {name} {typed}")
        before, blank, word = typed.rpartition(" ")
        offered = [value for value in self.offered.get(name, []) if value.startswith(word)]
        return [FakeValue(value, f"{before}{blank}{value}{'' if blank else ' '}") for value in offered]
