"""``list``: the entries of one folder."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any, Final

from harness_tui.core.errors import ToolError
from harness_tui.core.event_parts import ArgumentsPreview
from harness_tui.core.nofollow import open_file
from harness_tui.core.seams import PreparedCall, ToolContext, ToolResult
from harness_tui.tools.builtin import BuiltinTool, title_of
from harness_tui.tools.ignores import IgnoreRules
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
    entries, ignored = await asyncio.to_thread(_entries, tool, target, context.root.resolve())
    shown = entries[offset - 1 : offset - 1 + min(limit, SHOWN_ENTRIES)]
    notes: list[str] = []
    if not entries and not ignored:
        notes.append("The folder is empty.")
    if entries and not shown:
        text = f"entry {offset} is past the end: the folder has {len(entries)} entries"
        raise ToolError(text, where=f"{tool}: {target.name}")
    last = offset - 1 + len(shown)
    if len(shown) < len(entries):
        more = f"; read the folder with offset {last + 1} for more" if last < len(entries) else ""
        notes.append(f"[entries {offset} to {last} of {len(entries)}{more}]")
    if ignored:
        notes.append(f"[{ignored} ignored {'entry is' if ignored == 1 else 'entries are'} not shown]")
    return await limited_result(
        "\n".join(shown), context, notes="\n".join(notes), metadata={"path": target.name, "count": len(entries)}
    )


def _entries(tool: str, target: Target, root: Path) -> tuple[list[str], int]:
    where = f"{tool}: {target.name}"
    if target.path.is_file():
        raise ToolError("this is a file", where=where, mend="use read", code="file")
    try:
        descriptor = open_file(target.path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise ToolError(error.strerror or str(error), where=where, code="unreadable") from error
    try:
        return _listed(target, root, descriptor)
    except OSError as error:
        raise ToolError(error.strerror or str(error), where=where, code="unreadable") from error
    finally:
        os.close(descriptor)


def _listed(target: Target, root: Path, descriptor: int) -> tuple[list[str], int]:
    with os.scandir(descriptor) as scan:
        found = [entry for entry, _ in zip(scan, range(_SCANNED), strict=False)]
    rules = IgnoreRules(root, target.path)
    folders: list[str] = []
    files: list[str] = []
    ignored = 0
    for entry in sorted(found, key=lambda entry: entry.name):
        is_folder = entry.is_dir(follow_symlinks=False)
        if rules.ignores(target.path / entry.name, is_folder=is_folder):
            ignored += 1
        else:
            (folders if is_folder else files).append(_shown(entry, is_folder, descriptor))
    return folders + files, ignored


def _shown(entry: os.DirEntry[str], is_folder: bool, folder: int) -> str:
    name = entry.name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if is_folder:
        return f"{name}/"
    if entry.is_symlink():
        try:
            return f"{name} -> {os.readlink(entry.name, dir_fd=folder)}"
        except OSError:
            return f"{name} -> ?"
    return name
