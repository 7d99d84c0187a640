"""The context ledger and its switches, instruction files further down, and the plan that is handed over."""

from __future__ import annotations

import asyncio

from harness_tui.core.events import ContextReported, Notice, RunFinished, RunStarted, SessionChanged, ToolFinished
from harness_tui.core.intents import HandOver, ReportContext, SetSession


async def report(show, **fields):
    await show.send(ReportContext(**fields))
    return await show.next(ContextReported)


def part(event, name):
    return next((part for part in event.parts if part.name == name), None)


async def test_the_ledger_tells_each_part_with_an_estimate_of_its_tokens(stage):
    show = await stage({"context": 50000, "turns": [{"text": "b" * 400, "usage": {"input": 900, "output": 20}}]})
    (show.project / "AGENTS.md").write_text("r" * 4000)
    await show.say("a" * 800)
    event = await report(show)
    assert 1000 <= part(event, "instructions:AGENTS.md").tokens <= 1030
    assert part(event, "turn").tokens == 4 + 200 + 4 + 100
    assert part(event, "system").tokens > 100
    assert part(event, "tools").items >= 10
    assert part(event, "skills").tokens > 10
    assert event.total == sum(item.tokens for item in event.parts)
    assert (event.used, event.limit) == (920, 50000)


async def test_a_part_that_is_switched_off_is_not_sent_and_comes_back(stage):
    show = await stage({"turns": [{"text": "1"}, {"text": "2"}, {"text": "3"}]})
    (show.project / "AGENTS.md").write_text("rule number one")
    before = await report(show)
    event = await report(show, part="instructions:AGENTS.md", on=False)
    assert part(event, "instructions:AGENTS.md").off
    assert event.total == before.total - part(before, "instructions:AGENTS.md").tokens
    await show.send(ReportContext("skills", on=False))
    await show.send(ReportContext("history", on=False))
    await show.say("one")
    await show.say("two")
    first, second = show.requests()
    assert "rule number one" not in first["system"]
    assert "<available_skills>" not in first["system"]
    assert "skill" not in {tool["name"] for tool in first["tools"]}
    assert [message["text"] for message in second["messages"]] == ["two"]
    await report(show, part="history", on=True)
    await report(show, part="instructions:AGENTS.md", on=True)
    await show.say("three")
    last = show.requests()[-1]
    assert [message["text"] for message in last["messages"]] == ["one", "1", "two", "2", "three"]
    assert "rule number one" in last["system"]


async def test_attached_files_are_left_out_with_a_note_of_their_names(stage):
    show = await stage({"turns": [{"text": "1"}, {"text": "2"}]})
    (show.project / "a.txt").write_text("inside\n")
    await show.say("see @a.txt")
    event = await report(show, part="files", on=False)
    assert part(event, "files").off
    await show.say("more")
    sent = show.requests()[-1]["messages"][0]
    assert sent["attachments"] == []
    assert "a.txt" in sent["text"].rpartition("\n")[2]


async def test_a_part_that_does_not_exist_is_answered_by_a_notice(stage):
    show = await stage({"turns": []})
    await show.send(ReportContext("nonsense", on=False))
    assert "no part 'nonsense'" in (await show.next(Notice)).text


async def test_instructions_further_down_come_with_the_first_file_that_is_read_there(stage):
    show = await stage(
        {
            "turns": [
                {"tools": [{"name": "read", "arguments": {"path": "web/a.txt"}}]},
                {"tools": [{"name": "read", "arguments": {"path": "web/b.txt"}}]},
                {"tools": [{"name": "read", "arguments": {"path": "c.txt"}}]},
                {"text": "end"},
            ]
        }
    )
    (show.project / "AGENTS.md").write_text("of the root")
    (show.project / "web").mkdir()
    (show.project / "web" / "AGENTS.md").write_text("of the web")
    for name in ("web/a.txt", "web/b.txt", "c.txt"):
        (show.project / name).write_text("x\n")
    await show.say("go")
    first, second, third = [event.output for event in show.of(ToolFinished)]
    assert first.endswith('<instructions path="web/AGENTS.md">\nof the web\n</instructions>')
    assert "<instructions" not in second
    assert "<instructions" not in third
    assert show.requests()[0]["system"].count("of the root") == 1
    await show.workspace.close()
    again = await stage(
        {"turns": [{"tools": [{"name": "read", "arguments": {"path": "web/a.txt"}}]}, {"text": "end"}]},
        session=show.live.id,
    )
    await again.say("again")
    assert "<instructions" not in again.of(ToolFinished)[0].output


