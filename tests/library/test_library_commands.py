"""The registry of commands: names, precedence, trust, edits, and files that are wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from library_scene import Scene

from harness_tui.library.commands import RESERVED
from harness_tui.library.library import Library


def names(library: Library) -> list[str]:
    return sorted(command.name for command in library.commands())


def path_of(library: Library, name: str) -> Path | None:
    found = library.find_command(name)
    return found.path if found else None


def codes(library: Library) -> list[str]:
    return [item.code for item in library.problems()]


@pytest.mark.rule("3.7.1", "3.7.2", "3.7.3", "3.7.5")
def test_the_path_below_the_root_is_the_name(scene: Scene) -> None:
    scene.command("project", "git/pr/open")
    scene.command("project", "svelte:a11y")
    library = scene.library()
    assert names(library) == ["git/pr/open", "svelte:a11y"]
    for spelling in ("git/pr/open", "git:pr:open", "git/pr:open", "open", "OPEN"):
        assert path_of(library, spelling) == scene.root / ".harness/commands/git/pr/open.md"
    assert path_of(library, "svelte/a11y") == scene.root / ".harness/commands/svelte:a11y.md"


@pytest.mark.rule("3.7.3")
def test_a_last_part_counts_only_while_it_is_unique(scene: Scene) -> None:
    scene.command("project", "git/commit")
    scene.command("project", "hg/commit")
    scene.command("project", "x/review")
    scene.command("project", "review")
    library = scene.library()
    assert library.find_command("commit") is None
    assert path_of(library, "review") == scene.root / ".harness/commands/review.md"


@pytest.mark.rule("3.7.5")
def test_case_counts_first_and_a_unique_name_is_found_in_any(scene: Scene) -> None:
    scene.command("project", "Deploy")
    scene.command("project", "test")
    scene.command("project", "Test")
    library = scene.library()
    assert path_of(library, "deploy") == scene.root / ".harness/commands/Deploy.md"
    assert path_of(library, "Test") == scene.root / ".harness/commands/Test.md"
    assert library.find_command("TEST") is None


@pytest.mark.rule("3.7.3", "3.7.5", "3.7.12")
def test_a_name_with_its_scope_is_found_like_one_without(scene: Scene) -> None:
    own = scene.command("user", "git/Deploy", "one")
    path = scene.command("project", "hg/Deploy", "two")
    library = scene.library()
    for spelling in ("project:hg/Deploy", "project:Deploy", "project/hg/deploy"):
        assert path_of(library, spelling) == path
    assert path_of(library, "user:Deploy") == own
    assert library.find_command("Deploy") is None
    for unknown in ("project:", "project:x", "bundled:Deploy", "nobody:Deploy"):
        assert library.find_command(unknown) is None


@pytest.mark.rule("3.7.1")
def test_a_composed_name_is_found_in_either_normal_form(scene: Scene) -> None:
    scene.command("project", "cafe\u0301")
    assert scene.library().find_command("caf\u00e9") is not None


@pytest.mark.rule("3.7.10", "3.7.13")
def test_later_roots_win_and_each_shadowing_is_told_once_with_both_paths(scene: Scene) -> None:
    bundled = scene.command("bundled", "a", "one")
    user = scene.command("user", "a", "two")
    project = scene.command("project", "a", "three")
    library = scene.library()
    assert path_of(library, "a") == project
    told = [item.message for item in library.problems() if item.code == "shadowed"]
    assert len(told) == 2
    assert str(bundled) in told[0]
    assert str(user) in told[0]
    assert str(user) in told[1]
    assert str(project) in told[1]
    assert [command.shadowed_by for command in library.commands()] == [str(user), str(project), None]
    for scope, path in (("bundled", bundled), ("user", user), ("project", project)):
        assert path_of(library, f"{scope}:a") == path


@pytest.mark.rule("3.7.13")
def test_copies_that_are_the_same_to_the_byte_are_no_warning(scene: Scene) -> None:
    user = scene.command("user", "a")
    project = scene.command("project", "a")
    library = scene.library()
    assert codes(library) == []
    assert [command.shadowed_by for command in library.commands()] == [str(project), None]
    user.write_text("another")
    library.refresh()
    assert codes(library) == ["shadowed"]


@pytest.mark.rule("3.7.11")
def test_the_folders_of_one_scope_have_a_fixed_order(scene: Scene) -> None:
    places = (".claude/commands", ".opencode/command", ".opencode/commands", ".harness/command", ".harness/commands")
    for place in places:
        scene.write(f"root/{place}/x.md", place)
        library = scene.library()
        assert path_of(library, "x") == scene.root / place / "x.md"
    assert [item.code for item in library.problems() if item.level == "info"] == ["folder-name"]


@pytest.mark.rule("3.7.10")
def test_the_persons_own_folders_are_read(scene: Scene) -> None:
    for place in (".claude/commands", ".config/opencode/commands", ".config/harness/commands"):
        scene.write(f"home/{place}/x.md", place)
        assert path_of(scene.library(), "x") == scene.home / place / "x.md"


@pytest.mark.rule("3.7.11")
def test_folders_nearer_to_the_start_win(scene: Scene) -> None:
    scene.write("root/.harness/commands/x.md", "root")
    near = scene.write("root/sub/.claude/commands/x.md", "near")
    scene.start = scene.root / "sub"
    assert path_of(scene.library(), "x") == near


@pytest.mark.rule("3.7.14")
def test_a_start_in_the_home_folder_reads_its_commands_once_as_the_persons(scene: Scene) -> None:
    scene.write("home/.claude/commands/x.md", "x")
    scene.root = scene.start = scene.home
    library = scene.library(trusted=False)
    (command,) = library.commands()
    assert (command.scope, command.trusted) == ("user", True)
    assert codes(library) == []


@pytest.mark.rule("3.7.12")
def test_a_reserved_name_is_never_taken_but_can_be_reached(scene: Scene) -> None:
    path = scene.command("project", "help")
    scene.command("project", "git/new")
    library = scene.library()
    assert library.find_command("help") is None
    assert library.find_command("new") is None
    assert path_of(library, "project:help") == path
    assert "reserved" in codes(library)
    assert {"clear", "exit", "sessions", "mcp", "quit"} <= RESERVED


@pytest.mark.rule("3.7.6")
def test_an_alias_works_and_never_takes_a_name(scene: Scene) -> None:
    path = scene.command("project", "review", "---\naliases: [rv, test, help]\n---\nx")
    scene.command("project", "test")
    library = scene.library()
    assert path_of(library, "rv") == path
    assert path_of(library, "test") == scene.root / ".harness/commands/test.md"
    assert codes(library).count("alias") == 2


@pytest.mark.rule("3.7.7")
def test_hidden_files_drafts_and_readmes_are_no_commands(scene: Scene) -> None:
    for name in (".x", "_x", "README", "readme", ".git/y", "_drafts/z", "sub/README"):
        scene.command("project", name)
    assert scene.library().commands() == []


@pytest.mark.rule("3.7.4")
def test_a_name_with_a_blank_is_told_and_left_out(scene: Scene) -> None:
    scene.command("project", "my command")
    scene.command("project", "good")
    library = scene.library()
    assert names(library) == ["good"]
    assert codes(library) == ["name"]


@pytest.mark.rule("3.8.7", "3.8.8")
def test_bad_files_are_told_one_by_one_and_take_nobody_down(scene: Scene) -> None:
    for number in range(9):
        scene.command("project", f"good{number}")
    scene.write("root/.harness/commands/bom.md", b"\xef\xbb\xbfbody")
    scene.command("project", "yaml", "---\ndescription: a: b\n---\nx")
    scene.command("project", "open", "---\nagent: x\nbody")
    scene.command("project", "empty", "")
    scene.command("project", "latin", "x")
    scene.write("root/.harness/commands/latin.md", b"\xe9t\xe9")
    (scene.root / ".harness/commands/folder.md").mkdir()
    os.symlink("nowhere", scene.root / ".harness/commands/link.md")
    os.mkfifo(scene.root / ".harness/commands/pipe.md")
    library = scene.library()
    usable = [command.name for command in library.commands() if command.error is None]
    assert sorted(usable) == sorted([*(f"good{number}" for number in range(9)), "bom", "yaml", "empty", "latin"])
    told = {Path(item.path).stem for item in library.problems()}
    assert told == {"yaml", "open", "empty", "latin", "folder", "link", "pipe"}
    assert len(library.problems()) == 7


@pytest.mark.rule("3.8.11")
def test_a_link_that_became_text_is_told(scene: Scene) -> None:
    scene.command("project", "x", "../shared/review.md")
    assert codes(scene.library()) == ["link"]


@pytest.mark.rule("3.7.9")
def test_loops_of_links_end_and_a_linked_file_counts_once(scene: Scene) -> None:
    scene.command("project", "z/real")
    os.symlink("..", scene.root / ".harness/commands/z/loop")
    os.symlink("z/real.md", scene.root / ".harness/commands/a.md")
    os.symlink("real.md", scene.root / ".harness/commands/z/alias.md")
    assert len(scene.library().commands()) == 1


@pytest.mark.rule("3.7.9")
def test_a_linked_folder_of_commands_is_followed(scene: Scene) -> None:
    scene.write("dotfiles/commands/x.md", "x")
    (scene.home / ".config/harness").mkdir(parents=True)
    os.symlink(scene.base / "dotfiles/commands", scene.home / ".config/harness/commands")
    assert names(scene.library()) == ["x"]


@pytest.mark.rule("3.7.9")
def test_a_file_that_two_roots_lead_to_is_one_command_where_it_lies(scene: Scene) -> None:
    own = scene.command("user", "x", "mine")
    path = scene.command("project", "y")
    (scene.root / ".claude").mkdir()
    (scene.root / ".claude/commands").symlink_to(scene.root / ".harness/commands")
    (scene.root / ".harness/commands/z.md").symlink_to(own)
    (scene.home / ".config/harness/commands/w.md").symlink_to(path)
    library = scene.library()
    assert [(item.name, item.scope) for item in library.commands()] == [("x", "user"), ("y", "project")]
    assert codes(library) == []
    assert [(item.name, item.scope) for item in scene.library(trusted=False).commands()] == [
        ("w", "user"),
        ("x", "user"),
    ]


@pytest.mark.rule("3.7.8")
def test_depth_and_number_are_bounded_with_a_warning(scene: Scene) -> None:
    scene.command("project", "1/2/3/4/5/in")
    scene.command("project", "1/2/3/4/5/6/out")
    library = scene.library()
    assert names(library) == ["1/2/3/4/5/in"]
    assert codes(library) == ["depth"]
    for number in range(505):
        scene.command("user", f"n{number:03}")
    library = scene.library()
    assert len([name for name in names(library) if name.startswith("n")]) == 500
    assert codes(library).count("too-many") == 1


@pytest.mark.rule("3.7.15")
def test_commands_of_an_untrusted_folder_are_listed_and_shadow_nothing(scene: Scene) -> None:
    user = scene.command("user", "a")
    scene.command("project", "a")
    scene.command("project", "only/here")
    library = scene.library(trusted=False)
    assert [(command.name, command.trusted) for command in library.commands()] == [
        ("a", True),
        ("a", False),
        ("only/here", False),
    ]
    assert path_of(library, "a") == user
    assert library.find_command("here") is None
    assert library.find_command("project:a") is None
    assert codes(library) == []


@pytest.mark.rule("3.7.16", "3.7.17")
def test_an_edit_counts_at_the_next_look_and_a_broken_one_keeps_the_last_good_copy(scene: Scene) -> None:
    path = scene.command("project", "x", "one")
    library = scene.library()

    def edit(text: str, time: int) -> str:
        path.write_text(text)
        os.utime(path, ns=(time, time))
        library.refresh()
        found = library.find_command("x")
        assert found is not None
        return found.read().template.body

    assert edit("two", 10**18) == "two"
    assert edit("---\nagent: x\nbroken", 10**18 + 1) == "two"
    assert codes(library) == ["unterminated-frontmatter", "last-good-copy"]
    assert edit("three", 10**18 + 2) == "three"
    assert codes(library) == []
    path.unlink()
    library.refresh()
    assert library.commands() == []


@pytest.mark.rule("4.2")
def test_a_likely_name_is_suggested(scene: Scene) -> None:
    scene.command("project", "deploy")
    library = scene.library()
    assert library.suggest("deplyo") == "deploy"
    assert library.suggest("hlep") == "help"
    assert library.suggest("qqqqqq") is None


@pytest.mark.rule("4.2", "3.5.9")
def test_completion_puts_beginnings_first_and_finds_likenesses(scene: Scene) -> None:
    scene.command("project", "review", "---\ndescription: Reads.\nargument-hint: '[file]'\n---\nx")
    scene.command("project", "git/review-all", "# Second line of menu\n")
    scene.command("project", "preview")
    scene.command("project", "secret", "---\nhidden: true\n---\nx")
    scene.skill("user", "reviewing")
    library = scene.library()
    found = library.complete("/rev")
    assert [item.name for item in found] == ["review", "reviewing", "git/review-all", "preview"]
    assert (found[0].description, found[0].argument_hint, found[0].source, found[0].kind) == (
        "Reads.",
        "[file]",
        "project",
        "command",
    )
    assert found[1].kind == "skill"
    assert found[2].description == "Second line of menu"
    assert next(item.name for item in library.complete("rveiew")) == "review"
    assert "secret" not in [item.name for item in library.complete("")]
