"""What the agent does beyond answering, in the terminal: subagents, summaries, the context ledger, agents, plans."""

from __future__ import annotations

from typing import Any

from fakes.fake_backend import FakeBackend
from fakes.tui_screen import screen_text, until

from harness_tui.core import events as ev
from harness_tui.core import intents as it
from harness_tui.core.event_parts import ContextPart, Parent
from harness_tui.core.messages import AssistantMessage, UserMessage
from harness_tui.core.values import SourceRef
from harness_tui.tui.transcript.blocks import SummaryBlock, ToolBlock, UserBlock

START = ev.RunStarted("build", "replay/demo", "ask", UserMessage("hello"))
BUILTIN = SourceRef("builtin")
CHILD = "ses_child"


def call(name: str, tool: str, title: str) -> ev.ToolStarted:
    return ev.ToolStarted(name, tool, title, {}, BUILTIN)


def test_a_subagent_is_one_block_with_its_steps_and_its_answer(session: Any) -> None:
    session.play(START, call("c9", "task", "explore: look for x"))
    begin = ev.SessionStarted("/srv/project", parent=Parent("ses_1", "run_1", "c9"))
    session.play(begin, call("d1", "grep", "Grep x"), call("d2", "read", "Read \x1b[2Ja.py"), session=CHILD)
    (block,) = [block for block in session.presenter.transcript.blocks if isinstance(block, ToolBlock)]
    assert block.output == "… Grep x\n… Read a.py"
    session.play(
        ev.ToolFinished("d1", "grep", "a.py:1: x", False, {}),
        ev.ToolFinished("d2", "read", "no", True, {}),
        ev.UsageUpdated(1, 1, 0, 0, 0, 2, cost=0.5),
        session=CHILD,
    )
    assert block.output == "✓ Grep x\n✗ Read a.py"
    assert session.presenter.state.cost == 0.5
    answer = '<task session="ses_child" agent="explore" state="completed">\nx is in a.py\n</task>'
    session.play(ev.ToolFinished("c9", "task", answer, False, {"session": CHILD}))
    assert block.output == "✓ Grep x\n✗ Read a.py\n\nx is in a.py"
    assert block.state == "done"
    assert block.folds


def test_a_summary_tells_what_was_kept_and_left_out_and_its_message_is_not_shown_twice(session: Any) -> None:
    session.play(
        ev.ContextCompacted(18000, 900, "Goal: x", ("2 latest messages",), ("9 messages",)),
        ev.MessageAdded(UserMessage("The conversation so far ..."), "compaction"),
    )
    (block,) = session.presenter.transcript.blocks
    assert isinstance(block, SummaryBlock)
    assert block.head == "History summed up: 18,000 to about 900 tokens"
    assert block.text == "Kept: 2 latest messages\n\nLeft out: 9 messages\n\nGoal: x"
    assert session.presenter.state.context_used == 900


def test_why_a_hook_held_the_end_back_is_shown(session: Any) -> None:
    session.play(ev.MessageAdded(UserMessage("tests fail"), "hook"))
    (block,) = session.presenter.transcript.blocks
    assert isinstance(block, UserBlock)
    assert (block.typed, block.origin) == ("tests fail", "hook")


