"""The tool ``task``: subagents in sessions of their own, never wider than the session that they work for."""

from __future__ import annotations

import asyncio

import pytest

from harness_tui.core.events import (
    PermissionRequested,
    PermissionResolved,
    RunFinished,
    RunStarted,
    SessionStarted,
    ToolFinished,
    ToolStarted,
)
from harness_tui.core.intents import Answer, Cancel, SetSession, Submit

WORKER = {"worker": {"description": "Does things", "mode": "subagent"}}


def task(agent, prompt="do it", **more):
    return {"name": "task", "arguments": {"agent": agent, "prompt": prompt, **more}}


def foreign(show):
    return [envelope for envelope in show.seen if envelope.session != show.live.id]


async def results(show):
    return [event.output for event in show.of(ToolFinished) if event.tool == "task"]


async def test_a_subagent_answers_in_a_session_below_with_its_own_numbers(stage):
    show = await stage(
        {
            "turns": [{"tools": [task("explore", "where is x?", description="look for x")]}, {"text": "thanks"}],
            "agents": {"explore": [{"tools": [{"name": "list"}]}, {"text": "x is in a.py"}]},
        }
    )
    await show.live.send(Submit("go"))
    while (await show.next(RunFinished)) and show.seen[-1].session != show.live.id:
        pass
    below = foreign(show)
    assert [envelope.seq for envelope in below] == list(range(1, len(below) + 1))
    started = below[0].event
    assert isinstance(started, SessionStarted)
    assert (started.parent.session, started.parent.call, started.title) == (show.live.id, "c1", "look for x")
    run = next(envelope for envelope in below if isinstance(envelope.event, RunStarted)).event
    assert (run.agent, run.message.text) == ("explore", "where is x?")
    (output,) = await results(show)
    assert output == f'<task session="{below[0].session}" agent="explore" state="completed">\nx is in a.py\n</task>'
    stored = await asyncio.to_thread(show.workspace.store.info, below[0].session)
    assert stored.parent == started.parent
    recorded = await asyncio.to_thread(lambda: [e.seq for e in show.workspace.store.events(below[0].session)])
    assert recorded[-1] == below[-1].seq
    assert not stored.live


async def test_a_subagent_knows_nothing_of_the_conversation_and_has_no_task_itself(stage):
    show = await stage({"turns": [{"tools": [task("explore")]}, {"text": "b"}], "agents": {"explore": [{"text": "a"}]}})
    await show.say("secret plans")
    await show.next(RunFinished)
    below = show.requests()[1]
    assert [message["text"] for message in below["messages"]] == ["do it"]
    names = {tool["name"] for tool in below["tools"]}
    assert {"read", "grep"} <= names
    assert not names & {"task", "edit", "write", "bash", "bash_kill"}


async def test_the_tool_names_the_agents_that_may_be_started(stage):
    show = await stage({"turns": [{"text": "a"}]}, settings={"agents": WORKER | {"lead": {"mode": "primary"}}})
    await show.say("go")
    (spec,) = [tool for tool in show.requests()[0]["tools"] if tool["name"] == "task"]
    assert spec["parameters"]["properties"]["agent"]["enum"] == ["explore", "worker"]
    assert "- worker: Does things" in spec["description"]


async def test_an_agent_that_a_rule_denies_is_not_offered_and_not_started(stage):
    show = await stage(
        {"turns": [{"tools": [task("worker")]}, {"text": "b"}]},
        settings={"agents": WORKER},
        rules=({"permission": "task", "pattern": "worker", "action": "deny"},),
    )
    await show.say("go")
    (spec,) = [tool for tool in show.requests()[0]["tools"] if tool["name"] == "task"]
    assert spec["parameters"]["properties"]["agent"]["enum"] == ["explore"]
    assert "no agent 'worker' can be started" in (await results(show))[0]
    assert not foreign(show)


async def test_in_plan_mode_only_explore_is_started(stage):
    show = await stage({"turns": [{"text": "a"}]}, settings={"agents": WORKER})
    await show.send(SetSession(mode="plan"))
    await show.say("go")
    (spec,) = [tool for tool in show.requests()[0]["tools"] if tool["name"] == "task"]
    assert spec["parameters"]["properties"]["agent"]["enum"] == ["explore"]


