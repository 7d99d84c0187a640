"""An image in the clipboard: fetched by the desktop's own program, which is the only one who may."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from harness_tui.children.lookup import find_binary
from harness_tui.core.errors import HarnessError
from harness_tui.core.seams import Child, ProcessSpawner
from harness_tui.library.mentions import IMAGE_BYTES

_WAIT_S: Final = 5.0
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_BLOCK: Final = 256 * 1024
_NEEDS: Final = ("WAYLAND_DISPLAY", "DISPLAY", "XAUTHORITY")


def programs(environ: Mapping[str, str], platform: str = sys.platform) -> Sequence[Sequence[str]]:
    """Return the commands that write a PNG of the clipboard to standard output, as far as this desktop has them."""
    if platform == "darwin":
        return [["pngpaste", "-"]]
    found: list[Sequence[str]] = []
    if environ.get("WAYLAND_DISPLAY"):
        found.append(["wl-paste", "--no-newline", "--type", "image/png"])
    if environ.get("DISPLAY"):
        found.append(["xclip", "-selection", "clipboard", "-target", "image/png", "-out"])
    return found


async def clipboard_image(spawner: ProcessSpawner, environ: Mapping[str, str], folder: Path) -> bytes:
    """Return the image in the clipboard as PNG. Raises ``HarnessError`` that says what is missing."""
    able = programs(environ)
    if not able:
        mend = "paste the path of an image, or write @ and its path"
        raise HarnessError("the clipboard of a remote or text terminal holds no image for us", mend=mend)
    there = [argv for argv in able if find_binary(argv[0], path=environ.get("PATH")) is not None]
    if not there:
        names = " or ".join(argv[0] for argv in able)
        raise HarnessError(f"reading an image from the clipboard needs {names}", mend="install it", code="not-found")
    for argv in there:
        child = await spawner.spawn(argv, owner="clipboard", cwd=folder, inherit=_NEEDS, stdout_limit=_BLOCK)
        data = await _read(child)
        if data.startswith(_PNG):
            return data
    raise HarnessError("there is no image in the clipboard", mend="copy one first")


async def _read(child: Child) -> bytes:
    assert child.stdout is not None
    blocks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(_WAIT_S):
            while block := await child.stdout.read(_BLOCK):
                blocks.append(block)
                size += len(block)
                if size > IMAGE_BYTES:
                    raise HarnessError("the image in the clipboard is too large", mend="save a smaller one as a file")
            await child.wait()
    except TimeoutError:
        return b""
    finally:
        if child.returncode is None:
            await child.stop(grace=0.2)
    return b"".join(blocks)
