"""``mcp resources`` and ``mcp prompts``: what a real server offers, read by its address, within the rules."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness_tui.cli.app import run_verb

Run = Callable[..., tuple[int, str, str]]
SHELF = Path(__file__).parents[1] / "mcp" / "servers" / "shelf.py"


@pytest.fixture
def harness(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    for name in [name for name in os.environ if name.startswith(("XDG_", "HARNESS_"))]:
        monkeypatch.delenv(name)
    home = tmp_path.resolve() / "home"
    (home / "project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home / "project")
    config = home / ".config" / "harness" / "config.yaml"
    config.parent.mkdir(parents=True)
    servers = {"shelf": {"command": [sys.executable, str(SHELF)]}, "gone": {"command": ["no-such-program"]}}
    rules = [{"permission": "mcp", "pattern": "gone_read_resource", "action": "deny"}]
    config.write_text(json.dumps({"mcp": servers, "permission": rules}))

    def run(*arguments: str) -> tuple[int, str, str]:
        code = run_verb(["mcp", *arguments])
        output = capsys.readouterr()
        return code, output.out, output.err

    return run


def test_resources_are_listed_and_read_by_their_address(harness: Run, tmp_path: Path) -> None:
    code, out, err = harness("resources", "--json")
    rows = {row["uri"]: row for row in json.loads(out)}
    assert code == 0
    assert list(rows) == [
        "note://big",
        "note://blob",
        "note://pixel",
        "note://today",
        "note://{author}/{title}",
    ]
    assert rows["note://{author}/{title}"]["template"]
    assert rows["note://today"]["description"] == "What is to be done."
    assert "harness: MCP server gone: " in err
    assert harness("resources", "shelf", "note://ada/engines")[1] == "engines by ada\n"
    code, out, err = harness("resources", "shelf", "note://blob")
    assert (code, out) == (1, "")
    assert "shelf:note://blob: not attached, it is binary" in err
    pixel = tmp_path / "pixel.png"
    assert harness("resources", "shelf", "note://pixel", "--output", str(pixel))[0] == 0
    assert pixel.read_bytes().startswith(b"\x89PNG")


def test_prompts_are_listed_with_their_commands(harness: Run) -> None:
    code, out, _ = harness("prompts", "shelf", "--json")
    (row,) = json.loads(out)
    assert code == 0
    assert (row["command"], row["description"]) == ("/mcp:shelf:review", "Review a note.")
    assert [(item["name"], item["required"]) for item in row["arguments"]] == [("author", True), ("title", False)]


def test_what_is_denied_unknown_or_without_an_address_says_so(harness: Run) -> None:
    code, _, err = harness("resources", "gone", "x:1")
    assert (code, "gone_read_resource" in err) == (3, True)
    code, _, err = harness("resources", "shelv")
    assert (code, "servers: gone, shelf" in err) == (2, True)
    assert harness("resources", "shelf", "--output", "x")[0] == 2
