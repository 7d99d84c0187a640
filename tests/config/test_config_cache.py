"""The cache of validated configuration: a warm start imports neither pydantic nor YAML."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
from pathlib import Path
from harness_tui.config.loader import load
from harness_tui.config.places import Places
from harness_tui.config.project import find_project
loaded = load(find_project(Path(sys.argv[1])), Places.from_environment())
print(json.dumps({
    "model": loaded.settings.model,
    "servers": sorted(loaded.settings.mcp),
    "problems": [problem.code for problem in loaded.problems],
    "heavy": sorted({"pydantic", "yaml", "ruamel", "click"} & set(sys.modules)),
}))
"""


@pytest.fixture
def start(world):
    """Load in a process of its own, and return what it printed."""

    def run() -> dict[str, object]:
        environ = {"HOME": str(world.home), "PATH": os.environ["PATH"]}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(world.root)], env=environ, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    world.write_user("model: a/b\nmodle: x\nmcp: {time: {command: [clock]}}\n")
    world.write_user("---\ndescription: d\n---\nP\n", "agents/a.md")
    world.write(".harness/commands/c.md", "---\ndescription: d\n---\nRun !`ls`.\n")
    world.write(".mcp.json", '{"mcpServers": {"x": {"command": "x"}}}')
    for folder in (world.places.config, world.root):
        for path in folder.rglob("*"):
            if path.is_file():
                os.utime(path, (1_700_000_000, 1_700_000_000))
    return run


def cache_file(world):
    [path] = world.places.validated.iterdir()
    return path


def test_the_second_start_gives_the_same_without_pydantic_and_yaml(start):
    first, second = start(), start()
    assert first["heavy"] == ["pydantic", "yaml"]
    assert second["heavy"] == []
    assert first["problems"] == ["unknown-key", "untrusted"]
    assert {key: first[key] for key in ("model", "servers", "problems")} == {
        key: second[key] for key in ("model", "servers", "problems")
    }


def test_a_changed_file_is_read_again_at_once(start, world):
    assert start()["model"] == "a/b"
    world.write_user("model: c/d\n")
    changed = start()
    assert changed["model"] == "c/d"
    assert changed["servers"] == ["x"]


def test_a_file_that_is_gone_is_forgotten(start, world):
    start()
    world.places.config_file.unlink()
    assert start()["model"] is None


def test_the_cache_is_the_persons_alone(start, world):
    start()
    assert stat.S_IMODE(cache_file(world).stat().st_mode) == 0o600
    assert stat.S_IMODE(world.places.validated.stat().st_mode) == 0o700


DAMAGE = {
    "cut": lambda text: text[: len(text) // 2],
    "empty": lambda text: "",
    "a list": lambda text: "[]",
    "another version": lambda text: '{"version": 0}',
    "no risk": lambda text: text.replace('"risk"', '"rusk"'),
    "no values": lambda text: text.replace('"values"', '"volumes"'),
}


def test_a_damaged_cache_is_ignored_and_written_anew(start, world):
    good = start()
    path = cache_file(world)
    whole = path.read_text()
    for name, damage in DAMAGE.items():
        path.write_text(damage(whole))
        assert path.read_text() != whole, name
        assert world.load().settings.model == good["model"], name
        assert path.read_text() == whole, name
    assert start()["heavy"] == []


def test_a_cache_that_cannot_be_written_is_only_a_note(world, find):
    world.write_user("model: a/b\n")
    world.places.cache.parent.mkdir(parents=True)
    world.places.cache.write_text("in the way")
    loaded = world.load()
    assert loaded.settings.model == "a/b"
    assert [problem.level for problem in find(loaded, "cache")] == ["info"]


def test_values_of_variables_are_not_kept_in_the_cache(world):
    world.environ["DOCS_KEY"] = "swordfish-1"
    world.write_user('mcp: {d: {url: "https://example.test", headers: {X-Key: "{env:DOCS_KEY}"}}}\n')
    os.utime(world.places.config_file, (1_700_000_000, 1_700_000_000))
    assert world.load().settings.mcp["d"].headers == {"X-Key": "swordfish-1"}
    assert "swordfish" not in cache_file(world).read_text()
    world.environ["DOCS_KEY"] = "swordfish-2"
    assert world.load().settings.mcp["d"].headers == {"X-Key": "swordfish-2"}
