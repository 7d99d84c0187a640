"""Which model a run uses, which run a cancel means, and what becomes of messages that wait."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fakes.fake_tool import FakeTool

from harness_tui.config.loader import Flags
from harness_tui.core.events import Notice, QueueChanged, RunFinished, RunStarted, SessionChanged, ToolStarted
from harness_tui.core.intents import Cancel, SetSession, Submit
from harness_tui.core.seams import Check

WORK: dict[str, Any] = {"tools": [{"name": "work", "arguments": {}}]}


def write_script(folder: Path, name: str, answer: str) -> str:
    (folder / name).write_text(f"turns: [{{text: {answer}}}, {{text: {answer}}}]\n")
    return f"replay:{folder / name}"


def models(play: Any) -> list[str]:
    return [Path(event.model.removeprefix("replay:")).name for event in play.of(RunStarted)]


@pytest.mark.parametrize(
    ("flags", "used"),
    [
        (Flags(agent="review"), "review.yaml"),
        (Flags(agent="review", model="replay:play.yaml"), "play.yaml"),
        (Flags(agent="plain"), "default.yaml"),
        (Flags(), "default.yaml"),
    ],
)
async def test_the_model_is_that_of_the_flag_else_of_the_agent_else_the_configured_one(
    stage: Any, tmp_path: Path, flags: Flags, used: str
) -> None:
    agents = {
        "review": {"description": "d", "model": write_script(tmp_path, "review.yaml", "a")},
        "plain": {"description": "d", "model": "inherit"},
    }
    settings = {"agents": agents, "model": write_script(tmp_path, "default.yaml", "b")}
    play = await stage({"turns": [{"text": "c"}]}, settings=settings, flags=flags)
    assert (await play.say("go")).reason == "completed"
    assert models(play) == [used]
    (changed,) = [event for event in play.of(SessionChanged) if event.model]
    assert Path(changed.model.removeprefix("replay:")).name == used


async def test_an_agents_own_model_is_enough_to_run_with(stage: Any, tmp_path: Path) -> None:
    agents = {"review": {"description": "d", "model": write_script(tmp_path, "review.yaml", "a")}}
    play = await stage({}, settings={"agents": agents}, flags=Flags(agent="review"))
    assert await play.workspace.choose_model() == agents["review"]["model"]
    assert (await play.say("go")).reason == "completed"


async def test_the_model_follows_the_agent_until_a_person_chooses_one(stage: Any, tmp_path: Path) -> None:
    agents = {"review": {"description": "d", "model": write_script(tmp_path, "review.yaml", "a")}}
    default = write_script(tmp_path, "default.yaml", "b")
    play = await stage({"turns": [{"text": "c"}]}, settings={"agents": agents, "model": default}, flags=Flags())
    for change in (SetSession(), SetSession(agent="review"), SetSession(agent="build"), SetSession(agent="review")):
        await play.send(change)
        await play.say("go")
    assert models(play) == ["default.yaml", "review.yaml", "default.yaml", "review.yaml"]
    await play.send(SetSession(model=f"replay:{play.project / 'play.yaml'}"))
    await play.say("go")
    assert models(play)[-1] == "play.yaml"


async def test_a_role_is_told_by_the_name_of_its_model(stage: Any, tmp_path: Path) -> None:
    small = write_script(tmp_path, "small.yaml", "a")
    play = await stage({"turns": []}, settings={"small_model": small})
    assert (await play.next(SessionChanged)).model == "replay:play.yaml"
    await play.send(SetSession(model="small"))
    assert (await play.next(SessionChanged)).model == small


async def test_a_message_for_another_agent_uses_the_model_of_that_agent(stage: Any, tmp_path: Path) -> None:
    agents = {"review": {"description": "d", "model": write_script(tmp_path, "review.yaml", "a")}}
    play = await stage({"turns": [{"text": "c"}]}, settings={"agents": agents})
    await play.say("go", agent="review")
    await play.say("go")
    assert models(play) == ["review.yaml", "play.yaml"]


async def test_a_cancel_of_another_run_is_answered_by_a_notice(stage: Any) -> None:
    tool = FakeTool("work", checks=(Check("bash", "make"),))
    play = await stage({"turns": [WORK]}, tool, policy="person")
    await play.send(Submit("go"))
    await play.next(ToolStarted)
    run = play.seen[-1].run
    await play.send(Cancel(run="run_of_yesterday"))
    assert "run_of_yesterday" in (await play.next(Notice)).text
    assert play.live.busy
    await play.send(Cancel(run=run))
    assert (await play.next(RunFinished)).reason == "cancelled"


async def test_a_waiting_message_keeps_the_session_going_on_after_the_end_of_a_run(stage: Any) -> None:
    play = await stage({"turns": [WORK, {"text": "one"}, {"text": "two"}]}, FakeTool("work"), single_run=True)
    going_on: list[bool] = []
    play.live.stream.listen(
        lambda envelope: going_on.append(play.live.going_on) if isinstance(envelope.event, RunFinished) else None
    )
    await play.send(Submit("first"))
    await play.send(Submit("second", when="queue"))
    await play.next(RunFinished)
    await play.next(RunFinished)
    assert [event.message.text for event in play.of(RunStarted)] == ["first", "second"]
    assert going_on == [True, False]


async def test_a_message_that_cannot_be_sent_any_more_is_told(stage: Any) -> None:
    tool = FakeTool("work", checks=(Check("bash", "make"),))
    play = await stage({"turns": [WORK]}, tool, policy="person", single_run=True)
    await play.send(Submit("first"))
    await play.next(ToolStarted)
    await play.send(Submit("second", when="queue"))
    await play.next(QueueChanged)
    await play.send(Cancel())
    assert (await play.next(RunFinished)).reason == "cancelled"
    assert not play.live.going_on
    assert [event.text for event in play.of(Notice)] == ["the waiting message was not sent: second"]
