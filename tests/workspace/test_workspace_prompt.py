"""What the prompt gets from a real workspace: mentions that attach, the editor, the clipboard's image."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from harness_tui.core.errors import HarnessError
from harness_tui.tui.run import Options
from harness_tui.workspace.clipboard_image import programs
from harness_tui.workspace.front import WorkspaceBackend, create_backend

NAMES = ("src/app.py", "my notes.txt", "docs:x.md", "~odd", ".hidden", "end.", 'a"b', "it's, fine;.md")


@pytest.fixture
async def backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[WorkspaceBackend]:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for variable in list(os.environ):
        if variable.startswith("XDG_"):
            monkeypatch.delenv(variable)
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    for name in NAMES:
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("one\ntwo\n")
    made = create_backend(root, Options(model="offline"))
    await made.open()
    yield made
    await made.close()


async def test_everything_that_is_offered_attaches(backend: WorkspaceBackend) -> None:
    rows = await backend.prompt.mentions.find("", agents=False)
    assert {row.label for row in rows} == {*NAMES, "src/"} - {'a"b'}
    library = backend.workspace.library
    for row in rows:
        attachments, warnings = await library.attach_mentions(f"see {row.insert} now")
        assert ([item.path for item in attachments], warnings) == ([row.label.rstrip("/")], ())


async def test_agents_and_lines_are_offered(backend: WorkspaceBackend) -> None:
    agents = [row.insert for row in await backend.prompt.mentions.find("exp", agents=True) if row.source == "agent"]
    assert agents == ["@explore"]
    (line,) = await backend.prompt.mentions.find("src/app.py#L1-2", agents=True)
    assert (line.insert, line.about) == ("@src/app.py#L1-2", "lines 1 to 2")
    (hint,) = await backend.prompt.mentions.find("src/app.py#", agents=True)
    assert hint.insert == ""
    assert "#L10-20" in hint.about


async def test_a_message_goes_through_the_editor_and_leaves_no_file(
    backend: WorkspaceBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\ncp "$1" "$(dirname "$0")/seen"\nprintf "and more\\n" >> "$1"\n')
    editor.chmod(0o700)
    environ = {**os.environ, "VISUAL": str(editor)}
    object.__setattr__(backend.workspace.options, "environ", environ)
    assert await backend.prompt.edit_text("first\n日本語") == "first\n日本語\nand more"
    assert (tmp_path / "seen").read_text() == "first\n日本語\n"
    assert list((backend.workspace.places.state / "drafts").iterdir()) == []
    editor.write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(HarnessError, match="ended with 3"):
        await backend.prompt.edit_text("first")


async def test_what_is_typed_is_remembered_with_its_project(backend: WorkspaceBackend) -> None:
    await backend.prompt.remember("hello")
    (item,) = await backend.prompt.history()
    assert (item.text, item.root) == ("hello", str(backend.workspace.project.root))


def test_each_desktop_has_its_own_program() -> None:
    assert [argv[0] for argv in programs({"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}, "linux")] == ["wl-paste", "xclip"]
    assert [argv[0] for argv in programs({}, "darwin")] == ["pngpaste"]
    assert programs({}, "linux") == []


async def test_an_image_of_the_clipboard_is_kept_with_the_session(
    backend: WorkspaceBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "image.png").write_bytes(b"\x89PNG\r\n\x1a\nrest")
    program = folder / "xclip"
    program.write_text(f'#!/bin/sh\ncat "{folder}/image.png"\n')
    program.chmod(0o700)
    environ = {**os.environ, "DISPLAY": ":7", "PATH": f"{folder}:{os.environ['PATH']}"}
    monkeypatch.setenv("PATH", environ["PATH"])
    object.__setattr__(backend.workspace.options, "environ", environ)
    mention = await backend.prompt.clipboard_image("ses_1")
    path = Path(mention.removeprefix("@"))
    assert path.read_bytes() == b"\x89PNG\r\n\x1a\nrest"
    assert path.parent == backend.workspace.places.session_dir("ses_1") / "images"
    (folder / "image.png").write_bytes(b"no picture")
    with pytest.raises(HarnessError, match="no image"):
        await backend.prompt.clipboard_image("ses_1")
