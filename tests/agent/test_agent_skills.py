"""Skills on the agent's side: what it is told of and may load, what stays through a summary, what loading allows."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from fakes.fake_tool import FakeTool

from harness_tui.agent.live import LiveSession
from harness_tui.core.events import ContextCompacted, RunFinished, ToolFinished
from harness_tui.core.intents import Cancel, Compact, SetSession, Submit
from harness_tui.core.seams import ToolContext, ToolResult

KEEP_NONE = {"compaction": {"keep": 0}}


def load(name: str) -> dict[str, Any]:
    return {"tools": [{"name": "skill", "arguments": {"name": name}}]}


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tools": [{"name": tool, "arguments": arguments}]}


@pytest.fixture
def skills(tmp_path: Path) -> Any:
    """Write a skill of the person's own: ``skills(name, body, **front)`` returns its file."""

    def write(name: str, body: str = "", **front: str) -> Path:
        path = tmp_path / "home" / ".config" / "harness" / "skills" / name / "SKILL.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        keys = {"name": name, "description": f"About {name}."} | {key.replace("_", "-"): v for key, v in front.items()}
        head = "".join(f"{key}: {value}\n" for key, value in keys.items())
        path.write_text(f"---\n{head}---\n{body or f'Body of {name}.'}\n")
        return path

    return write


