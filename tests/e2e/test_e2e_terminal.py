"""Questions of a run at a terminal: what is typed decides, and nothing hangs."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import time
from collections.abc import Callable

from e2e_home import BIN, Home

HARNESS = BIN / "harness"

TURNS = """\
turns:
  - {tools: [{name: write, arguments: {path: new.txt, content: "x"}}]}
  - {text: done}
"""


def script(home: Home) -> str:
    home.write("s.yaml", TURNS)
    return "replay:s.yaml"


def offer_of_the_folder(shown: str) -> re.Match[str]:
    """Return the line that offers to keep a rule for all files of the folder: its number, then its rule."""
    found = re.search(r"^  (\d+) allow for the project: (\S+ \S*/\*)\s*$", shown, re.M)
    assert found, shown
    return found


def at_terminal(
    home: Home, answers: list[tuple[bytes, bytes | Callable[[str], str]]], *arguments: str
) -> tuple[int, str]:
    """Run ``harness`` in a terminal of its own; when the first text of a pair is shown, its second is typed.

    It may depend on all that was shown until then.
    """
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(home.project)
        os.execve(HARNESS, [str(HARNESS), *arguments], home.environ())
    shown, seen, left, end = b"", b"", list(answers), time.monotonic() + 30
    try:
        while time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    got = os.read(terminal, 65_536)
                except OSError:  # the other side is closed
                    break
                shown, seen = shown + got, seen + got
            if left and left[0][0] in seen:
                typed = left.pop(0)[1]
                os.write(terminal, typed if isinstance(typed, bytes) else typed(shown.decode()).encode())
                seen = b""
        else:
            os.kill(pid, signal.SIGKILL)
    finally:
        _, status = os.waitpid(pid, 0)
        os.close(terminal)
    return os.waitstatus_to_exitcode(status), shown.decode("utf-8", "replace")


def test_the_offer_that_was_chosen_is_kept_and_a_wrong_number_is_asked_for_again(home: Home) -> None:
    model = script(home)
    prompt = b"what to do instead: "
    typed = [(prompt, b"99\n"), (prompt, lambda shown: f"{offer_of_the_folder(shown)[1]}\n")]
    code, shown = at_terminal(home, typed, "run", "--model", model, "hi")
    assert code == 0
    assert "there is no 99" in shown
    rows = json.loads(home.harness("permissions", "list", "--json").out)
    kept = [row for row in rows if row["layer"] == "approval"]
    assert [f"{row['permission']} {row['pattern']}" for row in kept] == [offer_of_the_folder(shown)[2]]


def test_a_note_instead_of_an_answer_refuses_the_call_and_the_run_goes_on(home: Home) -> None:
    model = script(home)
    code, shown = at_terminal(home, [(b"what to do instead: ", b"use b.txt\n")], "run", "--model", model, "hi")
    assert (code, shown.splitlines()[-1]) == (0, "done")
    assert not (home.project / "new.txt").exists()


def test_ctrl_c_at_a_question_ends_the_run_at_once(home: Home) -> None:
    model = script(home)
    began = time.monotonic()
    code, shown = at_terminal(home, [(b"what to do instead: ", b"\x03")], "run", "--model", model, "hi")
    assert (code, shown.rstrip().endswith("harness: interrupted")) == (130, True)
    assert time.monotonic() - began < 15


def test_the_commands_of_a_compound_one_are_listed_and_answered_one_by_one(home: Home) -> None:
    home.write(
        "s.yaml",
        "log: log.jsonl\nturns:\n"
        "  - {tools: [{name: bash, arguments: {command: touch one && touch two}}]}\n  - {text: done}\n",
    )

    def some(shown: str) -> str:
        found = re.search(r"^  (\d+) no, only some of its commands", shown, re.M)
        assert found, shown
        return f"{found[1]}\n"

    typed = [(b"what to do instead: ", some), (b"touch one (y/n): ", b"y\n"), (b"touch two (y/n): ", b"n\n")]
    code, shown = at_terminal(home, typed, "run", "--model", "replay:s.yaml", "hi")
    assert (code, "asks    touch one" in shown, "asks    touch two" in shown) == (0, True, True)
    assert not (home.project / "one").exists()
    result = json.loads((home.project / "log.jsonl").read_text().splitlines()[1])["messages"][-1]
    assert result["is_error"]
    assert "touch two" in result["text"]
    assert "touch one" not in result["text"]
