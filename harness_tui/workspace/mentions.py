"""What can be written after ``@`` in a message: files and folders, agents, resources of servers.

Only what the library then attaches is offered, written as it has to be.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from harness_tui.core.paths import expand
from harness_tui.core.record import record
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.library.mentions import mention_of
from harness_tui.tools.file_index import FileIndex
from harness_tui.workspace.offers import ServerOffers

if TYPE_CHECKING:
    from harness_tui.workspace.workspace import Workspace

MAX_ROWS: Final = 100
_MAX_OTHERS: Final = 20
_ABOUT_CHARS: Final = 200


@record
class MentionRow:
    """One thing to mention. ``insert`` is what is written, with the ``@``; a folder can be gone into.

    ``label`` is what it is called, ``about`` says more, ``source`` what kind it is, or which server's.
    """

    insert: str
    label: str
    about: str = ""
    source: str = ""
    is_folder: bool = False


class Mentions:
    """Finds what is meant by the beginning of a mention."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._files = FileIndex(workspace.children, workspace.project.root)

    async def find(self, typed: str, *, agents: bool) -> Sequence[MentionRow]:
        """Return what ``typed``, the text behind the ``@``, can become, best first; ``agents`` only where they count.

        A later call ends one that still searches. Raises ``HarnessError``.
        """
        if "#" in typed and (lines := await asyncio.to_thread(self._lines, typed)):
            return lines
        found = await self._files.find(typed, MAX_ROWS)
        resources = await self._resources(typed)
        rows = [*self._agents(typed), *resources] if agents else resources
        rows += [row for path in found.paths if (row := _file_row(path)) is not None]
        if found.note is not None and not found.paths:
            rows.append(MentionRow("", f"no files: {found.note}", source="files"))
        return rows[:MAX_ROWS]

    async def refreshed(self) -> bool:
        """Look at the files again where the list is old; return whether that was done."""
        return await self._files.refreshed()

    async def close(self) -> None:
        """End what still looks."""
        await self._files.close()

    def _agents(self, typed: str) -> Iterator[MentionRow]:
        for agent in self._workspace.loaded.settings.agents.values():
            mention = mention_of(agent.name)
            if agent.mode != "primary" and mention is not None and agent.name.startswith(typed):
                about = cut_end(clean_for_display(agent.description, one_line=True), _ABOUT_CHARS)
                yield MentionRow(mention, agent.name, about, "agent")

    async def _resources(self, typed: str) -> list[MentionRow]:
        """Return resources of servers, and the values of a template's variable where one is typed."""
        if not typed:
            return []
        offers = ServerOffers(self._workspace, session="", agent="", mode="")
        rows: list[MentionRow] = []
        for row in (await offers.mentions(typed))[:_MAX_OTHERS]:
            mention = _resource_mention(row.text)
            if mention is not None:
                server = clean_for_display(row.text.partition(":")[0], one_line=True)
                rows.append(MentionRow(mention, row.text, row.about, f"mcp · {server}", is_folder=not row.whole))
        return rows

    def _lines(self, typed: str) -> list[MentionRow]:
        path, _, marks = typed.rpartition("#")
        match = re.fullmatch(r"L?(\d{0,9})(?:-L?(\d{0,9}))?", marks)
        mention = mention_of(typed)
        if match is None or mention is None or not _is_file(path, self._workspace.project.root):
            return []
        if not match[1]:
            return [MentionRow("", typed, "lines of it: #L10, or #L10-20", "lines")]
        last = f" to {match[2]}" if match[2] else ""
        return [MentionRow(mention, typed, f"line{'s' if last else ''} {match[1]}{last}", "lines")]


def _is_file(path: str, root: Path) -> bool:
    try:
        return bool(path) and expand(path, root).is_file()
    except (OSError, ValueError):
        return False


def _file_row(path: str) -> MentionRow | None:
    mention = mention_of(path)
    if mention is None:
        return None
    is_folder = path.endswith("/")
    return MentionRow(mention, path, source="folder" if is_folder else "", is_folder=is_folder)


def _resource_mention(address: str) -> str | None:
    mention = mention_of(address)  # a file's first part must not look like a server's name; this one is meant so
    return mention.replace("./", "", 1) if mention is not None else None
