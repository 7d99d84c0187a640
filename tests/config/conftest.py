"""A home folder and a project of their own for every test."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

import pytest

from harness_tui.config.loader import Flags, Loaded, load
from harness_tui.config.places import Places
from harness_tui.config.problems import Problem
from harness_tui.config.project import Project, find_project
from harness_tui.config.trust import TrustStore


@dataclass
class World:
    """Folders of one test, with short ways to write files and to load."""

    home: Path
    root: Path
    environ: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def places(self) -> Places:
        return Places.from_environment({"HOME": str(self.home)})

    @property
    def project(self) -> Project:
        return find_project(self.root, self.home)

    @property
    def store(self) -> TrustStore:
        return TrustStore(self.places)

    def write(self, name: str, text: str) -> Path:
        """Write a file of the project."""
        return _write(self.root / name, text)

    def write_user(self, text: str, name: str = "config.yaml") -> Path:
        """Write a file of the person's configuration folder."""
        return _write(self.places.config / name, text)

    def load(self, flags: Flags | None = None) -> Loaded:
        return load(self.project, self.places, flags or Flags(), {"HOME": str(self.home), **self.environ})

    def trusted(self) -> Loaded:
        """Trust the project, then load."""
        self.store.grant(self.project)
        return self.load()


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(text), encoding="utf-8")
    return path


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    home, root = tmp_path / "home", tmp_path / "work" / "project"
    (root / ".git").mkdir(parents=True)
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return World(home, root)


@pytest.fixture
def find():
    """Return the problems of one code."""

    def look(loaded: Loaded, code: str) -> list[Problem]:
        return [problem for problem in loaded.problems if problem.code == code]

    return look
