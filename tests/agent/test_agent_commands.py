"""Commands in a live session: the real gate decides on their shell parts, real children run them, cancel ends both."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from harness_tui.core.event_parts import CommandPreview
from harness_tui.core.events import (
    Notice,
    PermissionRequested,
    PermissionResolved,
    RunFinished,
    RunStarted,
)
from harness_tui.core.intents import Answer, Cancel, Submit

SCRIPT: dict[str, Any] = {"turns": [{"text": "ok"}] * 6}
ALLOWED = tuple({"permission": name, "pattern": "*", "action": "allow"} for name in ("bash", "edit"))


def command(project: Path, name: str, text: str) -> None:
    file = project.parent / ".config/harness/commands" / f"{name}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


async def appears(path: Path) -> None:
    async with asyncio.timeout(20):
        while not path.exists():
            await asyncio.sleep(0.02)


@pytest.mark.rule("3.3.11", "3.3.12")
@pytest.mark.parametrize(
    ("rules", "reason", "code"),
    [
        (({"permission": "bash", "pattern": "touch b", "action": "deny"}, *ALLOWED), "completed", None),
        ((*ALLOWED, {"permission": "bash", "pattern": "touch b", "action": "deny"}), "refused", "shell-denied"),
        ((), "refused", "shell-denied"),
    ],
)
async def test_one_part_that_is_not_allowed_stops_all_before_any_runs(
    stage: Any, rules: tuple[dict[str, str], ...], reason: str, code: str | None
) -> None:
    show = await stage(SCRIPT, rules=rules)
    command(show.project, "two", "---\nallowed-tools: Bash(touch:*)\n---\n!`touch a` !`touch b` done")
    ended = await show.say("/two")
    assert (ended.reason, ended.error.kind if ended.error else None) == (reason, code)
    assert [(show.project / name).exists() for name in "ab"] == [code is None] * 2
    assert len(show.requests()) == (1 if code is None else 0)


@pytest.mark.rule("3.3.12")
async def test_a_grant_lets_parts_run_and_is_over_with_the_run(stage: Any) -> None:
    show = await stage(SCRIPT)
    command(show.project, "granted", "---\nallowed-tools: Bash(echo:*)\n---\n!`echo a` done")
    command(show.project, "bare", "!`echo b` done")
    assert (await show.say("/granted")).reason == "completed"
    assert show.requests()[-1]["messages"][-1]["text"] == "a done"
    assert (await show.say("/bare")).error.kind == "shell-denied"
    assert len(show.requests()) == 1


@pytest.mark.rule("3.3.8", "3.3.9", "3.3.10")
async def test_the_question_names_command_and_words_and_a_no_sends_nothing(stage: Any) -> None:
    show = await stage(SCRIPT, policy="person")
    command(show.project, "say", '---\nagent: plan\n---\n```!\ntouch a "$1"\n```\n')
    await show.send(Submit("/say 'b c' d"))
    request = await show.next(PermissionRequested)
    assert isinstance(request.preview, CommandPreview)
    assert request.preview.command == 'touch a "$1"\n# with the arguments: b c d'
    assert request.patterns == ('touch a "$1"',)
    await show.send(Answer(request.request, "deny"))
    ended = await show.next(RunFinished)
    assert ended.error.kind == "shell-denied"
    assert list(show.project.glob("*a*")) == [show.project / "play.yaml"]
    assert show.requests() == []
    await show.send(Submit("/say 'b c' d"))
    again = await show.next(PermissionRequested)
    await show.send(Answer(again.request, "allow"))
    assert (await show.next(RunFinished)).reason == "refused"  # nothing came out: an empty message
    assert (show.project / "b c").exists()


@pytest.mark.rule("3.3.21", "3.3.14")
async def test_a_cancel_ends_the_part_that_runs_and_sends_nothing(stage: Any) -> None:
    show = await stage(SCRIPT, rules=ALLOWED)
    command(show.project, "slow", "!`touch one; sleep 60` !`touch two`")
    await show.send(Submit("/slow"))
    await appears(show.project / "one")
    await show.send(Cancel())
    assert (await show.next(RunFinished)).reason == "cancelled"
    assert show.workspace.children.list() == []
    assert not (show.project / "two").exists()
    assert show.requests() == []
    assert (await show.say("hello")).reason == "completed"
    assert [message["text"] for message in show.requests()[-1]["messages"]][-1] == "hello"


@pytest.mark.rule("3.3.21")
async def test_a_cancel_while_it_is_asked_runs_nothing(stage: Any) -> None:
    show = await stage(SCRIPT, policy="person")
    command(show.project, "ask", "!`touch one`")
    await show.send(Submit("/ask"))
    await show.next(PermissionRequested)
    await show.send(Cancel())
    assert (await show.next(RunFinished)).reason == "cancelled"
    (resolved,) = show.of(PermissionResolved)
    assert resolved.decision == "deny"
    assert not (show.project / "one").exists()
    assert show.requests() == []


@pytest.mark.rule("3.5.2", "3.5.3", "3.5.4", "3.5.5")
async def test_agent_and_model_of_a_command_hold_for_its_run_alone(stage: Any) -> None:
    agents: dict[str, Any] = {"own": {"mode": "primary"}, "bare": {"mode": "primary"}}
    show = await stage(SCRIPT, settings={"agents": agents})
    for name in ("of-agent", "of-command"):
        (show.project / f"{name}.yaml").write_text(json.dumps(SCRIPT))
    agents["own"]["model"] = f"replay:{show.project}/of-agent.yaml"
    show = await stage(SCRIPT, settings={"agents": agents})
    command(show.project, "both", f"---\nagent: own\nmodel: replay:{show.project}/of-command.yaml\n---\nGo")
    command(show.project, "by-agent", "---\nagent: own\nmodel: inherit\n---\nGo")
    command(show.project, "none", "---\nagent: bare\nmodel: nobody/knows\n---\nGo")
    for line in ("/both", "/by-agent", "/none", "plain"):
        ended = await show.say(line)
        assert ended.error is None, ended.error.message
        assert ended.reason == "completed"
    started = [(event.agent, Path(event.model).name) for event in show.of(RunStarted)]
    assert started == [
        ("own", "of-command.yaml"),
        ("own", "of-agent.yaml"),
        ("bare", "replay:play.yaml"),
        ("build", "replay:play.yaml"),
    ]
    assert any("nobody/knows" in notice.text for notice in show.of(Notice))


@pytest.mark.rule("3.5.1")
async def test_a_command_that_names_an_unknown_agent_sends_nothing(stage: Any) -> None:
    show = await stage(SCRIPT, rules=ALLOWED)
    command(show.project, "ghost", "---\nagent: ghost\n---\n!`touch one`")
    ended = await show.say("/ghost")
    assert (ended.reason, ended.error.kind) == ("refused", "unknown-agent")
    assert "build" in ended.error.message
    assert not (show.project / "one").exists()
    assert show.requests() == []
