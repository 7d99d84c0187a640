"""Looking again: what did not change costs nothing, and nothing that changed is missed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from library_scene import Scene

from harness_tui.library.library import Library


def told(library: Library) -> list[tuple[str, str]]:
    library.refresh()
    return sorted((item.name, item.description) for item in [*library.commands(), *library.skills()])


def described(text: str, name: str = "a") -> str:
    return f"---\nname: {name}\ndescription: {text}\n---\nDo it.\n"


def rewrite_in_the_same_moment(file: Path) -> None:
    before = file.stat()
    file.write_text(file.read_text().replace("one", "two"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


@pytest.mark.rule("3.7.16")
def test_a_second_look_at_unchanged_folders_makes_nothing_anew(scene: Scene) -> None:
    scene.command("project", "a", described("one"))
    scene.skill("project", "a", described("one"))
    library = scene.library()
    commands, skills = library.commands(), library.skills()
    library.refresh()
    assert [id(item) for item in library.commands()] == [id(item) for item in commands]
    assert [id(item) for item in library.skills()] == [id(item) for item in skills]


@pytest.mark.rule("3.7.16")
@pytest.mark.parametrize("kind", ["command", "skill"])
def test_a_file_of_the_same_size_and_time_with_another_text_is_read(scene: Scene, kind: str) -> None:
    file = getattr(scene, kind)("project", "a", described("one"))
    library = scene.library()
    assert told(library) == [("a", "one")]
    rewrite_in_the_same_moment(file)
    assert told(library) == [("a", "two")]


@pytest.mark.rule("3.7.16")
@pytest.mark.parametrize("kind", ["command", "skill"])
def test_files_that_come_and_go_are_seen(scene: Scene, kind: str) -> None:
    write = getattr(scene, kind)
    first = write("project", "a", described("one"))
    library = scene.library()
    write("user", "b", described("two", "b"))
    assert told(library) == [("a", "one"), ("b", "two")]
    first.unlink()
    assert told(library) == [("b", "two")]


@pytest.mark.rule("3.7.15")
@pytest.mark.parametrize("kind", ["command", "skill"])
def test_a_change_of_trust_counts_though_no_file_changed(scene: Scene, kind: str) -> None:
    getattr(scene, kind)("project", "a", described("one"))
    library = scene.library(trusted=False)
    find = library.find_command if kind == "command" else library.find_skill
    assert find("a") is None
    library.set_trusted(True)
    library.refresh()
    assert find("a") is not None
