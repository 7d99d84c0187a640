"""What the front matter of a command or skill says about how it is run: one reading for both."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from harness_tui.core.record import record
from harness_tui.library.coercion import Reader
from harness_tui.library.diagnostics import Findings
from harness_tui.library.front_matter import Document
from harness_tui.library.shell_parts import SHELL_SECONDS_HIGH, SHELL_SECONDS_LOW

RUN_KEYS: Final = frozenset(
    {
        "agent",
        "aliases",
        "allowed-tools",
        "argument-hint",
        "arguments",
        "context",
        "description",
        "disable-model-invocation",
        "hidden",
        "model",
        "subtask",
        "timeout",
        "user-invocable",
    }
)
"""Keys that commands and skills share; others are somebody else's and are left alone."""

_NAME: Final = re.compile(r"[^\W\d]\w*")


@record
class Header:
    """How a template is run. ``arguments`` are declared names by position from 1; ``timeout`` is in seconds.

    ``description`` is one line with single blanks, empty without one. ``allowed_tools_line`` is where they stand.
    """

    description: str = ""
    argument_hint: str = ""
    arguments: Mapping[str, int] | None = None
    aliases: tuple[str, ...] = ()
    agent: str | None = None
    model: str | None = None
    subtask: bool = False
    timeout: float | None = None
    allowed_tools: tuple[str, ...] = ()
    allowed_tools_line: int = 1
    hidden: bool = False
    user_invocable: bool = True
    disable_model_invocation: bool = False

    @property
    def hinted(self) -> bool:
        """Whether the front matter announces arguments."""
        return bool(self.argument_hint or self.arguments)


def read_header(document: Document, findings: Findings) -> Header:
    """Read the shared keys of ``document``; what does not fit is reported and takes its default."""
    if document.entries is None:
        return Header()
    reader = Reader(document, findings)
    return Header(
        description=" ".join((reader.text("description") or "").split()),
        argument_hint=" ".join((reader.text("argument-hint") or "").split()),
        arguments=_names(reader, findings),
        aliases=tuple(alias.removeprefix("/") for alias in reader.words("aliases") if alias),
        agent=_override(reader, "agent"),
        model=_override(reader, "model"),
        subtask=reader.flag("subtask") or (reader.text("context") or "").strip() == "fork",
        timeout=reader.number("timeout", low=SHELL_SECONDS_LOW, high=SHELL_SECONDS_HIGH),
        allowed_tools=reader.tools("allowed-tools"),
        allowed_tools_line=reader.line("allowed-tools"),
        hidden=reader.flag("hidden"),
        user_invocable=reader.flag("user-invocable", default=True),
        disable_model_invocation=reader.flag("disable-model-invocation"),
    )


def _override(reader: Reader, key: str) -> str | None:
    value = (reader.text(key) or "").strip()
    return value if value and value != "inherit" else None


def _names(reader: Reader, findings: Findings) -> dict[str, int]:
    names: dict[str, int] = {}
    for position, name in enumerate(reader.words("arguments"), 1):
        if not _NAME.fullmatch(name) or name == "ARGUMENTS":
            message = f"{name!r} is no name for an argument: letters, digits and underscores are usable characters"
            findings.warn(reader.line("arguments"), "argument-name", message)
        elif name in names:
            findings.warn(reader.line("arguments"), "argument-name", f"duplicate argument {name!r}: the first counts")
        else:
            names[name] = position
    return names
