"""What a front end's prompt needs of the workspace: mentions, what was typed before, the editor, the clipboard."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import tempfile
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from harness_tui.children.editors import editor_command
from harness_tui.core.clock import rfc3339
from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import MIB
from harness_tui.core.paths import digest, make_private_folder, read_regular, write_atomic
from harness_tui.library.mentions import mention_of
from harness_tui.sessions.prompt_history import PastText, PromptHistoryFile
from harness_tui.workspace.clipboard_image import clipboard_image
from harness_tui.workspace.mentions import Mentions

if TYPE_CHECKING:
    from harness_tui.workspace.workspace import Workspace

_NAME_CHARS: Final = 60
_DRAFT_BYTES: Final = 16 * MIB


class PromptAids:
    """For one front end of ``workspace``."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        places = workspace.places
        self._history = PromptHistoryFile(places.prompt_history_file, places.state / "locks" / "prompts.lock")
        self.mentions = Mentions(workspace)

    async def history(self) -> Sequence[PastText]:
        """Return what was typed before, in every session and project, the newest last."""
        return await asyncio.to_thread(self._history.load)

    async def remember(self, text: str) -> None:
        """Keep what was typed. Raises ``HarnessError`` when it cannot be written."""
        root, now = str(self._workspace.project.root), rfc3339(self._workspace.clock.now())
        await asyncio.to_thread(self._history.add, PastText(text, root, now))

    async def edit_text(self, text: str) -> str:
        """Let the person's editor have ``text``, and return it when they have closed it.

        Only while nothing else draws. Raises ``HarnessError``; then nothing is lost, the caller still has the text.
        """
        added = "\n" if text else ""
        return (await self.edit_named("message.md", text + added)).removesuffix("\n")

    async def edit_named(self, name: str, text: str) -> str:
        """Let the person's editor have ``text`` as a file that is called like ``name``, and return it as it is then.

        Only while nothing else draws. Raises ``HarnessError``; then nothing is lost, the caller still has the text.
        """
        with _draft(self._workspace.places.state / "drafts", name, text) as file:
            argv = editor_command(self._workspace.options.environ, file)
            status = await self._workspace.children.foreground(argv, cwd=self._workspace.project.start)
            if status:
                how = f"ended with {status}" if status > 0 else f"was ended by {signal.Signals(-status).name}"
                raise HarnessError(f"the editor {Path(argv[0]).name} {how}; the text is as it was")
            data = await asyncio.to_thread(read_regular, file, max_bytes=_DRAFT_BYTES)
        return data.decode("utf-8", "replace")

    async def clipboard_image(self, session: str) -> str:
        """Keep the image in the clipboard with the session, and return how a message mentions it.

        Raises ``HarnessError`` when there is none, or no program that could fetch it.
        """
        workspace = self._workspace
        data = await clipboard_image(workspace.children, workspace.options.environ, workspace.project.start)
        path = workspace.places.session_dir(session) / "images" / f"clipboard-{digest(data)[:8]}.png"
        await asyncio.to_thread(_keep, path, data)
        mention = mention_of(str(path))
        if mention is None:
            raise HarnessError("the path of the session's folder cannot be mentioned", where=str(path))
        return mention

    async def close(self) -> None:
        """End what still looks for files."""
        await self.mentions.close()


@contextlib.contextmanager
def _draft(folder: Path, name: str, text: str) -> Generator[Path]:
    try:
        make_private_folder(folder)
        descriptor, path = tempfile.mkstemp(prefix="draft-", suffix=f"-{Path(name).name[-_NAME_CHARS:]}", dir=folder)
    except OSError as error:
        raise HarnessError(f"no file for the editor can be made: {error.strerror}", where=str(folder)) from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8", "replace"))
        yield Path(path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)


def _keep(path: Path, data: bytes) -> None:
    make_private_folder(path.parent)
    write_atomic(path, data, mode=0o600)
