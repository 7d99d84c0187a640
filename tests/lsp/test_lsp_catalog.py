"""The list of servers, where they work and which binary is started."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness_tui.config.settings import LspServerSettings, LspSettings
from harness_tui.lsp.catalog import BUILT_IN, ServerSpec, catalog, install_hint
from harness_tui.lsp.roots import Binaries, place_in_project, root_for


def names(**servers):
    return [spec.name for spec in catalog(LspSettings(servers=servers))]


def test_the_type_checkers_come_in_the_order_of_preference_and_ruff_beside_them():
    assert [(spec.name, spec.group) for spec in BUILT_IN] == [
        ("ty", "python types"),
        ("basedpyright", "python types"),
        ("pyright", "python types"),
        ("pyrefly", "python types"),
        ("ruff", None),
    ]


def test_a_type_checker_with_a_command_of_its_own_comes_first():
    entry = LspServerSettings("pyright", command=("/opt/pyright", "--stdio"))
    assert names(pyright=entry)[:2] == ["pyright", "ty"]
    assert names(pyright=LspServerSettings("pyright", settings={}))[:2] == ["ty", "basedpyright"]


def test_an_entry_changes_only_the_fields_that_it_has():
    entry = LspServerSettings("ty", settings={"ty": {"x": 1}}, env={"A": "b"})
    spec = catalog(LspSettings(servers={"ty": entry}))[0]
    assert (spec.command, spec.settings, spec.env, spec.extensions) == (
        ("ty", "server"),
        {"ty": {"x": 1}},
        {"A": "b"},
        (".py", ".pyi"),
    )


@pytest.mark.parametrize(
    ("entry", "blocked"),
    [
        (LspServerSettings("go", ("gopls",), (".go",)), None),
        (LspServerSettings("go", ("gopls",), (".go",), disabled=True), "disabled in the configuration"),
        (LspServerSettings("go", ("gopls",), (".go",), trusted=False), "the folder that configures it is not trusted"),
        (LspServerSettings("go", ("gopls",)), "its entry needs command and extensions"),
        (LspServerSettings("go", extensions=(".go",)), "its entry needs command and extensions"),
        (LspServerSettings("ty", ()), "its entry needs command and extensions"),
    ],
)
def test_an_entry_that_cannot_be_used_stays_in_the_list_and_says_why(entry, blocked):
    specs = {spec.name: spec for spec in catalog(LspSettings(servers={entry.name: entry}))}
    assert specs[entry.name].blocked == blocked


def test_extensions_may_be_written_in_any_way_and_get_their_language():
    entry = LspServerSettings("x", ("x",), ("TSX", ".foo"))
    spec = catalog(LspSettings(servers={"x": entry}))[-1]
    assert spec.languages == {".tsx": "typescriptreact", ".foo": "foo"}
    assert spec.serves(Path("/a/B.TSX"))
    assert not spec.serves(Path("/a/tsx"))


def test_the_hint_names_what_to_install():
    assert install_hint(BUILT_IN) == "ty, basedpyright or pyright"
    assert install_hint((ServerSpec("x", ("x-server",), {}),)) == "x-server"


def spec(**fields):
    return ServerSpec("s", ("s-server",), {".py": "python"}, **fields)


def test_the_root_is_the_outermost_marker_inside_the_project(tmp_path):
    inner = tmp_path / "repo" / "packages" / "one"
    inner.mkdir(parents=True)
    (tmp_path / "marker").touch()  # outside the project: never looked at
    (tmp_path / "repo" / "packages" / "marker").touch()
    (inner / "marker").touch()
    project = tmp_path / "repo"
    assert root_for(spec(roots=("marker",)), inner / "a.py", project) == project / "packages"
    assert root_for(spec(roots=("marker",), root_rule="nearest"), inner / "a.py", project) == inner
    assert root_for(spec(roots=("none",)), inner / "a.py", project) == project
    assert root_for(spec(), inner / "a.py", project) == project


def test_a_path_is_placed_in_the_project_by_what_it_leads_to(tmp_path):
    project = tmp_path / "real"
    project.mkdir()
    (project / "in.py").symlink_to(project / "a.py")
    (project / "out.py").symlink_to("/etc/hosts")
    (project / "loop.py").symlink_to("loop.py")
    (tmp_path / "link").symlink_to(project)
    assert place_in_project(Path("a.py"), project) == project / "a.py"
    assert place_in_project(Path("x/../a.py"), project) == project / "a.py"
    assert place_in_project(Path("in.py"), project) == project / "in.py"
    assert place_in_project(Path("out.py"), project) is None
    assert place_in_project(Path("../b.py"), project) is None
    assert place_in_project(tmp_path / "real2" / "a.py", project) is None
    assert place_in_project(project / "a.py", tmp_path / "link") == tmp_path / "link" / "a.py"
    assert place_in_project(tmp_path / "link" / "a.py", project) == project / "a.py"


class Time:
    """Seconds that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def make(folder: Path, name: str = "s-server") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)
    return folder / name


def test_the_project_s_own_binary_comes_first_when_it_is_trusted(tmp_path):
    local, on_path = make(tmp_path / "p" / "node_modules" / ".bin"), make(tmp_path / "bin")
    environ = {"PATH": str(tmp_path / "bin")}

    def find(trusted):
        return Binaries(tmp_path / "p", trusted=trusted, environ=environ, monotonic=Time()).find(spec())

    assert find(True) == (str(local),)
    assert find(False) == (str(on_path),)


def test_relative_entries_of_the_path_are_never_used(tmp_path, monkeypatch):
    make(tmp_path / "bin")
    monkeypatch.chdir(tmp_path)
    binaries = Binaries(tmp_path, trusted=False, environ={"PATH": f"bin{os.pathsep}."}, monotonic=Time())
    assert binaries.find(spec()) is None
    assert binaries.reason(spec()) == "s-server was not found"


def test_what_is_installed_meanwhile_is_found_after_half_a_minute(tmp_path):
    time = Time()
    binaries = Binaries(tmp_path, trusted=False, environ={"PATH": str(tmp_path / "bin")}, monotonic=time)
    assert binaries.find(spec()) is None
    binary = make(tmp_path / "bin")
    time.now = 29.0
    assert binaries.find(spec()) is None
    time.now = 30.0
    assert binaries.find(spec()) == (str(binary),)


def test_a_broken_binary_is_used_again_once_it_changed(tmp_path):
    binary = make(tmp_path / "bin")
    binaries = Binaries(tmp_path, trusted=False, environ={"PATH": str(tmp_path / "bin")}, monotonic=Time())
    assert binaries.find(spec()) is not None
    binaries.mark_broken(binary, "does not work")
    assert binaries.find(spec()) is None
    assert binaries.reason(spec()) == "does not work"
    os.utime(binary, (1, 1))
    assert binaries.find(spec()) == (str(binary),)
