"""``harness run --ask input``: what intents on standard input do to a run, and where its script is looked for."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from e2e_home import Home, request_log

pytestmark = pytest.mark.e2e

Send = Callable[[dict[str, Any]], None]


def drive(home: Home, react: Callable[[dict[str, Any], Send], None]) -> tuple[int, list[dict[str, Any]]]:
    """Run ``play.yaml`` and hand every event to ``react``, which may send intents; return exit code and events."""
    process = home.popen("run", "--json", "--ask", "input", "--model", "replay:play.yaml", "go", stdin=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    stdin = process.stdin

    def send(intent: dict[str, Any]) -> None:
        stdin.write(json.dumps(intent) + "\n")
        stdin.flush()

    events: list[dict[str, Any]] = []
    with process.stdout, process.stderr:
        for line in process.stdout:
            events.append(json.loads(line))
            react(events[-1], send)
        code = process.wait(timeout=30)
    stdin.close()
    return code, events


def test_a_message_that_waits_is_sent_after_the_run_and_before_the_process_ends(home: Home) -> None:
    home.write(
        "play.yaml",
        """
        log: requests.jsonl
        turns:
          - tools: [{name: bash, arguments: {command: "echo hi"}}]
          - text: The first answer.
          - text: The second answer.
        """,
    )

    def react(event: dict[str, Any], send: Send) -> None:
        if event["type"] == "permission_requested":
            send({"intent": "submit", "text": "and then this", "when": "queue"})
            send({"intent": "answer", "request": event["request"], "action": "allow"})

    code, events = drive(home, react)
    assert code == 0
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    texts = [event["message"]["text"] for event in events if event["type"] == "run_started"]
    assert texts == ["go", "and then this"]
    assert [event["text"] for event in events if event["type"] == "text_finished"] == [
        "The first answer.",
        "The second answer.",
    ]
    assert events[-1]["type"] == "run_finished"
    assert len(request_log(home.project / "requests.jsonl")) == 3


def test_a_cancel_that_names_another_run_is_told_and_ends_nothing(home: Home) -> None:
    home.write(
        "play.yaml",
        """
        turns:
          - tools: [{name: bash, arguments: {command: "echo hi"}}]
          - text: Done.
        """,
    )

    def react(event: dict[str, Any], send: Send) -> None:
        if event["type"] == "permission_requested":
            send({"intent": "cancel", "run": "run_of_yesterday"})
            send({"intent": "answer", "request": event["request"], "action": "allow"})

    code, events = drive(home, react)
    assert code == 0
    assert ["run_of_yesterday" in event["text"] for event in events if event["type"] == "notice"] == [True]
    assert events[-1]["reason"] == "completed"


def test_a_script_on_the_command_line_lies_relative_to_the_current_folder(home: Home) -> None:
    home.write("play.yaml", "log: requests.jsonl\nturns: [{text: from here}]\n")
    elsewhere = home.project.parent / "elsewhere"
    home.write("play.yaml", "turns: [{text: from there}]\n", base=elsewhere)
    ran = home.run("go", "--model", "replay:play.yaml", "--root", str(elsewhere))
    assert ran.code == 0, ran.err
    assert ran.events[0]["root"] == str(elsewhere)
    assert [event["text"] for event in ran.of("text_finished")] == ["from here"]
    assert len(request_log(home.project / "requests.jsonl")) == 1
