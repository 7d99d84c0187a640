"""``list``: the entries of one folder."""

from __future__ import annotations

import asyncio
import os
from itertools import islice
from pathlib import Path
from typing import Any, Final

from harness_tui.core.errors import ToolError
from harness_tui.core.event_parts import ArgumentsPreview
from harness_tui.core.nofollow import open_file
from harness_tui.core.record import record
from harness_tui.core.seams import PreparedCall, ToolContext, ToolResult
from harness_tui.tools.builtin import BuiltinTool, title_of
from harness_tui.tools.ignores import IgnoreRules
from harness_tui.tools.names import shown_name
from harness_tui.tools.outputs import limited_result
from harness_tui.tools.targets import Target, check_unmoved, find_target

SHOWN_ENTRIES: Final = 1_000
_SCANNED: Final = 100_000


class ListTool(BuiltinTool):
    """Lists a folder: folders first and with a ``/``, links with where they lead."""

    name = "list"
    description = "List the entries of a folder, by default the working folder. Ignored entries are counted, not shown."
    properties = {  # noqa: RUF012
        "path": {"type": "string", "description": "Folder to list, relative to the working folder or absolute"},
    }
    read_only = True

    async def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Resolve the folder. Raises ``ToolError``."""
        checked = self.checked(arguments)
        target = find_target(self.name, checked.get("path", "."), context)
        return PreparedCall(
            title=title_of("List", target.name),
            checks=target.checks("read"),
            preview=ArgumentsPreview(checked),
            state=target,
        )

    async def run(self, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        """List. Raises ``ToolError``."""
        target: Target = prepared.state
        check_unmoved(self.name, target, context)
        return await list_folder(self.name, target, context)


async def list_folder(
    tool: str, target: Target, context: ToolContext, *, offset: int = 1, limit: int = SHOWN_ENTRIES
) -> ToolResult:
    """Return ``limit`` entries of the folder from entry ``offset`` on, for the tool ``tool``. Raises ``ToolError``."""
    page = range(offset - 1, offset - 1 + min(limit, SHOWN_ENTRIES))
    found = await asyncio.to_thread(_entries, tool, target, context.root.resolve(), page)
    notes: list[str] = []
    if not found.count and not found.ignored:
        notes.append("The folder is empty.")
    if found.count and not found.lines:
        text = f"entry {offset} is past the end: the folder has {found.count} entries"
        raise ToolError(text, where=f"{tool}: {target.name}")
    last = offset - 1 + len(found.lines)
    if len(found.lines) < found.count:
        more = f"; read the folder with offset {last + 1} for more" if last < found.count else ""
        notes.append(f"[entries {offset} to {last} of {found.count}{more}]")
    if found.ignored:
        notes.append(f"[{found.ignored} ignored {'entry is' if found.ignored == 1 else 'entries are'} not shown]")
    if found.is_cut:
        notes.append(f"[the folder has more than {_SCANNED} entries, the others were not looked at: use glob]")
    return await limited_result(
        "\n".join(found.lines), context, notes="\n".join(notes), metadata={"path": target.name, "count": found.count}
    )


@record
class _Entries:
    """The lines of one page, of ``count`` entries that are not ignored. ``is_cut``: there are more in the folder."""

    lines: list[str]
    count: int
    ignored: int
    is_cut: bool


def _entries(tool: str, target: Target, root: Path, page: range) -> _Entries:
    where = f"{tool}: {target.name}"
    if target.path.is_file():
        raise ToolError("this is a file", where=where, mend="use read", code="file")
    try:
        descriptor = open_file(target.path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise ToolError(error.strerror or str(error), where=where, code="unreadable") from error
    try:
        return _listed(target, root, descriptor, page)
    except OSError as error:
        raise ToolError(error.strerror or str(error), where=where, code="unreadable") from error
    finally:
        os.close(descriptor)


def _listed(target: Target, root: Path, descriptor: int, page: range) -> _Entries:
    with os.scandir(descriptor) as scan:
        found = list(islice(scan, _SCANNED + 1))
    rules = IgnoreRules(root, target.path)
    folders: list[os.DirEntry[str]] = []
    files: list[os.DirEntry[str]] = []
    for entry in sorted(found[:_SCANNED], key=lambda entry: entry.name):
        is_folder = entry.is_dir(follow_symlinks=False)
        if not rules.ignores(entry.name, is_folder=is_folder):
            (folders if is_folder else files).append(entry)
    entries = folders + files
    lines = [
        _shown(entry, place < len(folders), descriptor)
        for place, entry in enumerate(entries[page.start : page.stop], page.start)
    ]
    return _Entries(lines, len(entries), min(len(found), _SCANNED) - len(entries), len(found) > _SCANNED)


def _shown(entry: os.DirEntry[str], is_folder: bool, folder: int) -> str:
    name = shown_name(entry.name)
    if is_folder:
        return f"{name}/"
    if entry.is_symlink():
        try:
            return f"{name} -> {shown_name(os.readlink(entry.name, dir_fd=folder))}"
        except OSError:
            return f"{name} -> ?"
    return name
