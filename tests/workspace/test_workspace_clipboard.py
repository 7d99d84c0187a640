"""Text for the clipboard: which tool takes it, and what happens where one fails or hangs."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from harness_tui.children.registry import ChildRegistry
from harness_tui.tui.clipboard import amount, osc52
from harness_tui.workspace import clipboard
from harness_tui.workspace.clipboard import clipboard_tools, copy_text


def names(environ: dict[str, str], platform: str = "linux") -> list[str]:
    return [argv[0] for argv in clipboard_tools(environ, platform)]


def test_the_tools_are_those_of_the_desktop_and_tmux_goes_first() -> None:
    assert names({}) == []
    assert names({}, "darwin") == ["pbcopy"]
    assert names({"DISPLAY": ":0"}) == ["xclip", "xsel"]
    assert names({"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0", "TMUX": "x"}) == ["tmux", "wl-copy", "xclip", "xsel"]
    assert names({"DISPLAY": ":10", "SSH_CONNECTION": "a b c d", "TMUX": "x"}) == ["tmux"]


async def test_the_first_tool_that_takes_the_text_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clipboard, "LIMIT_S", 0.5)
    programs = {
        "tmux": "#!/bin/sh\nexit 1\n",
        "wl-copy": "#!/bin/sh\nexec sleep 30\n",
        "xclip": f"#!/bin/sh\necho $DISPLAY $* > {tmp_path}/args\nexec cat > {tmp_path}/text\n",
    }
    for name, text in programs.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    environ = {
        "TMUX": "x",
        "WAYLAND_DISPLAY": "w",
        "DISPLAY": ":7",
        "PATH": f"{tmp_path}:/usr/bin:/bin",
        "HOME": str(tmp_path),
    }
    registry = ChildRegistry(tmp_path / "state", environ=environ)
    try:
        assert await copy_text(registry, "täxt\n" * 40_000, environ, tmp_path) == "xclip"
    finally:
        await registry.close()
    assert (tmp_path / "text").read_text() == "täxt\n" * 40_000
    assert (tmp_path / "args").read_text() == ":7 -selection clipboard -in\n"


async def test_without_a_tool_nothing_is_started(tmp_path: Path) -> None:
    registry = ChildRegistry(tmp_path / "state")
    try:
        assert await copy_text(registry, "x", {"DISPLAY": ":0", "PATH": str(tmp_path)}, tmp_path) == ""
        assert list(registry.list()) == []
    finally:
        await registry.close()


def test_the_sequence_for_the_terminal_is_whole_wrapped_for_screen_and_never_too_long() -> None:
    assert osc52("a\x1b", {}) == "\x1b]52;c;YRs=\x07"
    wrapped = osc52("x" * 2_000, {"STY": "1.pts"})
    pieces = wrapped.split("\x1bP")[1:]
    assert all(piece.endswith("\x1b\\") and len(piece) <= 702 for piece in pieces)
    inner = "".join(piece.removesuffix("\x1b\\") for piece in pieces)
    assert base64.b64decode(inner.removeprefix("\x1b]52;c;").removesuffix("\x07")) == b"x" * 2_000
    assert osc52("ä" * 50_001, {}) == ""


def test_amounts_are_told_for_people() -> None:
    assert [amount(text) for text in ("x", "xy", "a\nb")] == ["1 character", "2 characters", "2 lines"]
