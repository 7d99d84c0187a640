"""Commands and skills for people, over a real project: what is offered, previewed, made and edited."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from harness_tui.config.loader import Flags
from harness_tui.core.calls import PromptArgument, PromptSpec
from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.library.diagnostics import Diagnostic
from harness_tui.workspace import library_watch
from harness_tui.workspace.library import WorkspaceLibrary
from harness_tui.workspace.library_rows import LibraryRows, library_notices
from harness_tui.workspace.previewing import AttachmentPreview, Preview
from harness_tui.workspace.workspace import OpenOptions, Workspace

SHIP = """---
description: Ships
argument-hint: "[version]"
aliases: [release]
agent: plan
model: acme/none
---
Release $1. See @README.md, @missing.txt and @.env

!`touch RAN`
!`git push "$1"`
"""


class Project:
    """A person's home and project, open."""

    def __init__(self, folder: Path) -> None:
        self.home, self.root = folder / "home", folder / "project"
        self.config = self.home / ".config/harness"
        self.root.mkdir(parents=True)
        self.environ = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        self.workspace: Workspace

    def command(self, name: str, text: str, *, base: Path | None = None) -> Path:
        file = (base or self.config / "commands") / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def skill(self, name: str, text: str | None = None, *, base: Path | None = None) -> Path:
        file = (base or self.config / "skills") / name / "SKILL.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text or f"---\nname: {name}\ndescription: About {name}.\n---\nBody of {name}.\n")
        return file

    async def open(self) -> WorkspaceLibrary:
        options = OpenOptions(flags=Flags(model="offline"), environ=self.environ, start_servers=False)
        self.workspace = await Workspace.open(self.root, options)
        return self.library()

    def library(self, mode: str = "ask") -> WorkspaceLibrary:
        return WorkspaceLibrary(self.workspace, session="ses_1", agent="build", mode=mode)


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[Project]:
    made = Project(tmp_path.resolve())
    made.config.mkdir(parents=True)
    yield made
    await made.workspace.close()


def names(rows: LibraryRows) -> dict[str, str]:
    """Return what is offered besides what comes with Harness: names with their sources."""
    return {row.name: row.source for row in rows.offers if "bundled" not in row.source}


@pytest.mark.rule("3.3.8")
async def test_a_preview_shows_everything_and_does_nothing(project: Project) -> None:
    project.command("ship", SHIP)
    (project.config / "config.yaml").write_text(
        'permission:\n  - {permission: bash, pattern: "git push *", action: deny}\n'
    )
    (project.root / "README.md").write_text("read me\n")
    (project.root / ".env").write_text("KEY=1\n")
    library = await project.open()
    found = await library.preview('/ship "1 2" b')
    assert (found.kind, found.name, found.agent, found.subtask, found.error) == ("command", "ship", "plan", False, None)
    assert found.message == (
        'Release 1 2 b. See @README.md, @missing.txt and @.env\n\n[output of: touch RAN]\n[output of: git push "$1"]'
    )
    assert [(part.command, part.decision) for part in found.shell] == [
        ("touch RAN", "ask"),
        ('git push "$1"', "deny"),
    ]
    assert found.shell[1].reason == "bash git push * deny"
    assert found.words == ("1 2", "b")
    assert found.attachments == (
        AttachmentPreview("README.md", "text", 8),
        AttachmentPreview(".env", "file", 0, "asks first"),
    )
    assert [text.split(":")[0] for text in found.warnings] == ["the model 'acme/none' is not known", "@missing.txt"]
    assert not (project.root / "RAN").exists()
    assert project.workspace.children.list() == []


async def test_the_mode_decides_in_a_preview_as_it_does_when_sent(project: Project) -> None:
    project.command("look", "!`git status`\n!`touch x`")
    await project.open()
    asked = await project.library("ask").preview("/look")
    planned = await project.library("plan").preview("/look")
    assert [part.decision for part in asked.shell] == ["ask", "ask"]
    assert [part.decision for part in planned.shell] == ["deny", "deny"]


@pytest.mark.parametrize(
    ("line", "kind", "error"),
    [
        ("/usr/bin/x is slow", "message", None),
        ("// literal", "message", None),
        ("/shpi it", "message", "unknown-command"),
        ("/mine a", "command", None),
        ("/empty", "command", "empty-command"),
        ("/notes a", "skill", None),
        ("/hidden-one", "command", "not-user-invocable"),
        ("/other-agent", "command", "unknown-agent"),
    ],
)
async def test_what_cannot_be_sent_is_said_before_it_is_sent(
    project: Project, line: str, kind: str, error: str | None
) -> None:
    project.command("mine", "Mine: $1")
    project.command("empty", "$1")
    project.command("hidden-one", "---\nuser-invocable: false\n---\nx")
    project.command("other-agent", "---\nagent: nobody\n---\nx")
    project.skill("notes")
    found: Preview = await (await project.open()).preview(line)
    assert (found.kind, found.error) == (kind, error)
    assert (found.error is None) == bool(found.message)
    if error == "unknown-command":
        assert found.error_text == "unknown command /shpi"


