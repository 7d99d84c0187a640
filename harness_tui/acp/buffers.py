"""Text that an editor holds and has not saved: it is what ``read`` gives, and no file below it is changed meanwhile.

Asked for only of editors that offer ``fs/read_text_file``, and only when a tool is about to read or change the file.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import acp

from harness_tui.core.errors import HarnessError, ToolError
from harness_tui.core.limits import MIB, TOOL_OUTPUT_LINES
from harness_tui.core.paths import read_regular
from harness_tui.core.seams import PreparedCall, Tool, ToolContext, ToolResult, ToolSource
from harness_tui.core.values import ToolSpec
from harness_tui.tools.read_tool import text_result
from harness_tui.tools.reading import window_of
from harness_tui.tools.targets import find_target

log = logging.getLogger(__name__)

ANSWER_S: Final = 5.0
"""How long an editor may take to say what it holds; afterwards the file counts."""

_BYTES: Final = 10 * MIB
_NOTE: Final = "[as it stands in the editor, not saved: it can be changed once the person has saved it]"


class EditorBuffers:
    """A ``ToolSource`` before the built-in one: ``read``, ``edit`` and ``write`` of it that look at the editor first.

    ``session`` is the editor's, set once it is known.
    """

    def __init__(self, client: Any, source: ToolSource) -> None:
        self._client = client
        self._source = source
        self.session = ""

    def tools(self) -> Sequence[Tool]:
        """Return the three tools."""
        return [
            _Read(tool, self) if tool.spec.name == "read" else _Change(tool, self)
            for tool in self._source.tools()
            if tool.spec.name in ("read", "edit", "write")
        ]

    async def unsaved(self, path: Path) -> str | None:
        """Return the editor's text of ``path`` where it is another one than the file's; ``None`` without one."""
        if not self.session:
            return None
        try:
            async with asyncio.timeout(ANSWER_S):
                answer = await self._client.read_text_file(session_id=self.session, path=str(path))
        except TimeoutError:
            log.warning("the editor does not say what it holds: it is not asked any more")
            self.session = ""
            return None
        except (acp.RequestError, ConnectionError, OSError, ValueError) as error:
            log.info("the editor does not say what it holds of %s: %s", path, error)
            return None
        text = str(answer.content)
        saved = await asyncio.to_thread(_saved, path)
        return None if saved is None or _plain(saved) == _plain(text) else text


class _Read:
    """``read`` that gives the text of the editor."""

    def __init__(self, tool: Tool, buffers: EditorBuffers) -> None:
        self._tool = tool
        self._buffers = buffers

    @property
    def spec(self) -> ToolSpec:
        """That of ``read``."""
        return self._tool.spec

    async def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Check the arguments. Raises ``ToolError``."""
        return await self._tool.prepare(arguments, context)

    async def run(self, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        """Read the editor's text where it is not saved, else the file. Raises ``ToolError``."""
        target, offset, limit = prepared.state
        text = await self._buffers.unsaved(target.path)
        if text is None:
            return await self._tool.run(prepared, context)
        where = f"read: {target.name}"
        window = window_of(text.encode("utf-8", "replace"), where, offset=offset, limit=min(limit, TOOL_OUTPUT_LINES))
        return text_result(target, window, where, _NOTE)


class _Change:
    """``edit`` or ``write`` that leaves a file alone while the editor holds another text of it."""

    def __init__(self, tool: Tool, buffers: EditorBuffers) -> None:
        self._tool = tool
        self._buffers = buffers

    @property
    def spec(self) -> ToolSpec:
        """That of the tool."""
        return self._tool.spec

    async def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Check the arguments and the editor's text. Raises ``ToolError``."""
        await self._refuse_unsaved(arguments, context)
        return await self._tool.prepare(arguments, context)

    async def run(self, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        """Change the file, unless the person has begun to change it too. Raises what the tool raises."""
        await self._refuse_unsaved({"path": prepared.state.target.asked}, context)
        return await self._tool.run(prepared, context)

    async def _refuse_unsaved(self, arguments: dict[str, Any], context: ToolContext) -> None:
        asked, name = arguments.get("path"), self._tool.spec.name
        if not isinstance(asked, str):
            return  # the tool says what is wrong with it
        target = find_target(name, asked, context)
        if await self._buffers.unsaved(target.path) is not None:
            raise ToolError(
                "the editor holds changes of this file that are not saved, so nothing was written",
                where=f"{name}: {target.name}",
                mend="ask the person to save it, then read it again",
                code="unsaved",
            )


def _saved(path: Path) -> str | None:
    """Return the text of a file, empty where there is none, ``None`` for what is no text. Blocks."""
    try:
        return read_regular(path, max_bytes=_BYTES).decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except (HarnessError, UnicodeDecodeError, OSError):
        return None if path.exists() else ""


def _plain(text: str) -> str:
    """Return ``text`` as editors hold it: without a mark of its encoding, with plain line ends."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
