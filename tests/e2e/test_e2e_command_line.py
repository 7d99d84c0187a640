"""The command line as a caller meets it: closed and broken streams, exit codes, notices, wrong words."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from e2e_home import BIN, Home

HARNESS = BIN / "harness"


def script(home: Home, text: str = "turns: [{text: the answer}]\nlog: log.jsonl\n") -> str:
    home.write("s.yaml", text)
    return "replay:s.yaml"


def closed(home: Home, redirection: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run ``harness`` under a shell that closes or redirects streams."""
    words = " ".join(f'"{word}"' for word in (str(HARNESS), *arguments))
    return subprocess.run(
        ["/bin/sh", "-c", f"{words} {redirection}"],
        cwd=home.project,
        env=home.environ(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


# --- standard streams --------------------------------------------------------------------------------------


@pytest.mark.parametrize("redirection", ["<&-", "<&- 2>&-"])
def test_a_closed_standard_input_is_an_empty_one(home: Home, redirection: str) -> None:
    ran = closed(home, redirection, "run", "--model", script(home), "hi")
    assert (ran.returncode, ran.stdout) == (0, "the answer\n")


@pytest.mark.parametrize(
    "arguments", [("--version",), ("run", "--model", "replay:s.yaml", "hi"), ("models", "list", "--json")]
)
def test_a_closed_standard_output_is_no_error(home: Home, arguments: tuple[str, ...]) -> None:
    script(home)
    ran = closed(home, "</dev/null >&-", *arguments)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "arguments",
    [
        ("--version",),
        ("--help",),
        ("run", "--model", "replay:s.yaml", "hi"),
        ("run", "--json", "--model", "replay:s.yaml", "hi"),
        ("models", "list"),
    ],
)
def test_output_that_cannot_be_written_is_told_in_one_line(home: Home, arguments: tuple[str, ...]) -> None:
    script(home)
    ran = closed(home, "</dev/null >/dev/full", *arguments)
    assert ran.returncode == 1
    assert "No space left on device" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_a_run_whose_reader_went_away_is_cancelled_and_recorded_as_such(home: Home) -> None:
    words = " ".join(f"word{number}" for number in range(400))
    model = script(home, f"delay: 0.01\nturns: [{{text: {words}}}]\n")
    process = home.popen("run", "--json", "--model", model, "hi")
    assert process.stdout is not None
    session = json.loads(process.stdout.readline())["session"]
    process.stdout.close()
    assert process.wait(timeout=20) == 130
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()
    events = json.loads(home.harness("sessions", "show", session, "--json").out)
    assert (events[-1]["type"], events[-1]["reason"]) == ("run_finished", "cancelled")


def test_results_are_utf8_whatever_the_locale_says(home: Home) -> None:
    model = script(home)
    environ = home.environ() | {"PYTHONIOENCODING": "ascii"}
    ran = subprocess.run(
        [HARNESS, "run", "--json", "--model", model, "grüß 日本"],
        cwd=home.project,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    events = [json.loads(line) for line in ran.stdout.decode("utf-8").splitlines()]
    (started,) = [event for event in events if event["type"] == "run_started"]
    assert started["message"]["text"] == "grüß 日本"


def test_a_message_that_is_not_utf8_is_sent_with_replacement_characters(home: Home) -> None:
    model = script(home)
    ran = subprocess.run(
        [os.fsencode(HARNESS), b"run", b"--model", model.encode(), b"caf\xe9"],
        cwd=home.project,
        env=home.environ(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0
    logged = json.loads((home.project / "log.jsonl").read_text("utf-8"))
    assert logged["messages"][0]["text"] == "caf\ufffd"


@pytest.mark.parametrize("text", [b"\xff{}", b"[" * 100_000, b"9" * 5_000, b"{"])
def test_arguments_on_standard_input_that_cannot_be_read_are_wrong_usage(home: Home, text: bytes) -> None:
    ran = subprocess.run(
        [HARNESS, "tools", "call", "read", "-"],
        cwd=home.project,
        env=home.environ(),
        input=text,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 2
    assert ran.stderr.startswith(b"harness: ")
    assert b"Traceback" not in ran.stderr


def test_an_interrupt_while_modules_are_imported_is_told_without_a_traceback(home: Home) -> None:
    code = (
        "import sys, builtins\n"
        "from harness_tui.cli import entry\n"
        "real = builtins.__import__\n"
        "def refuse(name, *rest):\n"
        "    if name == 'harness_tui.cli.app': raise KeyboardInterrupt\n"
        "    return real(name, *rest)\n"
        "builtins.__import__ = refuse\n"
        "sys.argv = ['harness', 'run', 'hi']\n"
        "sys.exit(entry.main())\n"
    )
    ran = subprocess.run(
        [BIN / "python", "-c", code], env=home.environ(), capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.returncode, ran.stderr) == (130, "harness: interrupted\n")


# --- what a run tells in text ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("turns", "options", "said"),
    [
        ("{error: {kind: auth, message: the key is wrong}}", (), "harness: failed: the key is wrong"),
        ("{text: x, tools: [{name: list, arguments: {}}]}", ("--max-steps", "1"), "harness: step limit: stopped after"),
    ],
)
def test_a_run_that_failed_says_why(home: Home, turns: str, options: tuple[str, ...], said: str) -> None:
    ran = home.harness("run", "--model", script(home, f"turns: [{turns}]\n"), *options, "hi")
    assert ran.code == 1
    assert said in ran.err


def test_a_refused_message_is_told_once(home: Home) -> None:
    ran = home.harness("run", "--model", script(home), "/revieww")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "harness: error: session: unknown command /revieww; did you mean /review?\n"
    assert not (home.project / "log.jsonl").exists()


def test_a_call_by_hand_prints_the_tools_output(home: Home) -> None:
    home.write("a.txt", "alpha\n")
    ran = home.harness("run", '/call read {"path": "a.txt"}')
    assert (ran.code, ran.out) == (0, "     1\talpha\n")


def test_a_call_by_hand_that_nobody_permits_exits_3(home: Home) -> None:
    home.write("a.txt", "alpha\n")
    ran = home.harness("run", '/call edit {"path": "a.txt", "old": "alpha", "new": "beta"}')
    assert (ran.code, ran.out) == (3, "")
    assert "Not permitted: edit a.txt" in ran.err
    assert (home.project / "a.txt").read_text() == "alpha\n"


@pytest.mark.parametrize("message", ["/call", "/call read {", "/call read [1]"])
def test_a_call_by_hand_that_cannot_be_read_is_wrong_usage(home: Home, message: str) -> None:
    ran = home.harness("run", message)
    assert (ran.code, ran.out) == (2, "")
    assert '/call read {"path": "README.md"}' in ran.err


def test_a_session_of_another_folder_goes_on_with_a_warning(home: Home) -> None:
    model = f"replay:{home.project / 's.yaml'}"
    script(home)
    session = home.run("hi", "--model", model).events[0]["session"]
    other = home.project.parent / "other"
    other.mkdir()
    ran = home.run("again", "--model", model, "--session", session, "--root", str(other))
    assert ran.code == 0
    (notice,) = ran.of("notice", source="sessions")
    assert (notice["level"], str(home.project) in notice["text"]) == ("warning", True)


# --- servers -----------------------------------------------------------------------------------------------

SERVERS = """
    modle: x
    mcp:
      gone: {command: [no-such-program-of-ours]}
      mute: {command: [sleep, "60"]}
"""


def test_what_needs_an_untrusted_server_is_refused_with_3_and_starts_nothing(home: Home) -> None:
    home.write(".harness/config.yaml", "mcp: {mark: {command: [touch, started]}}\n")
    for arguments in (
        ("mcp", "call", "--ask", "allow", "mark", "x"),
        ("tools", "call", "--ask", "allow", "mark_x"),
        ("run", "--ask", "allow", "/call mark_x"),
    ):
        ran = home.harness(*arguments)
        assert (ran.code, ran.out) == (3, "")
        assert "harness trust" in ran.err
    assert not (home.project / "started").exists()


def test_a_call_to_one_server_waits_for_no_other(home: Home) -> None:
    home.write(".harness/config.yaml", SERVERS)
    home.trust()
    began = time.monotonic()
    ran = home.harness("mcp", "call", "--ask", "allow", "--json", "gone", "x", "{}")
    assert time.monotonic() - began < 15  # the other one is given 30 s to start
    finished = json.loads(ran.out)
    assert (ran.code, finished["type"], finished["is_error"]) == (1, "tool_finished", True)
    assert "'no-such-program-of-ours' was not found" in finished["output"]


def test_a_server_that_cannot_tell_its_tools_is_told_with_its_reason(home: Home) -> None:
    home.write(".harness/config.yaml", SERVERS)
    home.trust()
    ran = home.harness("mcp", "tools", "gone", "--json")
    assert (ran.code, json.loads(ran.out)) == (1, [])
    assert "MCP server gone: the program 'no-such-program-of-ours' was not found" in ran.err


def test_a_fault_in_the_configuration_is_told_beside_the_result(home: Home) -> None:
    home.write(".harness/config.yaml", "# ours\nmodle: x\n")
    ran = home.harness("tools", "list", "--no-start", "--json")
    assert ran.code == 0
    json.loads(ran.out)
    assert f"{home.project}/.harness/config.yaml:2: error: unknown key 'modle' (did you mean 'mode'?)" in ran.err


# --- wrong words -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rnu", "do this"), "did you mean run?"),
        (("mpc", "list", "--json"), "did you mean mcp?"),
        (("no/such/folder", "--model", "x"), "no/such/folder is neither a folder nor a verb"),
        ((".", ".."), "one folder at a time"),
        (("--model", "x", "no-folder"), "no-folder is not a folder"),
    ],
)
def test_a_word_that_is_neither_folder_nor_verb_is_wrong_usage(
    home: Home, arguments: tuple[str, ...], said: str
) -> None:
    ran = home.harness(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_help_is_found_behind_a_folder(home: Home) -> None:
    assert home.harness(".", "--help").out == home.harness("--help").out


@pytest.mark.parametrize(("name", "said"), [("gone.py", "there is no such file"), (".", "this is a folder")])
def test_a_file_that_is_not_there_does_not_pass_a_check(home: Home, name: str, said: str) -> None:
    ran = home.harness("lsp", "check", "--json", name)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_the_servers_of_a_file_are_explained(home: Home) -> None:
    home.write("a.py", "x = 1\n")
    ran = home.harness("lsp", "doctor", "--json", "a.py")
    rows = {row["name"]: row for row in json.loads(ran.out)}
    assert (ran.code, rows["ty"]["serves"], rows["ty"]["root"]) == (0, True, str(home.project))
    assert (rows["basedpyright"]["serves"], rows["basedpyright"]["reason"]) == (False, "ty serves in its place")
    nobody = home.harness("lsp", "doctor", "a.zzz")
    assert nobody.code == 1
    assert "no language server knows files of this name" in nobody.out


@pytest.mark.parametrize(
    ("variable", "spoil"), [("XDG_DATA_HOME", "data"), ("XDG_STATE_HOME", "state")], ids=["data", "state"]
)
def test_a_folder_of_ours_that_cannot_be_made_is_named_with_its_remedy(home: Home, variable: str, spoil: str) -> None:
    blocked = home.write(spoil, "a file\n", base=home.folder)
    ran = subprocess.run(
        [HARNESS, "run", "--model", script(home), "hi"],
        cwd=home.project,
        env=home.environ() | {variable: str(blocked)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 1
    assert str(blocked) in ran.stderr
    assert f"set {variable}" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_run_with_130_and_one_result_for_the_call(home: Home, number: signal.Signals) -> None:
    model = script(home, 'turns: [{tools: [{name: bash, arguments: {command: "touch begun; sleep 60"}}]}]\n')
    process = home.popen("run", "--json", "--ask", "allow", "--model", model, "hi")
    _wait_until((home.project / "begun").exists)
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    events = [json.loads(line) for line in out.splitlines()]
    assert (process.returncode, err) == (130, "harness: interrupted\n")
    assert [event["is_error"] for event in events if event["type"] == "tool_finished"] == [True]
    assert events[-1]["reason"] == "cancelled"
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))


def _wait_until(condition: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