async def test_a_prompt_of_a_server_is_previewed_without_asking_the_server(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = await project.open()
    spec = PromptSpec("docs", "find", "Finds", (PromptArgument("what", required=True), PromptArgument("where")))
    monkeypatch.setattr(project.workspace.mcp, "prompts", lambda: [spec])
    found = await library.preview("/mcp:docs:find cats in the attic")
    assert (found.kind, found.error) == ("prompt", None)
    assert found.message.splitlines()[1:] == ["what = cats", "where = in the attic"]
    assert (await library.preview("/mcp:docs:find")).error == "missing-argument"
    assert names(await library.look())["mcp:docs:find"] == "docs"


@pytest.mark.rule("3.5.9")
async def test_what_is_offered_is_what_can_be_typed(project: Project) -> None:
    project.command("ship", SHIP)
    project.command("team/roll", "Roll")
    project.command("secret", "---\nhidden: true\n---\nx")
    project.command("model-only", "---\nuser-invocable: false\n---\nx")
    project.command("help", "Mine")
    project.command("twin", "a command")
    project.command("ported", "From elsewhere", base=project.home / ".claude/commands")
    project.skill("notes")
    project.skill("twin")
    project.command("tools", "Not yet", base=project.root / ".harness/commands")
    rows = await (await project.open()).look()
    assert names(rows) == {
        "ship": "user",
        "release": "user",
        "team/roll": "user",
        "twin": "user",
        "ported": "user · claude",
        "notes": "user",
        "skill:twin": "user",
        "tools": "project",
    }
    offers = {row.name: row for row in rows.offers}
    assert offers["release"].alias_of == "ship"
    assert offers["tools"].reason == "untrusted folder: /trust"
    commands = {(row.name, row.source): row for row in rows.commands}
    assert commands["help", "user"].slash == "user:help"
    assert commands["secret", "user"].hidden_reason == "its file says hidden: true"
    assert commands["model-only", "user"].hidden_reason == "its file says user-invocable: false"
    assert commands["tools", "project"].hidden_reason == "its folder is not trusted"


@pytest.mark.rule("3.9.15", "3.8.7")
async def test_the_browser_says_why_a_file_is_not_used(project: Project) -> None:
    bundled = next(iter(sorted((Path(__file__).parents[2] / "commands").glob("*.md")))).stem
    mine = project.command(bundled, "Mine")
    broken = project.command("open", "---\ndescription: x\n")
    project.skill("notes")
    bare = project.skill("bare", "---\nname: bare\n---\nx\n")
    (project.config / "config.yaml").write_text(
        'permission:\n  - {permission: skill, pattern: "notes", action: deny}\nno_such_key: 1\n'
    )
    library = await project.open()
    rows = await library.look()
    commands = {row.path: row for row in rows.commands}
    shadowed = next(row for row in rows.commands if row.name == bundled and row.source == "bundled")
    assert (shadowed.shadowed_by, shadowed.own, commands[str(mine)].own) == (str(mine), False, True)
    assert shadowed.slash == f"bundled:{bundled}"
    assert (commands[str(broken)].usable, commands[str(broken)].findings[0].code) == (False, "unterminated-frontmatter")
    skills = {row.name: row for row in rows.skills}
    assert (skills["notes"].hidden_reason, skills["bare"].usable) == ("denied", False)
    assert "notes" not in names(rows)
    told = [(item.path, item.line, item.level) for item in rows.problems]
    assert (str(broken), 1, "error") in told
    assert (str(bare), 1, "error") in told
    assert (str(project.config / "config.yaml"), 3, "error") in told
    assert "description" in await library.text(str(broken))


async def test_a_file_that_is_mended_is_no_problem_any_more(project: Project) -> None:
    broken = project.command("open", "---\ndescription: x\n")
    library = await project.open()
    assert [item.code for item in (await library.look()).problems] == ["unterminated-frontmatter"]
    broken.write_text("---\ndescription: x\n---\nGo\n")
    rows = await library.look()
    assert rows.problems == ()
    assert names(rows) == {"open": "user"}


def editor(project: Project, code: str) -> None:
    """Make a shell script the person's editor; ``$1`` is the file."""
    script = project.home / "editor"
    script.write_text(f"#!/bin/sh\n{code}\n")
    script.chmod(0o755)
    project.environ["EDITOR"] = str(script)


async def test_what_the_person_edits_here_stays_trusted_and_nothing_else_does(project: Project) -> None:
    (project.root / ".git").mkdir()
    first = project.command("first", "Say\n", base=project.root / ".harness/commands")
    editor(project, 'echo "!\\`id\\`" >>"$1"')
    library = await project.open()
    trust = project.workspace.trust
    trust.grant(project.workspace.project)
    await library.edit(str(first), 1)
    assert first.read_text() == "Say\n!`id`\n"
    assert trust.status(project.workspace.project).trusted
    first.write_text("Say\n!`rm x`\n")  # somebody else
    assert not trust.status(project.workspace.project).trusted
    await library.edit(str(first), 1)
    assert not trust.status(project.workspace.project).trusted


async def test_an_editor_that_fails_or_is_not_there_is_told(project: Project) -> None:
    file = project.command("mine", "Mine")
    editor(project, "exit 3")
    library = await project.open()
    with pytest.raises(HarnessError, match="the editor editor ended with 3"):
        await library.edit(str(file))
    editor(project, f"kill -{signal.SIGTERM.value} $$")
    with pytest.raises(HarnessError, match="was ended by SIGTERM"):
        await library.edit(str(file))
    with pytest.raises(UsageError, match="no such file"):
        await library.edit(str(file.parent))
    project.environ["EDITOR"] = "no-such-editor"
    with pytest.raises(HarnessError, match="'no-such-editor' was not found"):
        await library.edit(str(file))


async def test_a_new_file_is_listed_and_usable_at_once(project: Project) -> None:
    library = await project.open()
    made = await library.create("commands", "git/message", user=False)
    await library.create("skills", "log-trim", user=True)
    assert made == str(project.root / ".harness/commands/git/message.md")
    rows = await library.look()
    assert names(rows) == {"git/message": "project", "log-trim": "user"}
    assert (await library.preview("/git/message now")).message == "Write here what the agent is to do with: now"
    with pytest.raises(UsageError, match="already"):
        await library.create("commands", "git/message", user=False)


def test_people_are_told_of_a_few_broken_files_and_how_many_more_there_are() -> None:
    errors = [Diagnostic(f"/c/{n}.md", 1, "x", f"broken {n}", "error") for n in range(5)]
    problems = [*errors, Diagnostic("/c/w.md", 2, "y", "odd"), Diagnostic("/c", 1, "z", "a hint", "info")]
    assert len(library_notices(problems, whole=True)) == 7
    told = library_notices(problems, whole=False)
    assert [notice.text for notice in told] == [
        "/c/0.md:1: broken 0",
        "/c/1.md:1: broken 1",
        "/c/2.md:1: broken 2",
        "2 errors and 1 warning more in files of commands and skills",
    ]
    assert library_notices(problems[-1:], whole=False) == []
    assert library_notices([], whole=False) == []


# --- changes that nobody looked for ------------------------------------------------------------------


@pytest.mark.rule("3.7.16", "3.8.7")
async def test_changes_are_noticed_by_themselves_whatever_happens_to_the_folders(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library_watch, "PAUSE_S", 0.02)
    files = await project.open()
    changes = files.changes()

    async def becomes(wanted: dict[str, str], problem: str | None = None) -> None:
        async with asyncio.timeout(20):
            while True:
                await anext(changes)  # a file that is written may be seen empty first
                codes = {found.code for found in project.workspace.library.problems()}
                if names(await files.look()) == wanted and (problem is None or problem in codes):
                    return

    path = project.command("ship", "Ship it")  # the folder is new as well
    await becomes({"ship": "user"})
    path.write_text("---\nagent: x\nbroken")
    await becomes({"ship": "user"}, "last-good-copy")
    project.skill("fly")
    await becomes({"ship": "user", "fly": "user"})
    shutil.rmtree(project.config / "commands")
    await becomes({"fly": "user"})
    os.symlink(project.config / "nowhere", project.config / "commands")
    project.command("fresh", "New", base=project.config / "nowhere")
    await becomes({"fresh": "user", "fly": "user"})
    await changes.aclose()


async def test_nothing_is_told_while_nothing_changes(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library_watch, "PAUSE_S", 0.0)
    monkeypatch.setattr(library_watch, "_SHARE", 1.0)
    files = await project.open()
    project.command("closed", "x").chmod(0)
    await files.look()
    looks = 0
    refresh = project.workspace.library.refresh

    def counted() -> None:
        nonlocal looks
        looks += 1
        refresh()

    monkeypatch.setattr(project.workspace.library, "refresh", counted)
    told = asyncio.create_task(anext(files.changes()))  # type: ignore[arg-type]
    async with asyncio.timeout(20):
        while looks < 5:
            await asyncio.sleep(0.01)
    assert not told.done()
    told.cancel()


def test_looks_cost_a_small_share_of_the_time() -> None:
    assert library_watch.pause_after(0.001) == 2.0
    assert library_watch.pause_after(0.05) == 25.0
    assert library_watch.pause_after(3.0) == 60.0