@pytest.mark.parametrize("parent", ["ask", "deny"])
async def test_rules_of_the_agent_above_hold_for_the_subagent(stage, parent):
    allow = {"permission": "bash", "pattern": "*", "action": "allow"}
    agents = {
        "careful": {"permission": [{"permission": "bash", "pattern": "*", "action": parent}]},
        "worker": {"mode": "subagent", "permission": [allow]},
    }
    show = await stage(
        {
            "turns": [{"tools": [task("worker")]}, {"text": "b"}],
            "agents": {
                "worker": [{"tools": [{"name": "bash", "arguments": {"command": "touch made"}}]}, {"text": "x"}]
            },
        },
        settings={"agents": agents, "agent": "careful"},
    )
    await show.say("go")
    await show.next(RunFinished)
    (resolved,) = [e.event for e in foreign(show) if isinstance(e.event, PermissionResolved)]
    assert resolved.decision == "deny"
    assert resolved.scope == ("policy" if parent == "ask" else "rule")
    assert not (show.project / "made").exists()


async def test_tools_that_the_agent_above_lacks_are_not_given(stage):
    agents = {"blind": {"tools": {"read": False}}, **WORKER}
    show = await stage(
        {"turns": [{"tools": [task("worker")]}, {"text": "b"}]}, settings={"agents": agents, "agent": "blind"}
    )
    await show.say("go")
    names = {tool["name"] for tool in show.requests()[1]["tools"]}
    assert "read" not in names
    assert "grep" in names


async def test_the_mode_of_the_session_above_holds_while_it_changes(stage):
    write = {"name": "write", "arguments": {"path": "made.txt", "content": "x"}}
    show = await stage(
        {
            "turns": [{"tools": [task("worker")]}, {"text": "b"}],
            "agents": {"worker": [{"tools": [write]}, {"text": "x"}]},
        },
        settings={"agents": WORKER | {"worker": {"mode": "subagent", "start_mode": "accept-edits"}}},
    )
    await show.say("go")
    await show.next(RunFinished)
    assert not (show.project / "made.txt").exists()
    await show.workspace.close()
    show = await stage(
        {
            "turns": [{"tools": [task("worker")]}, {"text": "b"}],
            "agents": {"worker": [{"tools": [write]}, {"text": "x"}]},
        },
        settings={"agents": WORKER},
    )
    await show.send(SetSession(mode="accept-edits"))
    await show.say("go")
    await show.next(RunFinished)
    assert (show.project / "made.txt").read_text() == "x"


async def test_a_request_of_a_subagent_reaches_the_person_and_is_answered_there(stage):
    show = await stage(
        {
            "turns": [{"tools": [task("worker")]}, {"text": "b"}],
            "agents": {
                "worker": [
                    {"tools": [{"name": "bash", "arguments": {"command": "touch one"}}]},
                    {"tools": [{"name": "bash", "arguments": {"command": "touch one"}}]},
                    {"text": "x"},
                ]
            },
        },
        settings={"agents": WORKER},
        policy="person",
    )
    await show.live.send(Submit("go"))
    asked = await show.next(PermissionRequested)
    assert show.seen[-1].session != show.live.id
    await show.send(Answer(asked.request, "allow", scope="session"))
    await show.next(RunFinished)
    await show.next(RunFinished)
    assert (show.project / "one").exists()
    scopes = [e.event.scope for e in foreign(show) if isinstance(e.event, PermissionResolved)]
    assert scopes == ["session", "session"]


async def test_neighbouring_tasks_run_side_by_side_a_few_at_a_time(stage):
    count = 6
    show = await stage(
        {
            "turns": [{"tools": [task("explore", f"part {n}") for n in range(count)]}, {"text": "b"}],
            "agents": {"explore": [{"text": f"answer {n}", "wait": "go.flag"} for n in range(count)]},
        }
    )
    await show.live.send(Submit("go"))
    for _ in range(4):
        await show.next(RunStarted)
        while show.seen[-1].session == show.live.id:
            await show.next(RunStarted)
    await asyncio.sleep(0.1)
    waiting = show.subscription.take()
    assert not [envelope for envelope in waiting if isinstance(envelope.event, RunStarted)]
    (show.project / "go.flag").touch()
    for _ in range(count + 1):
        await show.next(RunFinished)
    outputs = await results(show)
    assert len(outputs) == count
    assert len({output.split('"')[1] for output in outputs}) == count


async def test_one_subagent_is_cancelled_and_the_others_go_on(stage):
    show = await stage(
        {
            "turns": [{"tools": [task("explore", "one"), task("explore", "two")]}, {"text": "b"}],
            "agents": {"explore": [{"text": "late", "wait": "go.flag"}, {"text": "late", "wait": "go.flag"}]},
        }
    )
    await show.live.send(Submit("go"))
    runs = []
    while len(runs) < 2:
        await show.next(RunStarted)
        if show.seen[-1].session != show.live.id:
            runs.append(show.seen[-1])
    slow = next(run for run in runs if run.event.message.text == "one")
    while not show.requests() or len(show.requests()) < 3:
        await asyncio.sleep(0.01)
    await show.send(Cancel(slow.run))
    assert (await show.next(RunFinished)).reason == "cancelled"
    (show.project / "go.flag").touch()
    end = await show.next(RunFinished)
    while show.seen[-1].session != show.live.id:
        end = await show.next(RunFinished)
    assert end.reason == "completed"
    by_call = {event.call: event for event in show.of(ToolFinished) if event.tool == "task"}
    assert by_call["c1"].is_error
    assert 'state="cancelled"' in by_call["c1"].output
    assert not by_call["c2"].is_error


