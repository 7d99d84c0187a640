"""``harness run`` in programs: JSON of a given form, cancelled runs, models of agents and commands."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest
from e2e_home import BIN, Home, request_log

pytestmark = pytest.mark.e2e

SCHEMA = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}


def schema_project(home: Home, *turns: str) -> list[str]:
    home.write("schema.json", json.dumps(SCHEMA))
    home.write("play.yaml", json.dumps({"log": "requests.jsonl", "turns": [{"text": text} for text in turns]}))
    return ["--model", "replay:play.yaml", "--output-schema", "schema.json"]


def test_the_answer_is_the_json_and_nothing_else(home: Home) -> None:
    options = schema_project(home, '```json\n{"count": 3}\n```')
    ran = home.harness("run", *options, "count them")
    assert (ran.code, ran.out) == (0, '{"count": 3}\n')
    (request,) = request_log(home.project / "requests.jsonl")
    assert json.dumps(SCHEMA) in request["system"]
    assert request["tools"]


def test_an_answer_that_does_not_fit_is_mended_by_the_model(home: Home) -> None:
    options = schema_project(home, "There are three.", '{"count": "3"}', '{"count": 3}')
    ran = home.run("count them", *options)
    assert ran.code == 0, ran.err
    assert ran.events[-1]["output"] == {"count": 3}
    added = [event["message"]["text"] for event in ran.of("message_added", origin="schema")]
    assert "it is not JSON" in added[0]
    assert "$.count: '3' is not of type 'integer'" in added[1]
    requests = request_log(home.project / "requests.jsonl")
    assert [bool(request["tools"]) for request in requests] == [True, False, False]
    assert requests[2]["messages"][-1]["text"] == added[1]


def test_an_answer_that_never_fits_fails_with_the_place(home: Home) -> None:
    options = schema_project(home, "one", "two", '{"count": 1.5}')
    ran = home.harness("run", *options, "count them")
    assert (ran.code, ran.out) == (1, "")
    assert "$.count: 1.5 is not of type 'integer'" in ran.err
    assert len(request_log(home.project / "requests.jsonl")) == 3


def test_a_schema_that_cannot_be_used_is_wrong_usage_and_nothing_is_sent(home: Home) -> None:
    options = schema_project(home, "{}")
    home.write("schema.json", '{"type": "objekt"}')
    ran = home.harness("run", *options, "count them")
    assert (ran.code, ran.out) == (2, "")
    assert "schema.json" in ran.err
    assert not (home.project / "requests.jsonl").exists()
    assert home.harness("run", *options[:2], "--output-schema", "none.json", "x").code == 2


def test_an_interrupted_run_ends_its_stream_and_exits_130(home: Home) -> None:
    home.write("play.yaml", "turns: [{text: half an answer, wait: never.flag}]\n")
    process = home.popen("run", "--json", "--model", "replay:play.yaml", "go")
    assert process.stdout is not None
    lines = [process.stdout.readline()]
    while '"run_started"' not in lines[-1]:
        lines.append(process.stdout.readline())
        assert lines[-1]
    process.send_signal(signal.SIGINT)
    lines += process.stdout.readlines()
    process.communicate(timeout=60)
    events = [json.loads(line) for line in lines]
    assert process.returncode == 130
    assert (events[-1]["type"], events[-1]["reason"]) == ("run_finished", "cancelled")
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    shown = json.loads(home.harness("sessions", "show", "--json", events[0]["session"]).out)
    assert shown[-1]["type"] == "run_finished"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_modules_are_imported_interrupts_too(home: Home, number: signal.Signals) -> None:
    code = (
        "import builtins, os, sys\n"
        "from harness_tui.cli import entry\n"
        "real = builtins.__import__\n"
        "def look(name, *rest, **named):\n"
        f"    if name == 'harness_tui.cli.app': os.kill(os.getpid(), {int(number)})\n"
        "    return real(name, *rest, **named)\n"
        "builtins.__import__ = look\n"
        "sys.argv = ['harness', 'run', 'hi']\n"
        "sys.exit(entry.main())\n"
    )
    ran = subprocess.run(
        [BIN / "python", "-c", code], env=home.environ(), capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.returncode, ran.stderr) == (130, "harness: interrupted\n")


def test_an_interrupted_run_ends_though_nobody_reads_its_output(home: Home) -> None:
    home.write("play.yaml", "turns: [{text: an answer}]\n")
    code = (
        "import sys\n"
        "from harness_tui.cli import entry, headless\n"
        "headless.UNREAD_S = 0.1\n"
        "sys.argv = ['harness', 'run', '--json', '--model', 'replay:play.yaml', 'x' * 200_000]\n"
        "sys.exit(entry.main())\n"
    )
    ours, theirs = os.pipe()
    process = subprocess.Popen(
        [BIN / "python", "-c", code],
        cwd=home.project,
        env=home.environ(),
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(theirs)
    with open(ours, "rb", buffering=0) as reader:
        assert reader.read(1) == b"{"  # the stream has begun, and its first long line does not fit into a pipe
        sessions = home.folder / ".local/share/harness/harness.db"
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "standard output is not read" in err
    assert sessions.exists()
    shown = json.loads(home.harness("sessions", "list", "--json").out)
    assert [row["live"] for row in shown] == [False]


def test_a_folder_that_is_gone_is_wrong_usage(home: Home) -> None:
    code = (
        "import os, sys\n"
        "from harness_tui.cli.entry import main\n"
        "os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')\n"
        "sys.argv = ['harness', 'run', 'hi']\n"
        "sys.exit(main())\n"
    )
    ran = subprocess.run(
        [BIN / "python", "-c", code],
        cwd=home.project,
        env=home.environ(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 2
    assert ran.stderr.startswith("harness: the current folder does not exist any more")


def test_what_is_piped_in_stands_below_the_message_and_leads_nowhere(home: Home) -> None:
    home.write("play.yaml", "turns: [{text: ok}]\n")
    home.write(".env", "TOKEN=hunter2\n")
    ran = home.run("review it", "--model", "replay:play.yaml", stdin="--- see @.env\n")
    (started,) = ran.of("run_started")
    assert started["message"]["text"] == "review it\n\n--- see @.env"
    assert started["message"]["attachments"] == []


def test_an_agents_own_model_needs_no_configured_one(home: Home) -> None:
    home.write("own.yaml", "turns: [{text: from my own}]\n")
    own = home.project / "own.yaml"
    home.user_config(f"model: nobody/nothing\nagents:\n  mine: {{description: d, model: 'replay:{own}'}}\n")
    ran = home.harness("run", "--agent", "mine", "hello")
    assert (ran.code, ran.out) == (0, "from my own\n"), ran.err
    assert home.harness("run", "hello").code == 2


def test_a_commands_own_model_needs_no_configured_one(home: Home) -> None:
    home.write("own.yaml", "turns: [{text: from the command}]\n")
    text = f"---\ndescription: d\nmodel: replay:{home.project / 'own.yaml'}\n---\nDo it.\n"
    home.write(".config/harness/commands/mine.md", text, base=home.folder)
    ran = home.harness("run", "/mine")
    assert (ran.code, ran.out) == (0, "from the command\n"), ran.err


def test_nothing_blocks_a_run_that_nobody_answers(home: Home) -> None:
    home.write(
        "play.yaml",
        """
        turns:
          - tools:
              - {name: question, arguments: {questions: [{id: q, text: Which?, options: [{label: a}, {label: b}]}]}}
              - {name: bash, arguments: {command: "cat; echo read"}}
          - text: Done.
        """,
    )
    read, write = os.pipe()  # standard input that stays open and says nothing
    try:
        process = home.popen("run", "--json", "--ask", "allow", "--model", "replay:play.yaml", "go", stdin=read)
        out, err = process.communicate(timeout=60)
    finally:
        os.close(read)
        os.close(write)
    assert process.returncode == 0, err
    events = [json.loads(line) for line in out.splitlines()]
    outputs = [event["output"] for event in events if event["type"] == "tool_finished"]
    assert len(outputs) == 2
    assert outputs[1].startswith("read")
    assert events[-1]["reason"] == "completed"
