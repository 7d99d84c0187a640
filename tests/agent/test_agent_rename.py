"""A rename by a language server through the whole agent: asked about once, recorded, taken back; over the real ty."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness_tui.core.event_parts import DiffPreview
from harness_tui.core.events import (
    FileChanged,
    PermissionRequested,
    PermissionResolved,
    RunFinished,
    ToolFinished,
    UndoApplied,
)
from harness_tui.core.intents import CallTool, SetSession, Undo

pytestmark = pytest.mark.real

SHOP = b"def total() -> int:\r\n    return 1\r\n"
USE = "\ufefffrom shop import total\n\nprint('é', total())\n".encode()
RENAME = {"name": "rename", "arguments": {"symbol": "total", "to": "amount", "path": "shop.py"}}
ALLOW = ({"permission": "edit", "pattern": "*", "action": "allow"},)
ONLY_TY = {"lsp": {"servers": {"ruff": {"disabled": True}, "basedpyright": {"disabled": True}}}}


def put(project: Path) -> None:
    (project / "shop.py").write_bytes(SHOP)
    (project / "use.py").write_bytes(USE)
    (project / "use.py").chmod(0o600)


def texts(project: Path) -> tuple[bytes, bytes]:
    return (project / "shop.py").read_bytes(), (project / "use.py").read_bytes()


RENAMED = (SHOP.replace(b"total", b"amount"), USE.replace(b"total", b"amount"))


async def test_it_is_asked_about_once_with_both_files_and_an_undo_takes_both_back(stage: Any) -> None:
    script = {
        "turns": [{"tools": [RENAME]}, {"text": "done"}],
        "answers": [{"kind": "permission", "match": "shop.py", "action": "allow"}],
    }
    at = await stage(script, settings=ONLY_TY)
    put(at.project)
    await at.say("rename it")
    (asked,) = at.of(PermissionRequested)
    assert (asked.permission, asked.patterns) == ("edit", ("shop.py", "use.py"))
    assert isinstance(asked.preview, DiffPreview)
    assert "-def total() -> int:\n+def amount() -> int:" in asked.preview.text
    assert "-print('é', total())\n+print('é', amount())" in asked.preview.text
    offered = [rule.pattern for offer in asked.offers for rule in offer.rules]
    assert all(pattern != "*" for pattern in offered)
    (finished,) = at.of(ToolFinished)
    assert (finished.is_error, finished.output) == (
        False,
        "Changed 2 files (+3 -3)\nshop.py (+1 -1)\nuse.py (+2 -2)",
    )
    assert texts(at.project) == RENAMED
    assert [event.path for event in at.of(FileChanged)] == ["shop.py", "use.py"]

    await at.send(Undo(None))
    undone = await at.next(UndoApplied)
    assert (sorted(undone.paths), undone.conflicts) == (["shop.py", "use.py"], ())
    assert texts(at.project) == (SHOP, USE)
    assert (at.project / "use.py").stat().st_mode & 0o777 == 0o600


async def test_one_protected_or_denied_path_is_enough_to_keep_all_as_they_are(stage: Any) -> None:
    rules = (*ALLOW, {"permission": "edit", "pattern": "use.py", "action": "deny"})
    at = await stage({"turns": [{"tools": [RENAME]}, {"text": "done"}]}, rules=rules, settings=ONLY_TY)
    put(at.project)
    await at.say("rename it")
    (resolved,) = at.of(PermissionResolved)
    assert (resolved.decision, resolved.scope) == ("deny", "rule")
    assert texts(at.project) == (SHOP, USE)


async def test_plan_mode_refuses_it_also_where_a_rule_allows_edits(stage: Any) -> None:
    at = await stage({"turns": []}, rules=ALLOW, settings=ONLY_TY)
    put(at.project)
    await at.send(SetSession(mode="plan"))
    await at.send(CallTool("rename", RENAME["arguments"]))
    finished = await at.next(ToolFinished)
    assert finished.is_error
    assert "Refused by the rule" in finished.output
    await at.next(RunFinished)
    await at.send(SetSession(mode="accept-edits"))
    await at.send(CallTool("rename", RENAME["arguments"]))
    assert not (await at.next(ToolFinished)).is_error
    assert texts(at.project) == RENAMED


@pytest.mark.parametrize(
    ("agent", "there"),
    [
        ({}, True),
        ({"tools": {"edit": False}}, False),
        ({"tools": {"*": False, "read": True}}, False),
        ({"tools": {"edit": False, "rename": True, "quick_fix": True}}, True),
        ({"tools": {"rename": False, "quick_*": False}}, False),
    ],
)
async def test_an_agent_that_may_not_edit_has_neither_tool(stage: Any, agent: dict[str, Any], there: bool) -> None:
    settings = ONLY_TY | {"agent": "mine", "agents": {"mine": {"description": "Mine", "mode": "primary"} | agent}}
    at = await stage({"turns": [{"text": "done"}]}, settings=settings)
    await at.say("hello")
    (request,) = at.requests()
    names = {tool["name"] for tool in request["tools"]}
    assert ({"rename", "quick_fix"} <= names, "rename" in names) == (there, there)


async def test_a_subagent_that_looks_things_up_has_neither_tool(stage: Any) -> None:
    task = {"name": "task", "arguments": {"agent": "explore", "prompt": "look", "description": "Look"}}
    script = {
        "turns": [{"tools": [task]}, {"text": "done"}],
        "agents": {"explore": [{"tools": [RENAME]}, {"text": "found it"}]},
    }
    at = await stage(script, rules=ALLOW, settings=ONLY_TY)
    put(at.project)
    await at.say("ask it")
    below = [request for request in at.requests() if request["agent"] == "explore"]
    assert below
    assert not {"rename", "quick_fix"} & {tool["name"] for tool in below[0]["tools"]}
    assert texts(at.project) == (SHOP, USE)
