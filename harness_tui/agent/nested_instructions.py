"""Instruction files of folders further down: picked up when a file below them is read or changed, once each."""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from harness_tui.agent.instruction_imports import MayRead
from harness_tui.agent.instructions import InstructionFile, instructions_text, nested_files, read_with_imports
from harness_tui.core.envelope import Envelope
from harness_tui.core.events import ContextCompacted
from harness_tui.core.messages import Message, ToolMessage
from harness_tui.core.paths import digest, is_inside
from harness_tui.core.text import clean_for_display

_LOOKED_AT_BY: Final = frozenset({"read", "edit", "write"})
_SENT: Final = re.compile(
    r'^<instructions path="([^"\n]*)"(?: trusted="no")?>\n(.*?)\n</instructions>$', re.DOTALL | re.MULTILINE
)


class NestedInstructions:
    """What one session was sent beside results: file and the hash of its text. A compaction begins anew.

    ``in_prompt`` are the files that the system prompt holds anyway.
    """

    def __init__(self) -> None:
        self._sent: dict[str, str] = {}
        self.in_prompt: frozenset[str] = frozenset()

    def listener(self, envelope: Envelope) -> None:
        """Forget everything after a compaction: what was sent stands in no message any more."""
        if isinstance(envelope.event, ContextCompacted):
            self._sent.clear()

    def take(self, messages: Iterable[Message]) -> None:
        """Note what the messages of a record hold, and nothing else."""
        self._sent.clear()
        for message in messages:
            if isinstance(message, ToolMessage) and message.tool in _LOOKED_AT_BY:
                for name, text in _SENT.findall(message.text):
                    self._sent[html.unescape(name)] = _mark(text)

    async def for_result(
        self, tool: str, metadata: dict[str, Any], *, root: Path, start: Path, trusted: bool, may_read: MayRead
    ) -> str | None:
        """Return the text to append to a result of ``tool``: files that apply to its path and were not sent before.

        ``may_read`` tells what they may import.
        """
        path = metadata.get("path")
        if tool not in _LOOKED_AT_BY or not isinstance(path, str):
            return None
        found = await asyncio.to_thread(_find, root / path, root, start, may_read)
        texts: list[str] = []
        for file in found:
            if file.name in self.in_prompt:
                continue
            if file.problem is not None:
                text = f"[{clean_for_display(file.name, one_line=True)}: {file.problem}]"
                if self._sent.setdefault(file.name, text) is text:
                    texts.append(text)
                continue
            text = instructions_text(file, trusted=trusted)
            sent = _SENT.search(text)
            mark = _mark(sent[2] if sent else text)
            if file.text.strip() and self._sent.get(file.name) != mark:
                self._sent[file.name] = mark
                texts.append(text)
        return "\n\n".join(texts) or None


def _find(path: Path, root: Path, start: Path, may_read: MayRead) -> list[InstructionFile]:
    """Read the files that apply to ``path`` and are not part of the system prompt (those from root to start)."""
    if not is_inside(path, root):
        return []
    files = nested_files(path, root, (start, *start.parents))
    return [file for found in files for file in read_with_imports(found, root, may_read)]


def _mark(text: str) -> str:
    return digest(text.encode("utf-8", "replace"))
