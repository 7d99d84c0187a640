"""Resources of servers that a message mentions as ``@server:uri``: read, and attached once each.

A configured server's name before a colon means its resource; a file of such a name is written ``./server:name``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from harness_tui.core.errors import HarnessError
from harness_tui.core.messages import Attachment
from harness_tui.core.resources import ReadableResources
from harness_tui.core.text import clean_for_display, cut_end

RESOURCES: Final = 50
"""How many resources of one message are read."""

_URI_CHARS: Final = 2_048
_SHOWN_CHARS: Final = 200


class ResourceMentions:
    """Reads what one message mentions of ``source``; what was not attached is told in :attr:`warnings`."""

    def __init__(self, source: ReadableResources | None, *, images: bool) -> None:
        self._source = source
        self._images = images
        self._read: set[tuple[str, str]] = set()
        self.attachments: list[Attachment] = []
        self.warnings: list[str] = []

    async def take(self, paths: Sequence[str]) -> list[str]:
        """Attach the resources among ``paths``, in order, and return the paths that name none."""
        if self._source is None:
            return list(paths)
        rest: list[str] = []
        for text in paths:
            named = self._source.resource_named(text) if len(text) <= _URI_CHARS else None
            if named is None:
                rest.append(text)
            elif named not in self._read:
                await self._attach(self._source, *named)
        return rest

    async def _attach(self, source: ReadableResources, server: str, uri: str) -> None:
        if len(self._read) >= RESOURCES:
            text = f"only the first {RESOURCES} resources of a message are read"
            self.warnings += [text] if text not in self.warnings else []
            return
        self._read.add((server, uri))
        shown = cut_end(clean_for_display(f"{server}:{uri}", one_line=True), _SHOWN_CHARS)
        try:
            read = await source.read_resource(server, uri, images=self._images)
        except HarnessError as problem:
            self.warnings.append(f"@{shown}: not attached, {clean_for_display(str(problem), one_line=True)}")
            return
        self.attachments += read.attachments
        self.warnings += [f"@{shown}: {note}" for note in read.notes]
