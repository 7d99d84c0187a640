"""A project with a home of its own, a library over both, and a short way to expand a text."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.fake_gates import FakeShellGate

from harness_tui.children.registry import ChildRegistry
from harness_tui.library.expansion import Expansion, Surroundings
from harness_tui.library.one_file import expand_file

sys.path.insert(0, str(Path(__file__).parent))

from library_scene import Expand, Scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    base = tmp_path.resolve()
    for name in ("root", "home", "bundled/commands", "bundled/skills"):
        (base / name).mkdir(parents=True)
    return Scene(base, base / "root", base / "home", base / "root")


@pytest.fixture
async def spawner(tmp_path: Path) -> AsyncIterator[ChildRegistry]:
    environ = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8"}
    made = ChildRegistry(tmp_path / "processes", environ=environ)
    yield made
    await made.close()


@pytest.fixture
def around(scene: Scene) -> Surroundings:
    return Surroundings(
        root=scene.root,
        agents=["build", "plan"],
        models=lambda name: name in ("acme/small", "acme/large"),
        may_grant=True,
    )


@pytest.fixture
def expand(scene: Scene, around: Surroundings) -> Expand:
    """Expand a text as the file ``t.md`` with an argument line; without a spawner nothing can run."""

    async def run(text: str | bytes, args_line: str = "") -> Expansion:
        return await expand_file(scene.write("t.md", text), args_line, around)

    return run


@pytest.fixture
def shell(scene: Scene, around: Surroundings, spawner: ChildRegistry) -> Expand:
    """Expand a text whose shell parts may run."""

    async def run(
        text: str, args_line: str = "", gate: FakeShellGate | None = None, seconds: float | None = None
    ) -> Expansion:
        able = replace(around, spawner=spawner, shell_gate=gate or FakeShellGate(), shell_seconds=seconds)
        return await expand_file(scene.write("t.md", text), args_line, able)

    return run
