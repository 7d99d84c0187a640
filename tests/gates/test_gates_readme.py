"""What the documents tell a newcomer to type works in an empty home, and what they name exists."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
TARGET = re.compile(r"(?:^|`)make((?: [a-z][a-z-]*)+)", re.MULTILINE)
NAMED = re.compile(r"`((?:config|core|permissions|sessions|children|mcp|lsp|agent|workspace|tui|cli)(?:\.\w+)+)")
ROW = re.compile(r"^\| `(\w+)` \| (.*) \|$", re.MULTILINE)
IN_ROW = re.compile(r"`(\w+(?:\.\w+)+)")
WRONG_ARE = {"lsp check src/app.py": 1}


def blocks(text: str, language: str) -> list[str]:
    """Return the fenced blocks of a language."""
    return [body for name, body in FENCE.findall(text) if name == language]


def documents(root: Path) -> list[Path]:
    return [root / "README.md", root / "CONTRIBUTING.md", *(root / "docs").rglob("*.md")]


@pytest.fixture
def project_of_a_newcomer(tmp_path: Path) -> Path:
    """A small project, and beside it a replay script in place of a model."""
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "README.md").write_text("# Prices\n")
    (folder / "src" / "app.py").write_text('price: int = "two"\n')
    (tmp_path / "play.yaml").write_text("turns: [{text: It sums prices.}]\n")
    return folder


def harness(folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    env = {"HOME": str(folder.parent), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", **more}
    return subprocess.run(
        [str(Path(sys.executable).parent / "harness"), *words],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.mark.e2e
def test_every_example_without_a_screen_works_as_it_is_written(root: Path, project_of_a_newcomer: Path) -> None:
    text = (root / "README.md").read_text().partition("### Without a screen")[2]
    lines = blocks(text, "sh")[0].splitlines()
    assert len(lines) >= 5
    said: dict[str, str] = {}
    for line in lines:
        program, *words = shlex.split(line)
        assert program == "harness"
        model = {"HARNESS_MODEL": f"replay:{project_of_a_newcomer.parent / 'play.yaml'}"}
        done = harness(project_of_a_newcomer, *words, **model)
        assert done.returncode == WRONG_ARE.get(" ".join(words), 0), f"{line}\n{done.stdout}\n{done.stderr}"
        said[words[0]] = said.get(words[0], "") + done.stdout
    assert "It sums prices." in said["run"]
    assert '"reason":"completed"' in said["run"].replace(": ", ":")
    assert "# Prices" in said["tools"]
    assert "src/app.py:1:14: error" in said["lsp"]


@pytest.mark.e2e
def test_every_configuration_in_the_readme_is_valid(root: Path, project_of_a_newcomer: Path) -> None:
    examples = blocks((root / "README.md").read_text(), "yaml")
    assert len(examples) == 2
    for example in examples:
        path = project_of_a_newcomer / ".harness" / "config.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(example)
        done = harness(project_of_a_newcomer, "config", "check")
        assert (done.returncode, done.stderr) == (0, ""), f"{example}\n{done.stdout}"


def test_every_target_that_a_document_names_exists(root: Path) -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", (root / "Makefile").read_text(), re.MULTILINE))
    named = {word for path in documents(root) for words in TARGET.findall(path.read_text()) for word in words.split()}
    assert {"run", "test", "install", "lint", "bench"} <= named
    assert named - targets == set()


def exists(name: str) -> bool:
    """Say whether ``harness_tui`` has this module, or the attribute of one."""
    words = name.split(".")
    for length in range(len(words), 0, -1):
        try:
            found: object = importlib.import_module(".".join(["harness_tui", *words[:length]]))
        except ModuleNotFoundError:
            continue
        for word in words[length:]:
            if not hasattr(found, word):
                return False
            found = getattr(found, word)
        return True
    return False


def pointed_to(text: str) -> set[str]:
    """Return the names in a text; those of a row whose first cell is a package belong to that package."""
    rows = {f"{package}.{name}" for package, row in ROW.findall(text) for name in IN_ROW.findall(row)}
    return rows | set(NAMED.findall(ROW.sub("", text)))


def test_every_module_and_name_that_a_document_points_to_exists(root: Path) -> None:
    names = {name for path in documents(root) for name in pointed_to(path.read_text())}
    assert {"core.bus.EventStream", "config.places.Places.from_environment", "mcp.pool.McpPool"} <= names
    assert {name for name in names if not exists(name)} == set()


def test_a_seeded_name_that_does_not_exist_is_found() -> None:
    assert exists("core.seams.Tool")
    assert not exists("core.seams.Toool")
    assert not exists("nowhere.at.all")