def own(request: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the names of the catalogue and of the enum in a request, without the built-in skills."""
    listed = [part.split("</name>")[0] for part in request["system"].split("<name>")[1:]]
    (tool,) = [tool for tool in request["tools"] if tool["name"] == "skill"] or [None]
    names = tool["parameters"]["properties"]["name"]["enum"] if tool else []
    return [name for name in listed if name.startswith("t-")], [name for name in names if name.startswith("t-")]


@pytest.mark.rule("3.9.8", "3.7.16")
async def test_catalogue_and_tool_name_what_the_agent_may_load_also_after_a_change(stage: Any, skills: Any) -> None:
    for name in ("t-review", "t-trim", "t-secret", "t-manual"):
        skills(name, **({"disable_model_invocation": "yes"} if name == "t-manual" else {}))
    rules = ({"permission": "skill", "pattern": "t-secret", "action": "deny"},)
    agents = {
        "narrow": {"tools": {"skill": ["t-r*"]}, "mode": "primary"},
        "none": {"tools": {"skill": False}},
        "listed": {"tools": {"*": False, "skill": ["t-trim"]}},
        "strict": {"permission": [{"permission": "skill", "pattern": "*", "action": "deny"}]},
    }
    show = await stage({"turns": [{"text": "ok"}] * 9}, rules=rules, settings={"agents": agents})
    await show.say("one")
    assert own(show.requests()[-1]) == (["t-review", "t-trim"],) * 2
    for agent, names in [("narrow", ["t-review"]), ("none", []), ("listed", ["t-trim"]), ("strict", [])]:
        await show.send(SetSession(agent=agent))
        await show.say("go")
        assert own(show.requests()[-1]) == (names,) * 2, agent
        assert ("<available_skills>" in show.requests()[-1]["system"]) is bool(names)
    await show.send(SetSession(agent="build"))
    skills("t-new")
    config = show.project.parent / ".config/harness/config.yaml"
    config.write_text(json.dumps({"permission": [{"permission": "skill", "pattern": "t-trim", "action": "deny"}]}))
    await show.workspace.reload()
    await show.say("two")
    assert own(show.requests()[-1]) == (["t-new", "t-review", "t-secret"],) * 2


@pytest.mark.rule("3.9.15")
async def test_a_denied_skill_is_refused_to_the_model_and_to_who_types_it(stage: Any, skills: Any) -> None:
    skills("t-secret")
    skills("t-open")
    rules = ({"permission": "skill", "pattern": "t-secret", "action": "deny"},)
    show = await stage({"turns": [load("t-secret"), {"text": "ok"}]}, rules=rules)
    await show.say("go")
    (finished,) = show.of(ToolFinished)
    assert finished.is_error
    assert "t-open" in finished.output
    assert "Body of" not in finished.output
    end = await show.say("/t-secret")
    assert (end.reason, end.error.kind) == ("refused", "skill-denied")
    end = await show.say('/call skill {"name": "t-secret"}')
    assert "Body of" not in show.of(ToolFinished)[-1].output
    assert len(show.requests()) == 2


@pytest.mark.rule("3.9.10", "3.9.11", "3.9.12")
async def test_loaded_skills_outlive_summaries_whole_newest_first_and_the_catalogue_stays_one(
    stage: Any, skills: Any
) -> None:
    body = "Line with </skill> in it.\n</skill>\n" + "word " * 900  # more than a summary keeps of a result
    skills("t-long", body)
    skills("t-typed", "Typed with $1.")
    skills("t-huge", "huge " * 9_900)
    turns = [load("t-huge"), load("t-long"), {"text": "a"}, {"text": "b"}, {"text": "c"}]
    after = [load("t-long"), load("t-typed"), load("t-huge"), {"text": "d"}]
    show = await stage({"internal": ["sum one", "sum two"], "turns": [*turns, *after]}, settings=KEEP_NONE)
    await show.say("start")
    await show.say("/t-typed care")
    await show.send(Compact())
    await show.next(RunFinished)
    await show.say("between")
    await show.send(Compact())  # made from what the first has kept
    await show.next(RunFinished)
    kept = show.of(ContextCompacted)
    assert [name for name in kept[0].kept if name.startswith("skill")] == ["skill t-typed", "skill t-long"]
    assert [name for name in kept[0].omitted if name.startswith("skill")] == ["skill t-huge"]
    assert [name for name in kept[1].kept if name.startswith("skill")] == ["skill t-typed", "skill t-long"]

    await show.say("go on")
    request = show.requests()[-4]
    assert request["system"].count("<available_skills>") == 1
    first = request["messages"][0]["text"]
    assert first.count(body.strip()) == 1
    assert first.index("Typed with care.") < first.index("Line with </skill> in it.")
    assert "huge huge" not in first
    results = [finished.output for finished in show.of(ToolFinished)[2:]]
    assert "loaded already" in results[0]
    assert "Typed with $1." in results[1]  # another text than the one that was typed
    assert "huge huge" in results[2]

    again = await stage({"turns": [load("t-long"), {"text": "e"}]}, session=await closed(show))
    await again.say("after a resume")
    request = again.requests()[-2]
    assert request["system"].count("<available_skills>") == 1
    assert body.strip() in request["messages"][0]["text"]
    assert "loaded already" in again.of(ToolFinished)[-1].output


async def closed(show: Any) -> str:
    """Close the session of a stage and return its id."""
    live: LiveSession = show.live
    await show.workspace.close_session(live)
    return live.id


@pytest.mark.rule("3.9.11")
async def test_the_model_is_told_which_skills_a_summary_left_out(stage: Any, skills: Any) -> None:
    skills("t-huge", "huge " * 9_900)
    show = await stage({"turns": [load("t-huge"), {"text": "a"}, {"text": "b"}]}, settings=KEEP_NONE)
    await show.say("start")
    await show.send(Compact())
    await show.next(RunFinished)
    await show.say("next")
    assert "to be loaded again: t-huge" in show.requests()[-1]["messages"][0]["text"]


@pytest.mark.rule("3.9.9", "3.7.16")
async def test_a_live_edit_counts_at_once_and_the_same_text_is_given_once(stage: Any, skills: Any) -> None:
    path = skills("t-one", "Version one.")
    show = await stage(
        {
            "turns": [
                load("t-one"),
                load("t-one"),
                {"text": "a"},
                load("t-one"),
                {"text": "b"},
                load("t-two"),
                {"text": "c"},
            ]
        }
    )
    await show.say("go")
    skills("t-one", "Version two.")
    await show.say("again")
    outputs = [finished.output for finished in show.of(ToolFinished)]
    assert "Version one." in outputs[0]
    assert "loaded already" in outputs[1]
    assert "Version two." in outputs[2]
    skills("t-two")
    await show.say('/call skill {"name": "t-two"}')  # given to a person, not to the model
    assert "Body of t-two." in show.of(ToolFinished)[-1].output
    await show.say("and that one")
    assert "Body of t-two." in show.of(ToolFinished)[-1].output
    path.unlink()
    assert (await show.say("/t-one")).error.kind == "unknown-command"


@pytest.mark.rule("3.9.9")
async def test_what_a_cancel_took_away_is_given_again(stage: Any, skills: Any) -> None:
    skills("t-one")
    began = asyncio.Event()

    async def hang(context: ToolContext) -> ToolResult:
        began.set()
        await asyncio.sleep(60)
        return ToolResult("never")

    slow = FakeTool("slow", read_only=True, act=hang)
    both = {"tools": [{"name": "slow", "arguments": {}}, {"name": "skill", "arguments": {"name": "t-one"}}]}
    show = await stage({"turns": [both, load("t-one"), {"text": "ok"}]}, slow)
    await show.live.send(Submit("go"))
    await asyncio.wait_for(began.wait(), 20)
    await show.live.send(Cancel())
    await show.next(RunFinished)
    await show.say("again")
    results = [message["text"] for message in show.requests()[-1]["messages"] if message["role"] == "tool"]
    assert sum("Body of t-one." in text for text in results) == 1


# --- what loading allows -------------------------------------------------------------------------


@pytest.mark.rule("3.3.12")
async def test_allowed_tools_hold_for_that_run_in_a_trusted_folder_and_never_over_a_deny(
    stage: Any, skills: Any, tmp_path: Path
) -> None:
    project = tmp_path / "home" / "project"
    skills("t-make", "Make.", allowed_tools="Bash(echo:*), Bash(rm:*)")
    steps = [call("bash", command="echo before"), load("t-make"), call("bash", command="echo in")]
    turns = [*steps, call("bash", command="rm -f x"), {"text": "a"}, call("bash", command="echo after"), {"text": "b"}]
    rules = ({"permission": "bash", "pattern": "rm *", "action": "deny"},)

    async def outcomes() -> list[bool]:
        (project / ".harness" / "commands").mkdir(parents=True, exist_ok=True)
        (project / ".harness" / "commands" / "something.md").write_text("to be trusted")
        show = await stage({"turns": turns}, rules=rules)
        await show.say("go")
        await show.say("once more")
        bash = [finished for finished in show.of(ToolFinished) if finished.tool == "bash"]
        return [finished.is_error for finished in bash]

    assert await outcomes() == [True] * 4
    show = await stage({"turns": []})
    show.workspace.trust.grant(show.workspace.project)
    assert await outcomes() == [True, False, True, True]


async def test_a_skills_folder_is_read_without_asking_and_nothing_else_is(stage: Any, skills: Any) -> None:
    folder = skills("t-one").parent
    (folder / "data").mkdir()
    (folder / "data" / "table.txt").write_text("the needle\n")
    outside = folder.parents[3] / "private"
    outside.mkdir()
    (outside / "key.txt").write_text("private needle\n")
    (folder / "out").symlink_to(outside)
    skills("t-two", "See @${CLAUDE_SKILL_DIR}/more.txt and @${CLAUDE_SKILL_DIR}/../t-hidden/more.txt")
    (folder.parent / "t-two" / "more.txt").write_text("attached by itself")
    hidden = skills("t-hidden").parent
    (hidden / "more.txt").write_text("hidden needle\n")
    table = str(folder / "data" / "table.txt")
    calls = [
        ("read", {"path": table}, "the needle"),
        ("grep", {"pattern": "needle", "path": str(folder)}, "table.txt"),
        ("glob", {"pattern": "**/*.txt", "path": str(folder)}, "table.txt"),
        ("list", {"path": str(folder)}, "data/"),
        ("read", {"path": str(folder / "out" / "key.txt")}, None),
        ("grep", {"pattern": "needle", "path": str(folder / "out")}, None),
        ("read", {"path": str(folder / ".." / ".." / "config.yaml")}, None),
        ("edit", {"path": table, "old": "the", "new": "a"}, None),
        ("write", {"path": str(folder / "new.txt"), "content": "x"}, None),
        ("bash", {"command": f"cat {table}"}, None),
        ("read", {"path": str(hidden / "more.txt")}, None),
    ]
    rules = (
        {"permission": "skill", "pattern": "t-hidden", "action": "deny"},
        {"permission": "bash", "pattern": "cat *", "action": "allow"},
        {"permission": "edit", "pattern": "*", "action": "allow"},
    )
    script = {"turns": [*(call(tool, **arguments) for tool, arguments, _ in calls), {"text": "done"}]}
    show = await stage(script, rules=rules)
    await show.say("go")
    for (tool, arguments, words), finished in zip(calls, show.of(ToolFinished), strict=True):
        assert finished.is_error is (words is None), (tool, arguments, finished.output)
        assert words is None or words in finished.output
        assert "private needle" not in finished.output
    assert (folder / "data" / "table.txt").read_text() == "the needle\n"
    await show.say("/t-two")
    attached = show.requests()[-1]["messages"][-1]["attachments"]
    assert [Path(item["path"]).parent.name for item in attached] == ["t-two"]
