"""Text for the clipboard of the system, by the tool that this desktop has for it.

A terminal is asked to take it as well (OSC 52), but never says whether it did; so the tool goes first where there is
one. Over SSH the tools of this machine would fill the wrong clipboard.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from harness_tui.children.lookup import find_binary
from harness_tui.core.errors import HarnessError
from harness_tui.core.seams import ProcessSpawner

LIMIT_S: Final = 3.0
"""A tool that takes longer waits for something that does not come."""

_NEEDS: Final = ("DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "XAUTHORITY", "TMUX", "TMUX_PANE")


def clipboard_tools(environ: Mapping[str, str], platform: str = sys.platform) -> Iterator[list[str]]:
    """Yield the commands that may take text on their standard input, the most certain first."""
    if environ.get("TMUX"):
        yield ["tmux", "load-buffer", "-w", "-"]  # tmux passes it on to the terminal that it is attached to
    if environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"):
        return
    if platform == "darwin":
        yield ["pbcopy"]
    if environ.get("WAYLAND_DISPLAY"):
        yield ["wl-copy"]
    if environ.get("DISPLAY"):
        yield ["xclip", "-selection", "clipboard", "-in"]
        yield ["xsel", "--clipboard", "--input"]


async def copy_text(spawner: ProcessSpawner, text: str, environ: Mapping[str, str], folder: Path) -> str:
    """Hand ``text`` to the first tool that takes it and return its name; empty where there is none.

    A tool that stays to serve the clipboard lives until the shell ends.
    """
    for argv in clipboard_tools(environ):
        program = find_binary(argv[0], path=environ.get("PATH"))
        if program is not None and await _fed(spawner, [str(program), *argv[1:]], text, folder):
            return argv[0]
    return ""


async def _fed(spawner: ProcessSpawner, argv: list[str], text: str, folder: Path) -> bool:
    try:
        child = await spawner.spawn(
            argv, owner="clipboard", cwd=folder, inherit=_NEEDS, stdin="pipe", stdout="null", keep_left=True
        )
    except (HarnessError, OSError):
        return False
    try:
        async with asyncio.timeout(LIMIT_S):
            if child.stdin is not None:
                child.stdin.write(text.encode("utf-8", "replace"))
                await child.stdin.drain()
                child.stdin.close()
            return await child.wait() == 0
    except (TimeoutError, OSError):
        await child.stop(grace=0.2)
        return False
