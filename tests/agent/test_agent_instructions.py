"""Instruction files of other tools, and the files that they take in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness_tui.agent.instruction_imports import IMPORT_DEPTH, IMPORT_FILES
from harness_tui.agent.instructions import NAMES, instruction_files
from harness_tui.config.places import Places
from harness_tui.core.events import ContextReported, Notice, ToolFinished
from harness_tui.core.intents import ReportContext


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "home" / "project"
    (root / "sub").mkdir(parents=True)
    return root


def names(root: Path, start: Path | None = None, allowed=lambda _: True, **environ: str) -> list[tuple[str, str]]:
    """Return name and text (or problem) of the files that are read."""
    places = Places.from_environment({"HOME": str(root.parent), **environ})
    found = instruction_files(root, start or root, places, may_read=allowed)
    return [(file.name, file.problem or file.text) for file in found]


def test_the_first_of_the_known_names_in_each_folder_is_read(root):
    (root / ".claude").mkdir()
    for name in reversed(NAMES):
        (root / name).write_text(name)
        assert names(root) == [(name, name)]
    (root / "sub" / "GEMINI.md").write_text("below")
    assert names(root, root / "sub") == [("AGENTS.md", "AGENTS.md"), ("sub/GEMINI.md", "below")]


def test_the_persons_file_of_another_tool_stands_in_for_their_own(root):
    home = root.parent
    for name in (".gemini/GEMINI.md", ".codex/AGENTS.md", ".config/opencode/AGENTS.md", ".claude/CLAUDE.md"):
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
        assert names(root) == [(str(path), name)]
    own = home / ".config/harness/AGENTS.md"
    own.parent.mkdir()
    own.write_text("own")
    assert names(root) == [(str(own), "own")]
    assert names(root, XDG_CONFIG_HOME=str(home / "other")) == [(str(home / ".claude/CLAUDE.md"), ".claude/CLAUDE.md")]


def test_an_import_is_read_once_right_behind_the_file_that_names_it(root):
    (root / "CLAUDE.md").write_text(
        "See @docs/a.md, @README. and @docs/a.md; `@sub/code.md`, me@x.md, @pytest.fixture\n"
    )
    (root / "docs").mkdir()
    (root / "docs/a.md").write_text("A takes @b.md and @../CLAUDE.md")
    (root / "docs/b.md").write_text("B")
    (root / "README").write_text("R")
    (root / "sub/code.md").write_text("C")
    (root / "sub/GEMINI.md").write_text("G @code.md")
    found = names(root, root / "sub")
    assert [name for name, _ in found] == [
        "CLAUDE.md",
        "docs/a.md",
        "docs/b.md",
        "README",
        "sub/GEMINI.md",
        "sub/code.md",
    ]


def test_an_agents_md_takes_nothing_in(root):
    (root / "AGENTS.md").write_text("@b.md")
    (root / "b.md").write_text("B")
    assert names(root) == [("AGENTS.md", "@b.md")]


def test_what_lies_outside_or_asks_is_left_out_and_said(root):
    (root.parent / "secret.md").write_text("S")
    (root / "link.md").symlink_to(root.parent / "secret.md")
    (root / ".env").write_text("KEY=1")
    (root / "bin.md").write_bytes(b"a\0b")
    (root / "CLAUDE.md").write_text("@../secret.md @link.md @~/secret.md @/etc/hostname @.env @bin.md @sub @none.md")
    found = dict(names(root, allowed=lambda path: path.name != ".env"))
    assert found.pop("CLAUDE.md").startswith("@../secret.md")
    assert "outside" in found.pop(str(root.parent / "secret.md"))
    if os.path.exists("/etc/hostname"):
        assert "outside" in found.pop(os.path.realpath("/etc/hostname"))
    assert found.pop(".env") == ("imported as @.env: the rules do not allow to read it without asking; it was left out")
    assert "it is no text" in found.pop("bin.md")
    assert found == {}


def test_imports_end_at_their_depth_their_number_and_their_size(root):
    for number in range(9):
        (root / f"d{number}.md").write_text(f"@d{number + 1}.md")
    (root / "CLAUDE.md").write_text("@d0.md")
    found = names(root)
    assert len(found) == 1 + IMPORT_DEPTH + 1
    assert "files deep" in found[-1][1]
    for number in range(40):
        (root / f"e{number}.md").write_text("e")
    (root / "CLAUDE.md").write_text(" ".join(f"@e{number}.md" for number in range(40)))
    found = names(root)
    assert sum(text == "e" for _, text in found) == IMPORT_FILES
    for name in ("x", "y", "z"):
        (root / f"{name}.md").write_text(name * 60_000)
    (root / "CLAUDE.md").write_text("@x.md @y.md @z.md")
    assert [text[:1] for _, text in names(root)] == ["@", "x", "y", "i"]


def test_the_persons_file_takes_in_what_lies_beside_it(root):
    (root.parent / ".claude/rules").mkdir(parents=True)
    (root.parent / ".claude/CLAUDE.md").write_text("@rules/a.md @../x.md")
    (root.parent / ".claude/rules/a.md").write_text("A")
    (root.parent / "x.md").write_text("X")
    found = dict(names(root, allowed=lambda _: False))
    assert found[str(root.parent / ".claude/rules/a.md")] == "A"
    assert "outside" in found[str(root.parent / "x.md")]


async def test_a_session_names_the_file_in_its_ledger_and_says_what_it_left_out(stage):
    show = await stage(
        {"turns": [{"tools": [{"name": "read", "arguments": {"path": "web/a.txt"}}]}, {"text": "end"}]},
        rules=({"permission": "read", "pattern": "closed/*", "action": "deny"},),
    )
    for name, text in {
        "CLAUDE.md": "root rules @docs/more.md @.env @closed/x.md",
        "docs/more.md": "more rules",
        ".env": "TOKEN=hidden",
        "closed/x.md": "hidden too",
        "web/CLAUDE.md": "web rules @part.md @key.pem",
        "web/part.md": "part rules",
        "web/key.pem": "hidden key",
        "web/a.txt": "x\n",
    }.items():
        (show.project / name).parent.mkdir(exist_ok=True)
        (show.project / name).write_text(text)
    await show.say("go")
    first, _ = show.requests()
    assert '<instructions path="CLAUDE.md">\nroot rules' in first["system"]
    assert '<instructions path="docs/more.md">\nmore rules' in first["system"]
    assert "hidden" not in str(show.requests())
    told = [notice.text for notice in show.of(Notice) if notice.source == "instructions"]
    assert [text.partition(":")[0] for text in told] == [".env", "closed/x.md"]
    output = show.of(ToolFinished)[0].output
    assert '<instructions path="web/CLAUDE.md">\nweb rules' in output
    assert '<instructions path="web/part.md">\npart rules\n</instructions>' in output
    assert (
        "[web/key.pem: imported as @key.pem: the rules do not allow to read it without asking; it was left out]"
        in output
    )
    await show.send(ReportContext())
    event = await show.next(ContextReported)
    assert {part.name for part in event.parts} >= {"instructions:CLAUDE.md", "instructions:docs/more.md"}
