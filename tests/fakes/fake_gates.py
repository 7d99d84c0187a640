"""Doubles of the callbacks that a template's expansion asks, and of the servers that offer prompts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from harness_tui.core.errors import HarnessError
from harness_tui.core.seams import PromptMessage, PromptSpec
from harness_tui.core.values import Rule


class FakeShellGate:
    """Answers with ``allow`` and keeps what it was asked."""

    def __init__(self, allow: bool = True) -> None:
        self.allow = allow
        self.asked: list[tuple[list[str], list[str]]] = []
        self.grants: list[Rule] = []

    async def __call__(self, commands: Sequence[str], words: Sequence[str], grants: Sequence[Rule], /) -> bool:
        self.asked.append((list(commands), list(words)))
        self.grants += grants
        return self.allow


class FakeReadGate:
    """Refuses the paths named ``refused`` and keeps what it was asked."""

    def __init__(self, *refused: str) -> None:
        self._refused = refused
        self.asked: list[str] = []

    async def __call__(self, path: Path) -> bool:
        self.asked.append(path.name)
        return path.name not in self._refused


class FakePrompts:
    """Servers with prompts; ``messages`` is what every prompt gives, ``error`` makes it fail."""

    def __init__(self, *specs: PromptSpec, messages: Sequence[PromptMessage] = (), error: str | None = None) -> None:
        self._specs = specs
        self._messages = messages
        self._error = error
        self.fetched: list[tuple[str, str, dict[str, str]]] = []

    def prompts(self) -> Sequence[PromptSpec]:
        return self._specs

    async def get_prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> Sequence[PromptMessage]:
        self.fetched.append((server, name, dict(arguments)))
        if self._error is not None:
            raise HarnessError(self._error, where=server)
        return self._messages
