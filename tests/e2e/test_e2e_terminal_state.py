"""The terminal after every way out of the full-screen shell, and while it is stopped: as it was before."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from e2e_home import BIN, Home
from terminal import Terminal

pytestmark = pytest.mark.e2e

FAULTS = Path(__file__).with_name("e2e_faults.py")
SET_BEFORE = {"7": True, "25": True}
"""The private modes that are set in a terminal as it is given: lines wrap, the cursor is seen."""

CONTROL_C, CONTROL_Z = "\x03", "\x1a"
Open = Callable[..., Terminal]


@pytest.fixture
def open_program(home: Home) -> Iterator[Open]:
    """Return a function that opens a program in a terminal whose settings ``before`` are kept."""
    opened: list[Terminal] = []

    def start(*argv: str, in_band: bool = False) -> Terminal:
        env = home.environ() | {"PATH": f"{BIN}:{os.environ['PATH']}", "PS1": "prompt$ "}
        terminal = Terminal(list(argv), cwd=home.project, env=env, columns=100, rows=30, in_band=in_band)
        terminal.mark = home.mark
        opened.append(terminal)
        return terminal

    yield start
    for terminal in opened:
        terminal.close()


def is_as_before(terminal: Terminal, before: list[object]) -> bool:
    return terminal.attributes() == before and not left_set(terminal)


def left_set(terminal: Terminal) -> list[str]:
    """Return the modes that are not as they were, of all that the program has touched."""
    modes = [mode for mode, on in terminal.screen.modes.items() if on is not SET_BEFORE.get(mode, False)]
    return modes + ["kitty keys"] * terminal.screen.keyboard


def assert_as_before(terminal: Terminal, before: list[object]) -> None:
    assert left_set(terminal) == []
    assert terminal.attributes() == before


def open_shell(open_program: Open, **how: Any) -> tuple[Terminal, list[object]]:
    shell = open_program(str(BIN / "harness"), **how)
    before = shell.attributes()
    shell.wait_for("● idle")
    assert {"1049", "2004", "1000", "1003", "1004", "25", "kitty keys"} <= set(left_set(shell))
    assert shell.attributes() != before
    return shell, before


def quit_shell(shell: Terminal) -> None:
    shell.send(CONTROL_C)  # empties the prompt
    shell.settle(0.2)
    shell.send("/quit")
    shell.settle(0.2)
    shell.send("\r")


@pytest.mark.parametrize(
    ("where", "key", "code"),
    [
        ("compose", "", 1),
        ("exit of python in the loop", "x", 7),
        ("close", "\x11", 1),
    ],
)
def test_a_fault_leaves_the_terminal_as_it_was_and_is_told(open_program: Open, where: str, key: str, code: int) -> None:
    shell = open_program(sys.executable, str(FAULTS), where)
    before = shell.attributes()
    if key:
        shell.wait_for("● idle")
        shell.send(key)
    assert shell.wait_exit(20) == code
    assert_as_before(shell, before)
    assert (b"the fault of the test" in shell.recorded) == (code == 1)


@pytest.mark.parametrize("where", ["key", "render", "worker"])
def test_a_fault_of_one_part_is_shown_and_the_shell_goes_on(open_program: Open, where: str) -> None:
    shell = open_program(sys.executable, str(FAULTS), where)
    before = shell.attributes()
    shell.wait_for("● idle")
    shell.send("x")
    shell.wait_for("the fault of the test")
    shell.send("\x1bOP")  # F1
    shell.wait_for("Send; waits in the queue")
    shell.send("\x1b")
    shell.pump(lambda: "Send; waits" not in shell.text(), 5)
    shell.send("\x11")
    assert shell.wait_exit(20) == 0
    assert_as_before(shell, before)


def test_a_terminal_that_takes_nothing_keeps_no_signal_from_ending_the_shell(open_program: Open) -> None:
    shell, before = open_shell(open_program)
    end = time.monotonic() + 2
    while time.monotonic() < end:  # each key is a frame, and nobody reads the frames
        os.write(shell._master, b"abc")
        time.sleep(0.005)
    shell.process.send_signal(signal.SIGHUP)
    assert shell.process.wait(timeout=20) == 128 + signal.SIGHUP
    assert shell.attributes() == before


def test_a_signal_that_nobody_sends_on_purpose_ends_it_in_order_and_no_pixels_of_the_mouse_are_told_afterwards(
    open_program: Open,
) -> None:
    shell, before = open_shell(open_program, in_band=True)
    assert {"2048", "1016"} <= set(left_set(shell))
    shell.process.send_signal(signal.SIGUSR1)
    assert shell.wait_exit(20) == 128 + signal.SIGUSR1
    assert_as_before(shell, before)


def test_control_z_gives_the_terminal_back_and_fg_goes_on_also_under_a_launcher(home: Home, open_program: Open) -> None:
    outer = open_program("bash", "--norc", "--noprofile", "--noediting", "-i")
    outer.wait_for("prompt$")
    before = outer.attributes()
    outer.send("sh -c 'harness; true'\n")
    outer.wait_for("● idle")
    outer.send("hello")
    outer.wait_for("│ hello")
    outer.send(CONTROL_Z)
    outer.wait_for("Stopped")
    assert outer.pump(lambda: is_as_before(outer, before), 10)
    outer.send("echo $((6 * 7))\n")
    outer.wait_for("42")
    outer.send("bg\n")  # in the background it stops at once: the terminal is not its own
    outer.settle(0.5)
    assert_as_before(outer, before)
    outer.send("fg\n")
    outer.wait_for("● idle")
    outer.send(" again")
    outer.wait_for("│ hello again")
    quit_shell(outer)
    assert outer.pump(lambda: is_as_before(outer, before), 20)
    outer.send("echo $((6 * 8)); exit\n")  # while the shell still ends its children
    outer.wait_for("48")
    assert outer.wait_exit(20) == 0
    home.assert_nothing_left()


def test_without_a_shell_to_go_back_to_nothing_stops(open_program: Open) -> None:
    shell, before = open_shell(open_program)
    shell.send("one")
    shell.wait_for("│ one")
    shell.send(CONTROL_Z)
    shell.settle(0.5)
    shell.send(" two")
    shell.wait_for("│ one two")
    for number in (signal.SIGCONT, signal.SIGSTOP, signal.SIGCONT):  # whoever sends them
        shell.process.send_signal(number)
        shell.settle(0.3)
    shell.send(" three")
    shell.wait_for("│ one two three")
    quit_shell(shell)
    assert shell.wait_exit(20) == 0
    assert_as_before(shell, before)


def test_a_window_that_is_closed_while_the_shell_is_stopped_leaves_nothing(home: Home, open_program: Open) -> None:
    outer = open_program("bash", "--norc", "--noprofile", "--noediting", "-i")
    outer.wait_for("prompt$")
    outer.send("harness\n")
    outer.wait_for("● idle")
    outer.send(CONTROL_Z)
    outer.wait_for("Stopped")
    assert len(home.leftovers()) >= 2
    outer.hang_up()
    home.assert_nothing_left(8)


def test_a_program_that_had_the_terminal_and_broke_it_does_no_harm_and_ends_with_the_shell(
    home: Home, open_program: Open
) -> None:
    shell = open_program(sys.executable, str(FAULTS), "editor")
    before = shell.attributes()
    shell.wait_for("● idle")
    shell.send("x")
    shell.wait_for("in the editor 1")
    assert left_set(shell) == []
    shell.send("q")
    shell.wait_for("it gave 3")
    shell.send("x")
    shell.wait_for("in the editor 2")
    shell.process.send_signal(signal.SIGTERM)
    assert shell.wait_exit(20) == 128 + signal.SIGTERM
    assert_as_before(shell, before)
    home.assert_nothing_left()
