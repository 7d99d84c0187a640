"""``commands new`` and ``skills new``: files that pass their own check, and never in the place of another."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from harness_tui.cli.app import run_verb
from harness_tui.config.places import Places
from harness_tui.config.project import Project
from harness_tui.config.trust import TrustStore
from harness_tui.core.errors import UsageError
from harness_tui.library.scaffold import new_command, new_skill

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "project"
    root.mkdir()
    return root


@pytest.fixture
def harness(project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    for name in [name for name in os.environ if name.startswith(("XDG_", "HARNESS_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path.resolve() / "home"))
    monkeypatch.chdir(project)

    def run(*arguments: str) -> tuple[int, str, str]:
        code = run_verb(list(arguments))
        output = capsys.readouterr()
        return code, output.out, output.err

    return run


@pytest.mark.parametrize(
    ("kind", "name", "file"),
    [
        ("commands", "git/pr", ".harness/commands/git/pr.md"),
        ("skills", "log-trim", ".harness/skills/log-trim/SKILL.md"),
    ],
)
def test_a_new_file_is_clean_usable_at_once_and_says_what_to_do_next(
    harness: Run, project: Path, kind: str, name: str, file: str
) -> None:
    code, out, err = harness(kind, "new", name)
    assert (code, out) == (0, f"{project / file}\n")
    assert "edit " in err
    assert f"use it as /{name}" in err
    assert harness(kind, "check", "--json")[0] == 0
    rows = json.loads(harness(kind, "list", "--json")[1])
    (row,) = [row for row in rows if row["name"] == name]
    assert row["trusted"]
    assert row.get("diagnostics", []) == []
    code, out, _ = harness("commands", "expand", f"/{name} two words")
    assert code == 0
    assert "#" not in out.replace("# Log trim", "")  # what is said in comments is not sent
    assert "two words" in out


def test_a_file_for_all_projects_lies_in_the_configuration_folder(harness: Run, tmp_path: Path) -> None:
    config = tmp_path.resolve() / "home/.config/harness"
    assert json.loads(harness("commands", "new", "mine", "--user", "--json")[1])["path"] == f"{config}/commands/mine.md"
    assert harness("skills", "new", "mine", "--user")[1] == f"{config}/skills/mine/SKILL.md\n"
    assert "/.harness/" in harness("skills", "new", "mine", "--project")[1]


def test_a_trusted_folder_stays_trusted_and_an_untrusted_one_untrusted(
    harness: Run, project: Path, tmp_path: Path
) -> None:
    store = TrustStore(Places.from_environment())
    harness("commands", "new", "one")
    assert store.status(Project(project, project)).trusted
    (project / ".harness/commands/two.md").write_text("!`id`")
    assert not store.status(Project(project, project)).trusted
    harness("commands", "new", "three")
    assert not store.status(Project(project, project)).trusted


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "no name for a command"),
        ("a b", "blanks or control"),
        ("a\x1b[31mb", "blanks or control"),
        ("../x", "begin with a dot"),
        ("a//b", "empty"),
        ("_draft", "underscore"),
        ("docs/README", "README"),
        ("help", "own commands"),
        ("user/x", "where a command comes from"),
        ("a/b/c/d/e/f", "more than 5 parts"),
        ("x" * 201, "too long"),
    ],
)
def test_a_name_that_would_not_work_is_refused_with_the_reason(tmp_path: Path, name: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        new_command(tmp_path, name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "near"), [("Log Trim", "log-trim"), ("a--b", "a-b"), ("../x", "x"), ("a" * 65, "a" * 64)]
)
def test_a_skills_name_is_by_the_book_and_a_near_one_is_named(tmp_path: Path, name: str, near: str) -> None:
    with pytest.raises(UsageError) as caught:
        new_skill(tmp_path, name)
    assert (caught.value.mend or "").endswith(f": {near}")


def test_nothing_is_ever_overwritten(tmp_path: Path) -> None:
    folder = tmp_path / "commands"
    folder.mkdir()
    (folder / "file.md").write_text("mine")
    (folder / "link.md").symlink_to(tmp_path / "nowhere")
    (folder / "plain").write_text("no folder")
    for name, reason in (("file", "already"), ("link", "already"), ("plain/x", "is no folder")):
        with pytest.raises(UsageError, match=reason):
            new_command(tmp_path, name)
    assert (folder / "file.md").read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()
    (tmp_path / "skills/old").mkdir(parents=True)
    (tmp_path / "skills/old/skill.md").write_text("mine")
    with pytest.raises(UsageError, match="already"):
        new_skill(tmp_path, "old")


def test_of_many_at_once_one_makes_the_file(tmp_path: Path) -> None:
    made: list[str] = []

    def make() -> None:
        with contextlib.suppress(UsageError):
            made.append(new_command(tmp_path, "one")[0])

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == ["one"]