async def test_the_context_is_listed_largest_first_and_a_part_is_switched(open_app: Any) -> None:
    off: set[str] = set()

    def answer(session: Any, intent: it.Intent) -> None:
        if isinstance(intent, it.ReportContext):
            if intent.part is not None:
                (off.discard if intent.on else off.add)(intent.part)
            parts = (
                ContextPart("system", "system prompt", 900),
                ContextPart("mcp:time", "time", 4200, 2, off="mcp:time" in off),
            )
            session.publish(ev.ContextReported(parts, 900 if off else 5100, None, 20000))

    backend = FakeBackend(on_send=answer)
    async with open_app(backend) as (app, pilot, _):
        app.prompt.set_text("/context")
        await pilot.press("enter")
        await until(lambda: "about 5,100 of 20,000" in screen_text(app))
        lines = screen_text(app).splitlines()
        places = [next(i for i, line in enumerate(lines) if name in line) for name in ("mcp time", "system prompt")]
        assert places == sorted(places)
        await pilot.press("enter")
        await until(lambda: "off, 4,200 tokens saved" in screen_text(app))
        assert any("Context 4%" in line for line in screen_text(app).splitlines()[:2])
        backend.session.publish(ev.StepFinished(1, AssistantMessage("x")))
        await until(lambda: backend.session.sent[-1] == it.ReportContext())  # another request: counted anew
        await pilot.press("enter")
        await until(lambda: "about 5,100 of 20,000" in screen_text(app))
        await pilot.press("f2")
        await until(lambda: "Next request" not in screen_text(app))
        backend.session.publish(ev.StepFinished(2, AssistantMessage("y")))
        await pilot.pause()
    assert [intent for intent in backend.session.sent if isinstance(intent, it.ReportContext)] == [
        it.ReportContext(),
        it.ReportContext("mcp:time", on=False),
        it.ReportContext(),
        it.ReportContext("mcp:time", on=True),
    ]


async def test_one_subagent_is_read_and_cancelled_while_the_other_goes_on(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        session = backend.session
        session.publish(START)
        for name in ("a", "b"):
            session.publish(call(f"c_{name}", "task", f"explore: find {name}"))
            above = Parent(session.id, "run_1", f"c_{name}")
            begun = ev.RunStarted("explore", "replay/demo", "ask", UserMessage("x"), parent=above)
            session.publish_foreign(f"ses_{name}", begun, run=f"run_{name}")
            session.publish_foreign(f"ses_{name}", call("c1", "grep", f"Grep {name}"), run=f"run_{name}")
        app.prompt.set_text("/ps")
        await pilot.press("enter")
        await until(lambda: "● explore: find b" in screen_text(app))
        assert "Grep a" in screen_text(app)
        await pilot.press("l")
        await until(lambda: "in ses_a" in screen_text(app))
        await pilot.press("escape", "s")
        await until(lambda: "s again cancels explore: find a" in screen_text(app))
        await pilot.press("s")
        await until(lambda: it.Cancel("run_a") in session.sent)
        await until(lambda: "cancelling" in screen_text(app))
        session.publish_foreign("ses_a", ev.RunFinished("cancelled"), run="run_a")
        await until(lambda: "● explore: find a" not in screen_text(app))
        assert "● explore: find b" in screen_text(app)
        assert [intent for intent in session.sent if isinstance(intent, it.Cancel)] == [it.Cancel("run_a")]
        session.publish(ev.RunFinished("completed"))
        await until(lambda: "● explore: find b" not in screen_text(app))


def test_a_task_that_goes_on_shows_its_steps_again(session: Any) -> None:
    session.play(START, call("c9", "task", "explore: go on"))
    above = Parent("ses_1", "run_1", "c9")
    begun = ev.RunStarted("explore", "replay/demo", "ask", UserMessage("x"), parent=above)
    session.play(ev.SessionChanged(agent="explore"), begun, call("d1", "grep", "Grep x"), session=CHILD, run="run_2")
    (block,) = [block for block in session.presenter.transcript.blocks if isinstance(block, ToolBlock)]
    assert block.output == "… Grep x"
    assert [task.title for task in session.presenter.panels.tasks.values()] == ["explore: go on"]


async def test_keys_and_commands_reach_the_agent(open_app: Any) -> None:
    async with open_app() as (app, pilot, backend):
        app.prompt.set_text("/compact the colours")
        await pilot.press("enter")
        await pilot.press("f5")
        await until(lambda: it.HandOver() in backend.session.sent)
        assert it.Compact("the colours") in backend.session.sent
        await pilot.press("ctrl+t")
        await until(lambda: any(isinstance(intent, it.SetSession) for intent in backend.session.sent))
        agents = [agent.name for agent in await backend.agents()]
        wanted = agents[(agents.index("build") + 1) % len(agents)] if "build" in agents else agents[0]
        assert it.SetSession(agent=wanted) in backend.session.sent
