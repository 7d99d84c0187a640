"""Hooks: programs of the configuration that run after an edit, before a tool, at the end of a run.

A hook is an argument list, never a shell text; it gets what happened as JSON on its standard input. Exit code 2 blocks,
with its standard error as the reason; any other failure is told to the person and changes nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from harness_tui.agent.parts import AgentParts
from harness_tui.config.settings import HookSettings
from harness_tui.core.calls import EditHooks
from harness_tui.core.errors import HarnessError
from harness_tui.core.events import Event, Notice
from harness_tui.core.paths import name_in
from harness_tui.core.patterns import matches
from harness_tui.core.record import record
from harness_tui.core.seams import Child
from harness_tui.core.text import clean_for_display, cut_end

BLOCKED: Final = 2
"""The exit code that blocks."""

_REASON_CHARS: Final = 4_000
_ARGUMENT_BYTES: Final = 32_768
"""Of a path as an argument; longer than any that a system opens, shorter than any that it refuses to hand on."""

_NOTICE_CHARS: Final = 300


@record
class Ran:
    """What a hook did: its exit code, ``None`` when it did not end in time or could not start, and its words."""

    code: int | None
    error: str = ""


class Hooks:
    """The hooks of one run of one session; ``publish`` tells of those that failed."""

    def __init__(self, parts: AgentParts, publish: Callable[[Event], None], *, session: str, run: str | None) -> None:
        self._parts = parts
        self._publish = publish
        self._session = session
        self._run = run

    async def after_edit(self, path: Path) -> EditHooks:
        """Run what applies to a file that was written; a formatter may change it again."""
        name = name_in(path, self._parts.project.root)
        found = [hook for hook in self._parts.settings.hooks.after_edit if _fits_path(hook.match, name)]
        ran: list[str] = []
        for hook in found:
            result = await self._start(hook, {"event": "after_edit", "file": str(path)}, path)
            if result.code is None:
                continue
            ran.append(_name(hook))
            if result.code == BLOCKED:
                return EditHooks(tuple(ran), f"{_name(hook)}: {_reason(result)}")
        return EditHooks(tuple(ran))

    async def before_tool(self, tool: str, arguments: dict[str, Any]) -> tuple[str, str] | None:
        """Run what applies to a call; return why it may not run and which hook says so, ``None`` when it may."""
        for hook in self._parts.settings.hooks.before_tool:
            if not matches(hook.match, tool):
                continue
            path = arguments.get("path")
            file = self._parts.project.start / path if isinstance(path, str) else None
            if file is not None and _names_file(hook) and not _can_be_argument(str(file)):
                # Not a notice as for other faults: a path that no program can be given would pass every guard.
                return "the path of the call cannot be given to a program", f"hook {_name(hook)} ({hook.source})"
            told = {"event": "before_tool", "tool": tool, "arguments": arguments}
            result = await self._start(hook, told, file)
            if result.code == BLOCKED:
                return _reason(result), f"hook {_name(hook)} ({hook.source})"
        return None

    async def run_finished(self, reason: str) -> str | None:
        """Run what applies to the end of a run; return why the agent should go on, ``None`` when it need not."""
        for hook in self._parts.settings.hooks.run_finished:
            if matches(hook.match, reason):
                result = await self._start(hook, {"event": "run_finished", "reason": reason}, None)
                if result.code == BLOCKED:
                    return _reason(result)
        return None

    # --- one hook ------------------------------------------------------------------------------------

    async def _start(self, hook: HookSettings, told: dict[str, Any], file: Path | None) -> Ran:
        project = self._parts.project
        argv = [part.replace("{file}", str(file or "")) for part in hook.command]
        data = {**told, "session": self._session, "run": self._run, "root": str(project.root)}
        try:
            child = await self._parts.spawner.spawn(
                argv,
                owner=f"hook:{_name(hook)}",
                cwd=project.start,
                env={"HARNESS_PROJECT_DIR": str(project.root), "HARNESS_HOOK": told["event"]},
                stdin="pipe",
                stdout="null",
            )
        except HarnessError as error:
            self._tell(hook, f"could not run: {error.what}", error.mend)
            return Ran(None)
        try:
            async with asyncio.timeout(hook.timeout):
                await _feed(child, json.dumps(data, default=str).encode("utf-8", "replace"))
                code = await child.wait()
        except TimeoutError:
            self._tell(hook, f"did not end within {hook.timeout:g} s and was stopped")
            return Ran(None)
        finally:
            # What it left running goes with it; a cancelled caller still waits for the end of it.
            await asyncio.shield(child.stop())
        words = child.stderr_tail()
        if code not in (0, BLOCKED):
            self._tell(hook, f"failed with exit code {code}: {words or 'it said nothing'}")
        return Ran(code, words)

    def _tell(self, hook: HookSettings, what: str, hint: str | None = None) -> None:
        text = clean_for_display(f"the hook {_name(hook)} ({hook.source}) {what}", one_line=True)
        self._publish(Notice("warning", "hooks", cut_end(text, _NOTICE_CHARS), hint))


async def _feed(child: Child, data: bytes) -> None:
    """Give ``data`` to the program; one that does not read it, or has ended, is left alone."""
    stdin = child.stdin
    if stdin is None:
        return
    with contextlib.suppress(OSError):
        stdin.write(data)
        await stdin.drain()
    stdin.close()


def _fits_path(pattern: str, name: str) -> bool:
    """Tell whether a file fits, as in rules: a pattern without ``/`` also fits the last component alone."""
    return matches(pattern, name) or ("/" not in pattern and matches(pattern, name.rsplit("/", 1)[-1]))


def _names_file(hook: HookSettings) -> bool:
    return any("{file}" in part for part in hook.command)


def _can_be_argument(text: str) -> bool:
    """Tell whether a program can be started with ``text``: no NUL, no half of a character, not endless."""
    try:
        return "\0" not in text and len(os.fsencode(text)) <= _ARGUMENT_BYTES
    except UnicodeEncodeError:
        return False


def _name(hook: HookSettings) -> str:
    return clean_for_display(Path(hook.command[0]).name, one_line=True)


def _reason(result: Ran) -> str:
    return cut_end(clean_for_display(result.error).strip(), _REASON_CHARS) or "it gave no reason"
