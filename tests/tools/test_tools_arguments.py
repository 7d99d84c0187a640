"""Arguments that do not fit are told in words that a model can act on."""

from __future__ import annotations

from typing import Any

import pytest

from harness_tui.core.errors import ToolError

CASES = [
    ("read", {}, "path is missing"),
    ("read", {"path": 3}, "path must be a string, got an integer"),
    ("read", {"path": "a", "offset": "1"}, "offset must be an integer, got a string"),
    ("read", {"path": "a", "offset": True}, "offset must be an integer, got a boolean"),
    ("read", {"path": "a", "offset": 0}, "offset must be at least 1, got 0"),
    ("read", {"file": "a"}, "unknown argument 'file'; known are path, offset, limit"),
    ("edit", {"path": "a", "old": "x"}, "new missing; give old and new, or edits"),
    ("edit", {"path": "a", "old": "x", "edits": [{"old": "a", "new": "b"}]}, "give either edits or old"),
    ("edit", {"path": "a", "edits": []}, "edits must not be empty"),
    ("edit", {"path": "a", "edits": [{"old": "a"}]}, r"new is missing in edits\[0\]"),
    (
        "edit",
        {"path": "a", "edits": [{"old": "a", "new": "b", "x": 1}]},
        r"unknown argument 'x' in edits\[0\]; known are old, new, replace_all",
    ),
    (
        "todo",
        {"items": [{"id": "1", "text": "t", "state": "open"}]},
        r"items\[0\].state must be one of pending, active",
    ),
    ("todo", {"items": {}}, "items must be an array, got an object"),
    ("bash", {"command": " "}, "the command is empty"),
    ("bash", {"command": "true", "timeout": 0}, "timeout must be over 0 and at most 3600 seconds, got 0"),
    ("bash", {"command": "true", "detach": True}, "unknown argument 'detach'"),
    ("bash", {"command": "true", "workdir": "nowhere"}, "workdir is no folder"),
    ("glob", {"pattern": "/etc/*"}, "the pattern is relative to path"),
    ("glob", {"pattern": "../*"}, "the pattern is relative to path"),
    ("grep", {"pattern": ""}, "the pattern is empty"),
    ("read", {"path": "a\0b"}, "NUL"),
    ("write", {"path": "a", "content": "\ud800"}, "half of a surrogate pair"),
]


@pytest.mark.parametrize(("tool", "arguments", "message"), CASES)
async def test_what_does_not_fit_is_named(bench: Any, tool: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ToolError, match=message):
        await bench.prepare(tool, **arguments)


async def test_null_is_the_same_as_absent(bench: Any) -> None:
    (bench.root / "a").write_text("x\n")
    assert "x" in (await bench.call("read", path="a", offset=None)).output


def test_the_tools_have_the_names_and_arguments_that_are_agreed(bench: Any) -> None:
    specs = {tool.spec.name: tool.spec for tool in bench.tools.tools()}
    assert {name: list(spec.parameters["properties"]) for name, spec in specs.items()} == {
        "read": ["path", "offset", "limit"],
        "write": ["path", "content"],
        "edit": ["path", "old", "new", "replace_all", "edits"],
        "list": ["path"],
        "glob": ["pattern", "path"],
        "grep": ["pattern", "path", "include"],
        "bash": ["command", "timeout", "workdir", "description", "background"],
        "bash_output": ["id"],
        "bash_kill": ["id"],
        "webfetch": ["url", "format"],
        "todo": ["items"],
        "question": ["questions"],
    }
    assert {name for name, spec in specs.items() if spec.read_only} == {"read", "list", "glob", "grep", "webfetch"}
    assert all(spec.parameters["additionalProperties"] is False for spec in specs.values())
