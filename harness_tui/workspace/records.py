"""Recorded sessions for people: where one can be forked, its text, and the file that it is written to."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness_tui.core.errors import HarnessError
from harness_tui.core.paths import expand, short
from harness_tui.core.text import clean_for_display
from harness_tui.sessions import copying, exporting
from harness_tui.sessions.undo_log import LoggedRun
from harness_tui.tools.diffs import make_diff
from harness_tui.tools.text_file import decode
from harness_tui.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ForkPoint:
    """A message of the person's: a fork before it ends with the event ``seq``."""

    seq: int
    text: str


class SessionRecords:
    """What can be done with the recorded sessions of ``workspace``."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def fork_points(self, session: str) -> Sequence[ForkPoint]:
        """Return where a person spoke, the latest first; before the first message there is nothing to fork."""
        found = await asyncio.to_thread(copying.message_numbers, self._workspace.store, session)
        return [ForkPoint(seq, text) for seq, text in reversed(found) if seq]

    async def fork(self, session: str, at: int | None) -> str:
        """Copy a session, up to the event ``at`` or whole, and return the copy's id."""
        store, clock = self._workspace.store, self._workspace.clock
        info = await asyncio.to_thread(lambda: copying.fork(store, store.info(session).session, clock, at=at))
        return info.session

    async def text(self, session: str) -> str:
        """Return a session as Markdown, whoever has it open."""
        return await asyncio.to_thread(lambda: "".join(exporting.export(self._workspace.store, session, "md")))

    async def changes(self, session: str) -> Sequence[LoggedRun]:
        """Return what each run of a session, with its subagents, did to files, the oldest first."""
        store = self._workspace.store
        log = await asyncio.to_thread(lambda: store.undo_log(store.info(session).session))
        return [run for run in log.runs if run.files]

    async def differences(self, files: Sequence[tuple[str, str | None, str | None]]) -> str:
        """Return the unified diffs of ``(path, before, after)``, hashes of kept contents, as one text.

        Where contents are not kept, or are no text, the diff of that file says so.
        """
        return await asyncio.to_thread(self._differences, files)

    def _differences(self, files: Sequence[tuple[str, str | None, str | None]]) -> str:
        parts: list[str] = []
        for path, before, after in files:
            name, text, why = clean_for_display(path, one_line=True), "", ""
            try:
                text = make_diff(self._text(path, before), self._text(path, after), path, created=before is None).text
            except HarnessError as error:
                why = clean_for_display(error.what, one_line=True)
            if not text:
                name = f"{name} ({why or 'only line ends differ'})"
            parts.append(text if text and len(files) == 1 else f"diff {name}\n{text}")
        return "".join(parts)

    def _text(self, path: str, name: str | None) -> str:
        if name is None:
            return ""
        return decode(self._workspace.blobs.get(name), path).for_model()

    async def export(self, session: str, target: str) -> str:
        """Write a session to the file that ``target`` names, and return its path and size in words.

        A name's end says the form. ``target`` may be ``md``, ``json`` or ``html`` alone, or empty: a file in the start
        folder then, under a name that is free. Raises ``HarnessError``.
        """
        return await asyncio.to_thread(self._export, session, target.strip())

    def _export(self, session: str, target: str) -> str:
        start = self._workspace.project.start
        if target in ("", "md", "json", "html"):
            form = target or "md"
            path = _free(start, f"harness-{session}", form)
        else:
            path = expand(target, start)
            form = exporting.form_of(path) or "md"
            if path.exists():
                raise HarnessError("there is such a file already", where=str(path), mend="name another one")
        size = exporting.write(path, exporting.export(self._workspace.store, session, form))
        return f"{short(path)}, {size} bytes"


def _free(folder: Path, stem: str, suffix: str) -> Path:
    for number in range(1, 1000):
        path = folder / (f"{stem}.{suffix}" if number == 1 else f"{stem}-{number}.{suffix}")
        with contextlib.suppress(OSError):
            if not path.exists():
                return path
    raise HarnessError("a thousand exports of this session lie here", where=str(folder), mend="name a file")
