"""The first minute on a new machine: the Makefile says what is missing, and touches only what is its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

TOOLS = ("sh", "bash", "env", "grep", "head", "tail", "rm", "test", "printf", "readlink", "make", "git", "cat", "ls")


@pytest.fixture
def checkout(root: Path, tmp_path: Path) -> Path:
    """A folder with what the Makefile reads; its name has a blank."""
    folder = tmp_path / "my checkout"
    folder.mkdir()
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(root / name, folder)
    return folder


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder that can be all of PATH: it holds no Python."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in TOOLS:
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    return folder


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def make(
    checkout: Path, *words: str, home: Path | None = None, path: Path | None = None, **more: str
) -> subprocess.CompletedProcess[str]:
    env = {"HOME": str(home or checkout), "PATH": str(path or os.environ["PATH"]), "LANG": "C.UTF-8", **more}
    return subprocess.run(
        ["make", *words],
        cwd=checkout,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )


def test_without_git_it_says_so(checkout: Path, tools: Path) -> None:
    (tools / "git").unlink()
    done = make(checkout, "run", path=tools)
    assert done.returncode == 2
    assert "Harness needs git: install the package git" in done.stdout


def test_without_python_it_says_so(checkout: Path, tools: Path) -> None:
    done = make(checkout, "test", path=tools)
    assert done.returncode == 2
    assert "Harness needs Python 3.11 or newer, and python3 does not start" in done.stdout


def test_an_old_python_is_named_with_its_version(checkout: Path, tools: Path) -> None:
    script(tools / "python3", 'test "$1" != --version || { echo "Python 3.9.2"; exit; }\ntest "$2" = pass')
    done = make(checkout, "test", path=tools)
    assert done.returncode == 2
    assert "Harness needs Python 3.11 or newer, and python3 is Python 3.9.2" in done.stdout


def test_without_the_venv_module_it_says_so(checkout: Path, tools: Path) -> None:
    script(tools / "python3", f'case "$2" in *ensurepip*) exit 1 ;; esac\nexec {sys.executable} "$@"')
    done = make(checkout, "test", path=tools)
    assert done.returncode == 2
    assert "install the package python3-venv" in done.stdout
    assert not (checkout / ".venv").exists()


def ready(checkout: Path) -> None:
    """Make an environment as the set-up leaves it, without its packages."""
    venv.create(checkout / ".venv", symlinks=True)
    (packages,) = (checkout / ".venv" / "lib").glob("python3.*/site-packages")
    (packages / "editable.pth").write_text(f"{checkout}\n")
    (checkout / "harness_tui").mkdir()
    (checkout / "harness_tui" / "__init__.py").write_text("")
    (checkout / ".venv" / ".ready").write_text("")


def plan(checkout: Path, *words: str) -> str:
    return make(checkout, "-n", "setup", *words).stdout


def test_an_environment_that_fits_is_used(checkout: Path) -> None:
    ready(checkout)
    assert "Nothing to be done" in plan(checkout)
    assert "Nothing to be done" in plan(checkout, f"PYTHON={sys.executable}")


@pytest.mark.parametrize(
    ("words", "opened"),
    [
        ((), "./."),
        (("DIR=demo",), "./demo"),
        (("DIR=/srv/two words",), "/srv/two words"),
        (("DIR=~/src",), "/srv/me/src"),
        (("DIR=~",), "/srv/me"),
    ],
)
def test_the_folder_that_is_named_is_opened(checkout: Path, words: tuple[str, ...], opened: str) -> None:
    ready(checkout)
    script(checkout / ".venv" / "bin" / "harness", 'echo "opened $1"')
    assert f"opened {opened}\n" in make(checkout, "run", *words, home=Path("/srv/me")).stdout


def test_a_moved_checkout_gets_a_new_environment(checkout: Path) -> None:
    ready(checkout)
    moved = checkout.rename(checkout.with_name("moved"))
    assert 'test -z "stale" || rm -rf .venv' in plan(moved)


def test_another_python_gets_a_new_environment(checkout: Path, tmp_path: Path) -> None:
    ready(checkout)
    script(tmp_path / "python4", "echo 4.0")
    assert 'test -z "stale" || rm -rf .venv' in plan(checkout, f"PYTHON={tmp_path / 'python4'}")


def test_an_environment_whose_python_is_gone_is_made_anew(checkout: Path) -> None:
    ready(checkout)
    for link in (checkout / ".venv" / "bin").glob("python*"):
        link.unlink()
        link.symlink_to("/nowhere/python3")
    assert 'test -z "stale" || rm -rf .venv' in plan(checkout)


def test_a_command_of_somebody_else_is_neither_replaced_nor_removed(checkout: Path, tmp_path: Path) -> None:
    home = tmp_path / "a home"
    command = home / ".local" / "bin" / "harness"
    command.parent.mkdir(parents=True)
    command.write_text("theirs")
    done = make(checkout, "install", home=home)
    assert done.returncode == 2
    assert f"{command} is not from make install" in done.stdout
    assert make(checkout, "uninstall", home=home).returncode == 0
    assert command.read_text() == "theirs"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with the command in it, as ``make install`` leaves it."""
    folder = tmp_path / "a home"
    own = folder / ".local" / "share" / "harness-tui" / "bin"
    own.mkdir(parents=True)
    script(own / "harness", "echo harness 9.9.9")
    (folder / ".local" / "bin").mkdir()
    (folder / ".local" / "bin" / "harness").symlink_to(own / "harness")
    return folder


def login(home: Path) -> str:
    done = subprocess.run(
        ["bash", "-lc", "harness"],
        env={"HOME": str(home), "TERM": "dumb"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout.strip()


@pytest.mark.parametrize("before", [None, "export A=1", "export A=1\n"])
def test_a_new_login_shell_finds_the_command_and_the_start_file_is_left_as_it_was(
    checkout: Path, home: Path, before: str | None
) -> None:
    profile = home / ".profile"
    if before is not None:
        profile.write_text(before)
    assert login(home) == ""
    assert f"in {profile}" in make(checkout, "on-path", home=home, SHELL="/bin/bash").stdout
    once = profile.read_text()
    assert login(home) == "harness 9.9.9"
    assert make(checkout, "on-path", home=home, SHELL="/bin/bash").stdout == ""
    assert profile.read_text() == once
    assert make(checkout, "uninstall", home=home).returncode == 0
    assert not (home / ".local" / "bin" / "harness").is_symlink()
    assert not (home / ".local" / "share" / "harness-tui").exists()
    assert (profile.read_text() if profile.exists() else None) == (before and before.rstrip("\n") + "\n")


def test_the_start_file_that_bash_reads_is_taken(checkout: Path, home: Path) -> None:
    (home / ".profile").write_text("")
    (home / ".bash_profile").write_text("")
    make(checkout, "on-path", home=home, SHELL="/bin/bash")
    assert login(home) == "harness 9.9.9"
    assert (home / ".profile").read_text() == ""


@pytest.mark.parametrize("words", [("PROFILE=no",), ("PREFIX=/nowhere/else",)])
def test_start_files_are_left_alone_when_it_is_said_and_for_another_place(
    checkout: Path, home: Path, words: tuple[str, ...]
) -> None:
    done = make(checkout, "on-path", *words, home=home, SHELL="/bin/bash")
    assert "to PATH to call harness by its name" in done.stdout
    assert not (home / ".profile").exists()
