"""The index in the cache folder: a start with known files reads none of them, and nothing odd in it does any harm."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from library_scene import Scene

from harness_tui.core.errors import HarnessError
from harness_tui.library import command_cache, index_file, skill_cache
from harness_tui.library.command_file import Command
from harness_tui.library.index_file import FROM_FILES
from harness_tui.library.library import Library
from harness_tui.library.skill_file import Skill

ODD = {
    "plain": "# A title\nbody",
    "full": "---\ndescription: D\nargument-hint: [a] [b]\narguments: [x, y]\naliases: [q]\nagent: plan\nmodel: a/b\n"
    "subtask: yes\ntimeout: 5.5\nallowed-tools: Bash(git:*), Read\nhidden: on\nuser-invocable: off\n---\nGo $x",
    "broken": "---\nagent: plan\nx",
    "git/pr": "---\nagent: a\nagent: b\n---\né",
    "empty": "",
}


def fill(scene: Scene) -> None:
    for name, text in ODD.items():
        scene.command("user", name, text)
    for number in range(FROM_FILES):
        scene.command("user", f"c{number:02}", f"---\ndescription: Number {number}\n---\nx")
        scene.skill("user", f"s{number:02}")
    scene.skill("user", "odd", "---\nname: Odd One\ndescription: >\n  a\n  b\nmetadata: {k: v}\nlicense: MIT\n---\n")
    time.sleep(0.06)  # what changed a moment ago is not kept


def items(library: Library) -> tuple[list[Command], list[Skill], list[str]]:
    return library.commands(), library.skills(), sorted(map(str, library.problems()))


def indexes(scene: Scene) -> list[Path]:
    return sorted((scene.base / "cache/library").iterdir())


@pytest.fixture
def no_reading(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    def refuse(path: Path, *_: object, **__: object) -> None:
        raise AssertionError(f"{path} was read")

    def arm() -> None:
        monkeypatch.setattr(command_cache, "read_bytes", refuse)
        monkeypatch.setattr(skill_cache, "read_skill", refuse)

    return arm


@pytest.mark.rule("4.5")
def test_a_start_with_known_files_reads_none_and_knows_the_same(scene: Scene, no_reading: Callable[[], None]) -> None:
    fill(scene)
    first = items(scene.library())
    assert len(first[2]) == 8  # four of files of commands, four of the odd skill
    no_reading()
    assert items(scene.library()) == first


@pytest.mark.rule("4.5")
def test_the_index_is_the_persons_own(scene: Scene) -> None:
    fill(scene)
    scene.library()
    files = indexes(scene)
    assert [file.name.partition("-")[0] for file in files] == ["commands", "skills"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE(files[0].parent.stat().st_mode) == 0o700


@pytest.mark.rule("4.5", "3.7.16")
def test_what_changed_is_read_and_kept(scene: Scene, no_reading: Callable[[], None]) -> None:
    fill(scene)
    scene.library()
    scene.command("user", "c00", "another")
    time.sleep(0.06)
    second = scene.library()
    assert {command.name: command.summary for command in second.commands()}["c00"] == "another"
    no_reading()
    assert items(scene.library()) == items(second)


@pytest.mark.rule("4.5")
@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:100],
        lambda data: data[:2000] + b"x" + data[2001:],
        lambda data: data.replace(b"harness-library 1 ", b"harness-library 0 "),
        lambda data: b"\xff\xfe" + data,
        lambda data: b"harness-library 1\n[]\n",
    ],
)
def test_a_damaged_index_is_made_anew(
    scene: Scene, no_reading: Callable[[], None], damage: Callable[[bytes], bytes]
) -> None:
    fill(scene)
    first = items(scene.library())
    whole = [file.read_bytes() for file in indexes(scene)]
    for file, data in zip(indexes(scene), whole, strict=True):
        file.write_bytes(damage(data))
    assert items(scene.library()) == first
    assert [file.read_bytes() for file in indexes(scene)] == whole
    no_reading()
    assert items(scene.library()) == first


@pytest.mark.rule("4.5")
def test_another_version_reads_for_itself(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(scene)
    first = items(scene.library())
    before = indexes(scene)[0].read_bytes()
    monkeypatch.setattr(index_file, "__version__", "0.0.0")
    assert items(scene.library()) == first
    assert indexes(scene)[0].read_bytes() != before


@pytest.mark.rule("4.5")
def test_where_nothing_can_be_written_everything_is_read(scene: Scene) -> None:
    fill(scene)
    scene.write("cache/library", "a file where a folder is wanted")
    assert len(scene.library().commands()) == FROM_FILES + len(ODD)


@pytest.mark.rule("4.5")
def test_a_few_files_leave_no_index(scene: Scene) -> None:
    scene.command("user", "one")
    scene.library()
    assert not (scene.base / "cache").exists()


@pytest.mark.rule("4.5", "3.7.17")
def test_the_last_good_copy_is_known_though_it_was_not_read(scene: Scene) -> None:
    fill(scene)
    scene.library()
    library = scene.library()
    scene.command("user", "c03", "---\nagent: x\nbroken")
    library.refresh()
    found = library.find_command("c03")
    assert found is not None
    assert found.error is None
    assert found.read().template.body == "x"
    assert [note.code for note in found.diagnostics] == ["unterminated-frontmatter", "last-good-copy"]
    again = scene.library().find_command("c03")
    assert again is not None
    assert again.error == "unterminated-frontmatter"


@pytest.mark.rule("4.5")
def test_copies_beyond_the_room_for_them_are_left_out(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_file, "_KEPT_BYTES", 100)
    fill(scene)
    first = items(scene.library())
    assert items(scene.library()) == first


@pytest.mark.rule("4.5", "3.7.15")
def test_trust_is_not_remembered(scene: Scene) -> None:
    for number in range(FROM_FILES):
        scene.command("project", f"c{number:02}")
        scene.skill("project", f"s{number:02}")
    time.sleep(0.06)
    scene.library(trusted=True)
    library = scene.library(trusted=False)
    assert {item.trusted for item in [*library.commands(), *library.skills()]} == {False}


@pytest.mark.rule("4.5")
def test_indexes_of_folders_that_are_gone_are_removed(scene: Scene) -> None:
    old = scene.write("cache/library/commands-gone.index", "x")
    new = scene.write("cache/library/commands-other.index", "x")
    os.utime(old, (1, 1))
    fill(scene)
    scene.library()
    assert (old.exists(), new.exists()) == (False, True)


@pytest.mark.rule("3.7.16")
def test_a_command_is_read_anew_when_it_is_used(scene: Scene) -> None:
    path = scene.command("user", "x", "one")
    found = scene.library().find_command("x")
    assert found is not None
    path.write_text("---\nagent: plan\n---\ntwo")
    text = found.read()
    assert (text.template.body, text.template.header.agent, text.raw) == ("two", "plan", path.read_bytes())
    path.unlink()
    with pytest.raises(HarnessError):
        found.read()