async def test_instructions_further_down_that_changed_are_sent_again(stage):
    show = await stage(
        {"turns": [{"tools": [{"name": "read", "arguments": {"path": "web/a.txt"}}]}, {"text": "e"}] * 2}
    )
    (show.project / "web").mkdir()
    (show.project / "web" / "a.txt").write_text("x\n")
    (show.project / "web" / "AGENTS.md").write_text("old")
    await show.say("go")
    (show.project / "web" / "AGENTS.md").write_text("new")
    await show.say("go")
    assert show.of(ToolFinished)[-1].output.endswith('<instructions path="web/AGENTS.md">\nnew\n</instructions>')


async def test_configured_instructions_are_read_by_path_and_pattern_each_file_once(stage):
    show = await stage({"turns": []})
    (show.project / "docs").mkdir()
    (show.project / "AGENTS.md").write_text("the root's")
    for name in ("b", "a"):
        (show.project / "docs" / f"{name}.md").write_text(f"rules {name}")
    root = str(show.project)
    settings = {"instructions": [f"{root}/docs/*.md", f"{root}/docs/a.md", f"{root}/AGENTS.md", f"{root}/gone.md"]}
    show = await stage({"turns": [{"text": "a"}]}, settings=settings)
    await show.say("go")
    system = show.requests()[0]["system"]
    assert system.count("rules a") == system.count("rules b") == system.count("the root's") == 1
    assert system.index("the root's") < system.index("rules a") < system.index("rules b")
    (notice,) = [notice for notice in show.of(Notice) if notice.source == "instructions"]
    assert "gone.md" in notice.text


async def test_the_plan_is_kept_and_handed_over_to_build(stage):
    show = await stage({"turns": [{"text": "1. paint\n2. dry"}, {"text": "done"}]})
    await show.send(SetSession(agent="plan"))
    await show.say("plan it")
    (started,) = show.of(RunStarted)
    assert (started.agent, started.mode) == ("plan", "plan")
    kept = show.workspace.places.session_dir(show.live.id) / "plan.md"
    assert kept.read_text() == "1. paint\n2. dry\n"
    assert kept.stat().st_mode & 0o777 == 0o600
    await show.send(HandOver())
    await show.next(RunFinished)
    started = show.of(RunStarted)[-1]
    assert (started.agent, started.mode) == ("build", "ask")
    assert "<plan>\n1. paint\n2. dry\n</plan>" in started.message.text
    changed = show.of(SessionChanged)
    assert ("build", "ask") in [(event.agent, event.mode) for event in changed]


async def test_without_a_plan_nothing_is_handed_over(stage):
    show = await stage({"turns": []})
    await show.send(HandOver())
    assert "no plan" in (await show.next(Notice)).text
    await asyncio.sleep(0)
    assert not show.live.busy


async def test_a_mode_does_not_survive_into_a_new_session_unless_it_is_configured(stage):
    show = await stage({"turns": []})
    await show.send(SetSession(mode="accept-edits"))
    fresh = await show.workspace.new_session()
    assert fresh.choice.mode == "ask"
    await show.workspace.close()
    again = await stage({"turns": []}, session=show.live.id)
    assert again.live.choice.mode == "ask"
    await again.workspace.close()
    configured = await stage({"turns": []}, settings={"mode": "plan"})
    assert configured.live.choice.mode == "plan"
