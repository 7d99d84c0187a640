"""One command file that the caller vouches for, expanded by itself: ``commands expand --file``."""

from __future__ import annotations

import asyncio
from pathlib import Path

from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.library.command_file import CommandText, read_command
from harness_tui.library.expand import expand_template
from harness_tui.library.expansion import Expansion, Surroundings


def _read_file(path: Path) -> CommandText:
    return read_command(path, path.stem, "user", trusted=True).read()


async def expand_file(path: Path, args_line: str, around: Surroundings) -> Expansion:
    """Expand one command file, which the caller vouches for. Raises ``UsageError`` if it cannot be read."""
    try:
        text = await asyncio.to_thread(_read_file, path)
    except HarnessError as problem:
        raise UsageError(problem.what, where=str(path), mend="name a readable Markdown file") from problem
    return await expand_template(text.template, args_line, around)
