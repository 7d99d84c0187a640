"""Prompts of a real server as commands: arguments, roles, verbatim text, and servers that are slow, wrong or denied."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from harness_tui.core.events import Notice, RunFinished
from harness_tui.core.intents import Cancel, Submit
from harness_tui.sessions.transcript import Said, read

SERVERS = Path(__file__).parents[1] / "mcp" / "servers"


def configured(script: str = "prompts.py", **fields: Any) -> dict[str, Any]:
    """Return settings with one server, ``desk``."""
    entry = {"command": [sys.executable, str(SERVERS / script)], **fields}
    return {"mcp": {"desk": entry}}


def messages(show: Any) -> list[tuple[str, str]]:
    return [(message["role"], message["text"]) for message in show.requests()[-1]["messages"]]


@pytest.mark.rule("3.6.1", "3.6.2", "3.6.4", "3.6.5")
async def test_a_prompt_is_fetched_with_its_words_and_sent_verbatim_in_its_roles(stage: Any) -> None:
    show = await stage({"turns": [{"text": "hi"}, {"text": "that one"}]}, settings=configured())
    (show.project / "secret.txt").write_text("the secret")
    # The first use comes right at the start: the server has not told its prompts yet.
    assert (await show.say("/mcp:desk:greet Ada Lovelace and all")).reason == "completed"
    text = "Greet tone=Lovelace and all, who=Ada. $1 $ARGUMENTS !`touch PWNED` @secret.txt /help"
    assert messages(show) == [("user", text)]
    assert not (show.project / "PWNED").exists()
    assert "the secret" not in json.dumps(show.requests())

    assert (await show.say("/desk:talk")).reason == "completed"
    talk = [("user", "What is this?"), ("assistant", "A pixel."), ("user", "Which one?"), ("assistant", "that one")]
    assert messages(show)[2:] == talk[:3]
    (picture,) = show.requests()[-1]["messages"][2]["attachments"]
    assert (picture["kind"], picture["mime"], picture["bytes"]) == ("image", "image/png", 32)
    await show.say("/desk:begun")
    end = [("user", "/desk:begun"), ("assistant", "I have begun."), ("user", "Go on from there.")]
    assert messages(show)[-3:] == end
    await show.live.flush()
    said = [item.text for item in read(show.workspace.store.events(show.live.id)) if isinstance(item, Said)]
    assert said[2:6] == ["What is this?", "A pixel.", "Which one?", "that one"]
    kept = [stored.message for stored in show.workspace.store.messages(show.live.id)]
    assert [(message.role, message.text) for message in kept][2:9] == talk + end


@pytest.mark.rule("3.6.3")
async def test_what_cannot_be_had_sends_nothing_and_says_why(stage: Any) -> None:
    rules = ({"permission": "mcp", "pattern": "other_get_prompt", "action": "deny"},)
    settings = configured()
    command = settings["mcp"]["desk"]["command"]
    settings["mcp"] |= {
        "late": {"command": command, "timeout": {"start": 20, "idle": 1, "total": 2}},
        "other": {"command": command},
        "gone": {"command": [sys.executable, "-c", "raise SystemExit(3)"]},
    }
    show = await stage({"turns": []}, settings=settings, rules=rules)
    for line, kind, words in [
        ("/desk:greet", "missing-argument", "who"),
        ("/mcp__desk__refuses", "prompt-failed", "the index is not ready"),
        ("/desk:garbage", "prompt-failed", "messages"),
        ("/desk:large", "prompt-failed", "5000000 bytes"),
        ("/late:slow", "prompt-failed", "1 s"),
        ("/desk:dies", "prompt-failed", "desk"),
        ("/desk:none", "unknown-command", "/desk:none"),
        ("/other:greet Ada", "prompt-denied", "denies"),
        ("/mcp:gone:x", "prompt-failed", "gone"),
    ]:
        end = await show.say(line)
        assert (end.reason, end.error.kind) == ("refused", kind), line
        assert words in end.error.message, (line, end.error.message)
    assert show.requests() == []


@pytest.mark.rule("3.6.1")
async def test_names_that_are_typed_alike_stay_apart_and_new_prompts_are_found(stage: Any) -> None:
    show = await stage({"turns": [{"text": "ok"}] * 9}, settings=configured())
    for line, text in [("/mcp:desk:a_b", "a_b"), ("/mcp:desk:read.file", "read.file"), ("/desk:grow", "grow")]:
        await show.say(line)
        assert messages(show)[-1] == ("user", f"the prompt {text}")
    offered = [item.name for item in show.workspace.library.complete("mcp:desk:a", show.workspace.mcp)]
    assert offered[0] == "mcp:desk:a_b"
    assert offered[1].startswith("mcp:desk:a_b-")
    await show.say(f"/{offered[1]}")
    assert messages(show)[-1] == ("user", "the prompt a b")
    async with asyncio.timeout(20):
        while not any(prompt.name == "grown" for prompt in show.workspace.mcp.prompts()):
            await asyncio.sleep(0.02)
    await show.say("/desk:grown")
    assert messages(show)[-1] == ("user", "the prompt grown")


async def test_a_prompt_that_is_waited_for_can_be_cancelled(stage: Any) -> None:
    show = await stage({"turns": [{"text": "later"}]}, settings=configured())
    await show.workspace.start_servers()
    await show.live.send(Submit("/desk:slow"))
    await show.live.send(Cancel())
    assert (await show.next(RunFinished)).reason == "cancelled"
    assert (await show.say("plain")).reason == "completed"
    assert messages(show) == [("user", "plain")]
    assert not [notice for notice in show.of(Notice) if notice.level == "error"]
