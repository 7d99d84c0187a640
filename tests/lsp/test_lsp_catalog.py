"""The list of servers, where they work and which binary is started."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from harness_tui.config.settings import LspServerSettings, LspSettings
from harness_tui.lsp.built_in import BUILT_IN
from harness_tui.lsp.catalog import catalog, install_hint
from harness_tui.lsp.choosing import Chooser
from harness_tui.lsp.roots import Binaries, Placed, place_in_project, root_for
from harness_tui.lsp.spec import Need, ServerSpec


def names(**servers):
    return [spec.name for spec in catalog(LspSettings(servers=servers))]


def test_the_type_checkers_come_in_the_order_of_preference_and_ruff_beside_them():
    assert [(spec.name, spec.group) for spec in BUILT_IN if spec.serves(Path("a.py"))] == [
        ("ty", "python types"),
        ("basedpyright", "python types"),
        ("pyright", "python types"),
        ("pyrefly", "python types"),
        ("ruff", None),
    ]


def test_the_servers_for_typescript_come_in_the_order_of_preference():
    assert [(spec.name, spec.group, spec.typescript) for spec in BUILT_IN if spec.serves(Path("a.tsx"))] == [
        ("typescript", "typescript", "native"),
        ("typescript-language-server", "typescript", "classic"),
        ("vtsls", "typescript", None),
        ("eslint", None, None),
        ("biome", None, None),
    ]


def test_every_built_in_server_is_complete():
    assert len({spec.name for spec in BUILT_IN}) == len(BUILT_IN)
    for entry in BUILT_IN:
        assert entry.command, entry.name
        assert entry.install, entry.name
        assert all(name.startswith(".") or name[0].isupper() or name.startswith("go.") for name in entry.languages)
        assert all(name == name.lower() for name in entry.languages if name.startswith("."))
        assert entry.roots or not entry.only_with_root, entry.name


@pytest.mark.parametrize(
    ("file", "language"),
    [("a.TSX", "typescriptreact"), ("Dockerfile", "dockerfile"), ("x.dockerfile", "dockerfile"), ("go.mod", "go.mod")],
)
def test_a_file_is_opened_with_its_language(file, language):
    served = [entry.language(Path(file)) for entry in BUILT_IN if entry.serves(Path(file))]
    assert served
    assert set(served) == {language}


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
    assert (
        install_hint(tuple(entry for entry in BUILT_IN if entry.serves(Path("a.py")))) == "ty, basedpyright or pyright"
    )
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


def test_a_server_for_configured_folders_serves_no_other(tmp_path):
    (tmp_path / "with" / "deep").mkdir(parents=True)
    (tmp_path / "with" / "eslint.config.mjs").touch()
    only = spec(roots=("eslint.config.*",), only_with_root=True)
    assert root_for(only, tmp_path / "with" / "deep" / "a.py", tmp_path) == tmp_path / "with"
    assert root_for(only, tmp_path / "a.py", tmp_path) is None


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


def found(binaries: Binaries, root: Path, entry: ServerSpec | None = None) -> tuple[str, ...] | None:
    placed = binaries.find(entry or spec(), root)
    return placed.argv if placed is not None else None


def test_the_project_s_own_binary_comes_first_when_it_is_trusted(tmp_path):
    local, on_path = make(tmp_path / "p" / "node_modules" / ".bin"), make(tmp_path / "bin")
    environ = {"PATH": str(tmp_path / "bin")}

    def find(trusted):
        binaries = Binaries(tmp_path / "p", trusted=trusted, environ=environ, monotonic=Time())
        return found(binaries, tmp_path / "p")

    assert find(True) == (str(local),)
    assert find(False) == (str(on_path),)


def test_relative_entries_of_the_path_are_never_used(tmp_path, monkeypatch):
    make(tmp_path / "bin")
    monkeypatch.chdir(tmp_path)
    binaries = Binaries(tmp_path, trusted=False, environ={"PATH": f"bin{os.pathsep}."}, monotonic=Time())
    assert found(binaries, tmp_path) is None
    assert binaries.reason(spec(), tmp_path) == "s-server was not found"


def test_what_is_installed_meanwhile_is_found_after_half_a_minute(tmp_path):
    time = Time()
    binaries = Binaries(tmp_path / "p", trusted=False, environ={"PATH": str(tmp_path / "bin")}, monotonic=time)
    assert found(binaries, tmp_path / "p") is None
    binary = make(tmp_path / "bin")
    time.now = 29.0
    assert found(binaries, tmp_path / "p") is None
    time.now = 30.0
    assert found(binaries, tmp_path / "p") == (str(binary),)


def test_a_broken_binary_is_used_again_once_it_changed(tmp_path):
    binary = make(tmp_path / "bin")
    binaries = Binaries(tmp_path / "p", trusted=False, environ={"PATH": str(tmp_path / "bin")}, monotonic=Time())
    assert found(binaries, tmp_path / "p") is not None
    binaries.mark_broken(binary, "does not work")
    assert found(binaries, tmp_path / "p") is None
    assert binaries.reason(spec(), tmp_path / "p") == "does not work"
    os.utime(binary, (1, 1))
    assert found(binaries, tmp_path / "p") == (str(binary),)


def test_a_server_without_the_program_that_it_needs_is_absent_and_says_so(tmp_path):
    make(tmp_path / "bin")
    time = Time()
    binaries = Binaries(tmp_path / "p", trusted=False, environ={"PATH": str(tmp_path / "bin")}, monotonic=time)
    needing = spec(needs=(Need("checker", "which finds the errors"),))
    assert found(binaries, tmp_path / "p", needing) is None
    assert binaries.reason(needing, tmp_path / "p") == "checker, which finds the errors, was not found"
    assert binaries.broken(needing, tmp_path / "p") == "checker, which finds the errors, was not found"
    make(tmp_path / "bin", "checker")
    time.now = 30.0
    assert found(binaries, tmp_path / "p", needing) == (str(tmp_path / "bin" / "s-server"),)


def typescript(folder: Path, version: str, *, classic: bool) -> Path:
    """Install a package ``typescript`` that holds what the product looks at."""
    package = folder / "node_modules" / "typescript"
    make(package / "bin", "tsc")
    (package / "package.json").write_text(json.dumps({"name": "typescript", "version": version}))
    if classic:
        (package / "lib").mkdir()
        (package / "lib" / "tsserver.js").touch()
    return package


NATIVE = ServerSpec("native", ("tsc", "--lsp"), {".ts": "typescript"}, typescript="native")
CLASSIC = ServerSpec(
    "classic",
    ("ts-server",),
    {".ts": "typescript"},
    typescript="classic",
    initialization={"tsserver": {"a": 1}, "b": 2},
)


def places(project: Path, root: Path, *, trusted: bool, path: Path) -> tuple[object, object]:
    """Return what each kind of server is started with at ``root``, or why it is not."""
    binaries = Binaries(project, trusted=trusted, environ={"PATH": str(path)}, monotonic=Time())
    return tuple(
        placed if (placed := binaries.find(entry, root)) is not None else binaries.reason(entry, root)
        for entry in (NATIVE, CLASSIC)
    )  # pyright: ignore[reportReturnType]


def test_each_folder_gets_the_server_that_works_with_its_typescript(tmp_path):
    path = make(tmp_path / "bin", "ts-server").parent
    project = tmp_path / "project"
    old = typescript(project / "old", "5.9.3", classic=True)
    new = typescript(project / "new", "7.0.2", classic=False)
    (project / "old" / "deep").mkdir()

    native, classic = places(project, project / "old" / "deep", trusted=True, path=path)
    assert native == f"it works with TypeScript 7 or newer, and {old} is 5.9.3"
    assert isinstance(classic, Placed)
    assert classic.argv == (str(path / "ts-server"),)
    assert classic.initialization == {"tsserver": {"path": str(old / "lib" / "tsserver.js"), "a": 1}, "b": 2}

    native, classic = places(project, project / "new", trusted=True, path=path)
    assert native == Placed((str(new / "bin" / "tsc"), "--lsp"), {})
    assert classic == f"it works with TypeScript older than 7, and {new} is 7.0.2"

    nothing = ("the package typescript was not found", "the package typescript was not found")
    assert places(project, project, trusted=True, path=path) == nothing
    assert places(project, project / "new", trusted=False, path=path) == nothing


def test_the_typescript_of_the_path_serves_where_a_folder_has_none(tmp_path):
    package = typescript(tmp_path / "global", "6.0.3", classic=True)
    path = make(tmp_path / "bin", "ts-server").parent
    (path / "tsc").symlink_to(package / "bin" / "tsc")
    (tmp_path / "project").mkdir()
    _, classic = places(tmp_path / "project", tmp_path / "project", trusted=False, path=path)
    assert isinstance(classic, Placed)
    assert classic.initialization["tsserver"]["path"] == str(package / "lib" / "tsserver.js")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 5}', '{"version": "next"}'])
def test_a_package_that_is_half_installed_counts_as_missing(tmp_path, text):
    package = typescript(tmp_path, "5.9.3", classic=True)
    (package / "package.json").write_text(text)
    missing = "the package typescript was not found"
    assert places(tmp_path, tmp_path, trusted=True, path=tmp_path / "none") == (missing, missing)


def test_every_server_that_knows_a_file_is_explained(tmp_path):
    binary = make(tmp_path / "bin", "two").parent
    make(binary, "three")
    make(binary, "four")
    languages = {".x": "x"}
    specs = (
        ServerSpec("one", ("one",), languages, group="g", install="get one"),
        ServerSpec("two", ("two",), languages, group="g"),
        ServerSpec("three", ("three",), languages, group="g"),
        ServerSpec("four", ("four",), languages, roots=("four.toml",), only_with_root=True),
        ServerSpec("five", ("two",), languages, blocked="disabled in the configuration"),
        ServerSpec("six", ("two",), {".y": "y"}),
    )
    binaries = Binaries(tmp_path / "p", trusted=False, environ={"PATH": str(binary)}, monotonic=Time())
    entries = Chooser(tmp_path / "p", specs, binaries).explain(tmp_path / "p" / "a.x")
    assert [(entry.name, entry.serves, entry.reason, entry.install) for entry in entries] == [
        ("one", False, "one was not found", "get one"),
        ("two", True, f"works in {tmp_path / 'p'}", None),
        ("three", False, "two serves in its place", None),
        ("four", False, "serves only below a folder with four.toml", None),
        ("five", False, "disabled in the configuration", None),
    ]
