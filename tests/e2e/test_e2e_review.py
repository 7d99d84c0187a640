"""A proposal that is altered by keys in a real terminal: a part taken out, the rest edited, written, and undone."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from e2e_home import BIN, Home
from terminal import Terminal

pytestmark = pytest.mark.e2e

EDITOR = """\
    #!/bin/sh
    sed -i 's/EIGHTEEN/eighteen/' "$1"
"""
TEXT = "".join(f"line {number}\n" for number in range(1, 21))
EDITS = [{"old": "line 2\n", "new": "TWO\n"}, {"old": "line 18\n", "new": "EIGHTEEN\n"}]
PLAY = {
    "log": "requests.jsonl",
    "turns": [
        {"tools": [{"name": "read", "arguments": {"path": "a.txt"}}]},
        {"tools": [{"name": "edit", "arguments": {"path": "a.txt", "edits": EDITS}}]},
        {"text": "It is edited."},
    ],
}


@pytest.fixture
def shell(home: Home) -> Iterator[Terminal]:
    editor = home.write("bin/ed-by-sed", EDITOR, base=home.folder)
    editor.chmod(0o755)
    home.write("a.txt", TEXT)
    home.write("play.yaml", json.dumps(PLAY))
    home.variables["EDITOR"] = str(editor)
    argv = [str(BIN / "harness"), "--model", "replay:play.yaml"]
    terminal = Terminal(argv, cwd=home.project, env=home.environ(), columns=100, rows=30)
    terminal.mark = home.mark
    yield terminal
    terminal.close()


def test_what_a_person_made_of_a_proposal_is_written_told_and_undone(home: Home, shell: Terminal) -> None:
    file = home.project / "a.txt"
    shell.wait_for("● idle")
    shell.send("go\r")
    shell.settle(0.3)
    shell.send("\r")
    shell.wait_for("v review")
    shell.send("v")
    shell.wait_for("[x] part 1 of 2")
    shell.send(" ")
    shell.wait_for("1 of 2 parts")
    shell.send("e")
    shell.wait_for("1 file edited")
    shell.send("y")
    shell.wait_for("It is edited.")
    assert file.read_text() == TEXT.replace("line 18\n", "eighteen\n")
    told = json.loads((home.project / "requests.jsonl").read_text().splitlines()[-1])["messages"][-1]["text"]
    assert "The person changed your proposal before they allowed it" in told
    assert "-TWO\n+line 2" in told
    assert "-EIGHTEEN\n+eighteen" in told
    shell.send("\x1bOQ")  # F2
    shell.wait_for("Diagnostics")
    shell.send("\x1b[C\x1b[C\x1b[C")
    shell.wait_for("M a.txt")
    shell.send("u")
    shell.wait_for("u again: undo the last message, 1 file")
    shell.send("u")
    shell.wait_for("taken back")
    assert shell.pump(lambda: "M a.txt" not in shell.text(), 10.0), "what was undone is still listed"
    assert file.read_text() == TEXT
    shell.send("\x11")  # Ctrl+Q
    assert shell.wait_exit() == 0
