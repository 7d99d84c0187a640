"""What the built-in tools share: their specification, and arguments that were checked against it."""

from __future__ import annotations

from typing import Any

from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.core.values import SourceRef, ToolSpec
from harness_tui.tools.arguments import check_arguments

_TITLE_CHARS = 100


class BuiltinTool:
    """The base of a built-in tool: ``name``, ``description``, ``properties`` and ``required`` become its ``spec``."""

    name: str
    description: str
    properties: dict[str, Any]
    required: tuple[str, ...] = ()
    read_only: bool = False

    def __init__(self) -> None:
        self._spec = ToolSpec(
            name=self.name,
            description=self.description,
            parameters={
                "type": "object",
                "properties": self.properties,
                "required": list(self.required),
                "additionalProperties": False,
            },
            source=SourceRef("builtin"),
            read_only=self.read_only,
        )

    @property
    def spec(self) -> ToolSpec:
        """Name, description, parameters."""
        return self._spec

    def checked(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return ``arguments`` as the schema wants them. Raises ``ToolError``."""
        return check_arguments(self.name, self._spec.parameters, arguments)


def title_of(verb: str, target: str) -> str:
    """Return the one line that a person sees of a call."""
    return cut_end(clean_for_display(f"{verb} {target}", one_line=True), _TITLE_CHARS)
