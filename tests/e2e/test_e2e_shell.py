"""The full-screen shell in a real pseudo-terminal: what a person does first, servers that fail, every way to leave."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator

import pytest
from e2e_home import BIN, Home, request_log
from terminal import Terminal

pytestmark = pytest.mark.e2e

ENTER, ESCAPE, TAB, DOWN, F2, RIGHT, CONTROL_C, CONTROL_O = (
    "\r",
    "\x1b",
    "\t",
    "\x1b[B",
    "\x1b[12~",
    "\x1b[C",
    "\x03",
    "\x0f",
)
GRACE_S = 1.2
MODES = {"1049": False, "2004": False, "1000": False, "1003": False, "1004": False, "25": True}
"""The private modes of a terminal after the program, as far as it touched them."""

Open = Callable[..., Terminal]


@pytest.fixture
def open_shell(home: Home) -> Iterator[Open]:
    """Return a function that opens the shell in the project."""
    opened: list[Terminal] = []

    def start(*arguments: str, columns: int = 100, rows: int = 30, wait: bool = True) -> Terminal:
        argv = [str(BIN / "harness"), *arguments]
        terminal = Terminal(argv, cwd=home.project, env=home.environ(), columns=columns, rows=rows)
        terminal.mark = home.mark
        opened.append(terminal)
        if wait:
            terminal.wait_for("● idle")
        return terminal

    yield start
    for terminal in opened:
        terminal.close()


def say(terminal: Terminal, text: str) -> None:
    """Type a line, character by character as fast as it goes, and send it."""
    terminal.send(text)
    terminal.settle(0.15)
    terminal.send(ENTER)


def choose(terminal: Terminal, key: str) -> None:
    """Press a key in a request or dialog, once it takes keys."""
    terminal.settle(GRACE_S)
    terminal.send(key)


def turns(home: Home, *items: str) -> str:
    """Write a script of these turns and return the argument that names it as the model."""
    home.write("play.yaml", "log: requests.jsonl\nturns:\n" + "".join(f"  - {item}\n" for item in items))
    return "--model=replay:play.yaml"


def assert_left_clean(terminal: Terminal, home: Home, code: int) -> None:
    assert terminal.wait_exit(8) == code
    changed = {mode: on for mode, on in terminal.screen.modes.items() if mode in MODES and MODES[mode] is not on}
    assert changed == {}, "the terminal was left in another mode"
    home.assert_nothing_left(2.0)


# --- the first minute --------------------------------------------------------------------------------


def test_the_first_screen_says_how_to_get_a_model_and_a_slash_lists_commands(open_shell: Open) -> None:
    shell = open_shell(columns=80, rows=24)
    shell.wait_for("it asks for a key")
    shell.send("/")
    shell.wait_for("/review")
    shell.wait_for("in all")
    shell.send("hel")
    shell.wait_for("/help")


def test_the_projects_own_command_is_offered_first(home: Home, open_shell: Open) -> None:
    home.write(".harness/commands/zebra.md", "Draw a zebra.\n")
    home.trust()
    shell = open_shell(columns=80, rows=24)
    shell.send("/")
    shell.wait_for("/zebra")


def test_the_skills_panel_lists_skills_and_enter_puts_one_into_the_prompt(home: Home, open_shell: Open) -> None:
    home.write(
        ".harness/skills/tea-making/SKILL.md", "---\nname: tea-making\ndescription: Makes tea.\n---\nBoil water.\n"
    )
    home.trust()
    shell = open_shell()
    say(shell, "/skills")
    shell.wait_for("write-a-skill")
    shell.send("tea")
    shell.wait_for("Boil water.")
    shell.send(ENTER)
    shell.wait_for("│ /tea-making")


def test_a_read_by_hand_shows_the_file_at_once_and_no_count(home: Home, open_shell: Open) -> None:
    home.write("README.md", "# Teapots\n\nWe sell teapots.\n")
    shell = open_shell()
    say(shell, '/call read {"path": "README.md"}')
    shell.wait_for("We sell teapots.")
    shell.settle()
    assert "1 call" not in shell.text()
    assert "● idle" in shell.text()


def test_an_edit_by_hand_changes_the_file_after_a_yes_and_not_after_a_no(home: Home, open_shell: Open) -> None:
    path = home.write("tea.txt", "black\n")
    shell = open_shell(columns=80, rows=24)
    call = '/call edit {"path": "tea.txt", "old": "black", "new": "green"}'
    say(shell, call)
    shell.wait_for("Allow edit")
    assert {"1 - black", "1 + green"} <= {line.strip("│ ") for line in shell.text().splitlines()}
    choose(shell, ESCAPE)
    shell.wait_for("● idle")
    assert path.read_text() == "black\n"
    say(shell, call)
    shell.wait_for("Allow edit")
    choose(shell, "1")
    shell.wait_for("● idle")
    assert path.read_text() == "green\n"


def test_what_is_typed_before_the_shell_is_ready_is_sent(home: Home, open_shell: Open) -> None:
    shell = open_shell(turns(home, "{text: 'Heard you.'}"), wait=False)
    shell.pump(lambda: shell.screen.modes.get("1049", False), 10)
    say(shell, "early bird")
    shell.wait_for("❯ early bird")
    shell.wait_for("Heard you.")


# --- runs --------------------------------------------------------------------------------------------


def test_escape_cancels_a_run_and_a_call_by_hand(home: Home, open_shell: Open) -> None:
    shell = open_shell(turns(home, "{text: 'never', wait: go.flag}"))
    say(shell, "hello")
    shell.wait_for("waiting for the model")
    shell.send(ESCAPE)
    shell.wait_for("⊘ cancelled")
    say(shell, "!sleep 300")
    shell.wait_for("running bash")
    shell.send(ESCAPE)
    shell.wait_for("● idle", 8)


def test_while_a_run_goes_on_a_message_waits_and_goes_out_after_it(home: Home, open_shell: Open) -> None:
    shell = open_shell(turns(home, "{text: 'First answer.', wait: go.flag}", "{text: 'Second answer.'}"))
    say(shell, "one")
    shell.wait_for("waiting for the model")
    say(shell, "two")
    shell.wait_for("queued: two")
    (home.project / "go.flag").touch()
    shell.wait_for("Second answer.")
    text = shell.text()
    assert text.index("First answer.") < text.index("❯ two") < text.index("Second answer.")


def test_routine_calls_take_one_line_and_unfold(home: Home, open_shell: Open) -> None:
    home.write("long.txt", "".join(f"line number {number}\n" for number in range(1, 31)))
    shell = open_shell(turns(home, "{tools: [{name: read, arguments: {path: long.txt}}]}", "{text: 'Read it.'}"))
    say(shell, "read")
    shell.wait_for("Read it.")
    assert "30 lines" in shell.text()
    assert "line number 3" not in shell.text()
    shell.send(CONTROL_O)
    shell.wait_for("line number 30")
    shell.send(CONTROL_O)
    shell.pump(lambda: "line number" not in shell.text(), 5)
    shell.send(TAB)
    shell.settle(0.3)  # the focus moves with the next turn of the loop
    for place in (4, 3, 2):
        shell.send("\x1b[D")
        shell.wait_for(f"{place} of 4")
    shell.send(ENTER)
    shell.wait_for("line number 20")


def test_a_session_is_opened_again_with_its_transcript(home: Home, open_shell: Open) -> None:
    shell = open_shell(turns(home, "{text: 'Remember the teapot.'}"))
    say(shell, "what was it?")
    shell.wait_for("Remember the teapot.")
    say(shell, "/quit")
    assert shell.wait_exit(8) == 0
    again = open_shell("--continue")
    again.wait_for("❯ what was it?")
    again.wait_for("Remember the teapot.")


# --- trust and servers -------------------------------------------------------------------------------


def server_project(home: Home) -> None:
    started = f"open({str(home.project / 'started')!r}, 'w')"
    home.write(
        ".harness/config.yaml", f'mcp:\n  probe: {{command: [{sys.executable}, -c, "{started}"], lazy: false}}\n'
    )
    home.write(".harness/commands/say.md", "Say !`echo hello` to them.\n")


def test_not_now_is_remembered_until_the_content_changes(home: Home, open_shell: Open) -> None:
    server_project(home)
    shell = open_shell(wait=False)
    shell.wait_for("Trust ~")
    shell.wait_for("command say: runs `echo hello`")
    shell.wait_for("MCP server probe: runs")
    choose(shell, ENTER)  # the mark stands on Not now
    shell.pump(lambda: "Trust ~" not in shell.text(), 5)
    say(shell, "/quit")
    assert shell.wait_exit(8) == 0
    assert not (home.project / "started").exists()

    again = open_shell()
    again.settle(0.5)
    assert "Trust ~" not in again.text()
    say(again, "/trust")
    again.wait_for("Trust ~")
    choose(again, ESCAPE)
    again.pump(lambda: "Trust ~" not in again.text(), 5)
    say(again, "/quit")
    assert again.wait_exit(8) == 0

    home.write(".harness/commands/more.md", "Say !`id` to them.\n")
    third = open_shell(wait=False)
    third.wait_for("Trust ~")


def test_trust_starts_what_waited_for_it(home: Home, open_shell: Open) -> None:
    server_project(home)
    shell = open_shell(wait=False)
    shell.wait_for("Trust ~")
    choose(shell, DOWN)
    shell.settle(0.2)
    shell.send(ENTER)
    assert shell.pump(lambda: (home.project / "started").exists(), 15) is not None
    shell.send("/say")
    shell.wait_for("/say")


def test_four_servers_are_shown_with_their_reasons_and_the_good_one_works(home: Home, open_shell: Open) -> None:
    python = sys.executable
    home.user_config(
        f"""
        mcp:
          missing: {{command: [no-such-program-here], lazy: false}}
          leaving: {{command: [{python}, -c, "import sys; sys.exit('the key is not valid')"], lazy: false}}
          mute: {{command: [{python}, -c, "import time; time.sleep(600)"], lazy: false, timeout: {{start: 2}}}}
          clock: {{command: [{BIN / "mcp-server-time"}], lazy: false}}
        """
    )
    shell = open_shell(columns=140, rows=44)
    say(shell, "/mcp")
    shell.wait_for("no-such-program-here")
    shell.wait_for("the key is not valid")
    shell.wait_for("2 tools", 20)
    shell.wait_for("mcp 1/4 ✗3", 20)
    text = shell.text()
    assert [name for name in ("missing", "leaving", "mute", "clock") if name not in text] == []
    shell.send(ESCAPE)
    shell.settle(0.3)  # else the next key and the escape are one
    say(
        shell,
        '/call clock_convert_time {"source_timezone":"Asia/Tokyo","time":"09:00","target_timezone":"Asia/Kolkata"}',
    )
    shell.wait_for("Allow mcp")
    choose(shell, "1")
    shell.wait_for("05:30")


# --- leaving -----------------------------------------------------------------------------------------


def busy_shell(home: Home, open_shell: Open) -> Terminal:
    """Open a shell whose run is in the middle of a command that does not end by itself."""
    home.user_config("permission:\n  - {permission: bash, pattern: '*', action: allow}\n")
    shell = open_shell(turns(home, "{tools: [{name: bash, arguments: {command: 'echo on; sleep 300'}}]}"))
    say(shell, "go")
    shell.wait_for("│ on")
    return shell


def test_quit_restores_the_terminal_and_leaves_nothing_in_the_project(home: Home, open_shell: Open) -> None:
    shell = open_shell(wait=False)
    before = shell.attributes()
    shell.wait_for("● idle")
    assert shell.screen.modes.get("1049") is True
    assert shell.attributes() != before
    say(shell, "/quit")
    assert_left_clean(shell, home, 0)
    assert shell.attributes() == before
    assert sorted(str(path.relative_to(home.project)) for path in home.project.rglob("*")) == [".git", ".git/HEAD"]


def test_interrupting_cancels_first_and_twice_leaves(home: Home, open_shell: Open) -> None:
    shell = busy_shell(home, open_shell)
    shell.send("typed meanwhile")
    shell.wait_for("│ typed meanwhile")
    shell.send(CONTROL_C)
    shell.wait_for("⊘ cancelled")
    assert "│ on" in shell.text()
    shell.settle(0.1)
    shell.send(ENTER)
    shell.wait_for("(end of script)")
    told = [
        message
        for message in request_log(home.project / "requests.jsonl")[-1]["messages"]
        if message["role"] != "assistant"
    ]
    assert [message["role"] for message in told] == ["user", "tool", "user"]
    assert told[1]["text"].startswith("on\n[cancelled by the person after ")
    assert told[2]["text"] == "typed meanwhile"
    shell.settle(2.2)
    shell.send(CONTROL_C)
    shell.wait_for("Ctrl+C again leaves")
    shell.send(CONTROL_C)
    assert_left_clean(shell, home, 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_run_and_everything_below_it(home: Home, open_shell: Open, number: signal.Signals) -> None:
    shell = busy_shell(home, open_shell)
    os.kill(shell.process.pid, number)
    assert_left_clean(shell, home, 128 + number)
