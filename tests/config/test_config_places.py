"""Folders by the XDG rule, and which folder is the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness_tui.config.bundled import bundled
from harness_tui.config.places import Places
from harness_tui.config.project import Project, find_project
from harness_tui.core.errors import UsageError


def test_without_variables_the_places_lie_below_home():
    places = Places.from_environment({"HOME": "/home/ada"})
    assert places.config_file == Path("/home/ada/.config/harness/config.yaml")
    assert places.database == Path("/home/ada/.local/share/harness/harness.db")
    assert places.session_dir("s1") == Path("/home/ada/.local/share/harness/sessions/s1")
    assert places.trust_file == Path("/home/ada/.local/state/harness/trust.json")
    assert places.approvals_file == Path("/home/ada/.local/state/harness/approvals.json")
    assert places.logs == Path("/home/ada/.local/state/harness/logs")
    assert places.ledger == Path("/home/ada/.local/state/harness/processes")
    assert places.start_file == Path("/home/ada/.cache/harness/start.json")
    assert places.manifests == Path("/home/ada/.cache/harness/mcp")


def test_an_absolute_xdg_variable_counts_and_a_relative_one_does_not():
    places = Places.from_environment(
        {"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "state", "XDG_DATA_HOME": ""}
    )
    assert places.config == Path("/c/harness")
    assert places.state == Path("/h/.local/state/harness")
    assert places.data == Path("/h/.local/share/harness")


def test_a_relative_home_is_an_error_that_names_home():
    with pytest.raises(UsageError) as error:
        Places.from_environment({"HOME": "somewhere"})
    assert error.value.where == "HOME"


@pytest.mark.parametrize("mark", [".git", ".harness"])
def test_the_root_is_the_nearest_folder_with_a_mark(tmp_path: Path, mark: str):
    root, start = tmp_path / "a", tmp_path / "a" / "b" / "c"
    start.mkdir(parents=True)
    (root / mark).mkdir()
    assert find_project(start, home=tmp_path / "home") == Project(root, start)


def test_a_git_file_of_a_worktree_marks_a_root(tmp_path: Path):
    (tmp_path / "tree" / "src").mkdir(parents=True)
    (tmp_path / "tree" / ".git").write_text("gitdir: elsewhere\n")
    assert find_project(tmp_path / "tree" / "src", home=tmp_path / "home").root == tmp_path / "tree"


def test_the_home_folder_is_never_a_root_for_what_lies_below_it(tmp_path: Path):
    start = tmp_path / "notes"
    start.mkdir()
    (tmp_path / ".harness").mkdir()
    assert find_project(start, home=tmp_path) == Project(start, start)


def test_links_are_resolved_so_that_one_project_has_one_root(tmp_path: Path):
    (tmp_path / "real" / ".git").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert find_project(tmp_path / "link", home=tmp_path / "home").root == tmp_path / "real"


def test_a_file_or_a_missing_folder_is_a_usage_error(tmp_path: Path):
    (tmp_path / "file").write_text("")
    for name in ("file", "missing"):
        with pytest.raises(UsageError, match=name):
            find_project(tmp_path / name, home=tmp_path)


def test_windows_is_told_to_use_wsl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("harness_tui.config.project.sys.platform", "win32")
    with pytest.raises(UsageError, match="use WSL"):
        find_project(tmp_path)


def test_bundled_files_lie_beside_the_package_in_a_checkout():
    assert bundled("commands").name == "commands"
    assert bundled("commands").parent.joinpath("harness_tui").is_dir() or bundled("commands").parent.name == "_bundled"