async def test_a_cancel_of_the_run_ends_its_subagents_first(stage):
    show = await stage(
        {
            "turns": [{"tools": [task("explore")]}],
            "agents": {"explore": [{"text": "slow", "wait": "never.flag"}]},
        }
    )
    await show.live.send(Submit("go"))
    await show.next(RunStarted)
    await show.next(RunStarted)
    await show.send(Cancel())
    ends = [await show.next(RunFinished), await show.next(RunFinished)]
    assert [end.reason for end in ends] == ["cancelled", "cancelled"]
    assert show.seen[-1].session == show.live.id
    (output,) = await results(show)
    assert "effect is unknown" in output
    below = foreign(show)[0].session
    assert not (await asyncio.to_thread(show.workspace.store.info, below)).live


async def test_a_task_goes_on_with_what_an_earlier_one_did(stage):
    show = await stage(
        {
            "turns": [{"tools": [task("explore", "first")]}, {"text": "x"}],
            "agents": {"explore": [{"text": "seen"}, {"text": "more"}]},
        }
    )
    await show.say("go")
    await show.next(RunFinished)
    session = foreign(show)[0].session
    await show.workspace.close()
    again = await stage(
        {
            "turns": [{"tools": [task("explore", "second", session=session)]}, {"text": "y"}],
            "agents": {"explore": [{"text": "more"}]},
        },
        session=show.live.id,
    )
    await again.say("go on")
    await again.next(RunFinished)
    below = again.requests()[-2]
    assert [message["text"] for message in below["messages"]] == ["first", "seen", "second"]
    seqs = await asyncio.to_thread(lambda: [e.seq for e in again.workspace.store.events(session)])
    assert seqs == sorted(set(seqs))


@pytest.mark.parametrize("session", ["ses_unknown", "own"])
async def test_a_session_that_is_no_task_of_this_one_is_refused(stage, session):
    show = await stage({"turns": [{"text": "a"}]})
    wanted = show.live.id if session == "own" else session
    await show.workspace.close()
    show = await stage({"turns": [{"tools": [task("explore", session=wanted)]}, {"text": "b"}]}, session=show.live.id)
    await show.say("go")
    (output,) = await results(show)
    assert "no such task" in output or "no task of this conversation" in output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"agent": "explore"}, "prompt is missing"),
        ({"agent": "explore", "prompt": " "}, "prompt is missing"),
        ({"agent": "explore", "prompt": 3}, "prompt is missing or no text"),
        ({"agent": "nobody", "prompt": "x"}, "no agent 'nobody' can be started"),
        ({"agent": "build", "prompt": "x"}, "no agent 'build' can be started"),
        ({"agent": "explore", "prompt": "x", "model": "big"}, "unknown arguments: model"),
    ],
)
async def test_arguments_that_do_not_fit_are_a_result_that_the_model_can_mend(stage, arguments, said):
    show = await stage({"turns": [{"tools": [{"name": "task", "arguments": arguments}]}, {"text": "b"}]})
    assert (await show.say("go")).reason == "completed"
    assert said in (await results(show))[0]


async def test_a_subagent_that_fails_is_an_error_with_its_reason(stage):
    show = await stage(
        {
            "turns": [{"tools": [task("explore")]}, {"text": "b"}],
            "agents": {"explore": [{"error": {"kind": "auth", "message": "no key"}}]},
        }
    )
    await show.say("go")
    await show.next(RunFinished)
    (event,) = [event for event in show.of(ToolFinished) if event.tool == "task"]
    assert event.is_error
    assert 'state="failed: no key"' in event.output


async def test_a_subagent_stops_at_its_own_steps(stage):
    agents = {"worker": {"mode": "subagent", "steps": 2}}
    show = await stage(
        {
            "turns": [{"tools": [task("worker")]}, {"text": "b"}],
            "agents": {"worker": [{"tools": [{"name": "list"}]}] * 5},
        },
        settings={"agents": agents},
        max_steps=9,
    )
    await show.say("go")
    await show.next(RunFinished)
    lists = [event for event in show.of(ToolStarted) if event.tool == "list"]
    assert len(lists) == 2
    assert 'state="step_limit: stopped after 2 steps"' in (await results(show))[0]
