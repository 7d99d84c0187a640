"""Hostile text in a real terminal: every row stays where the program put it, and nothing of it is obeyed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from terminal import Terminal

TESTS = Path(__file__).parents[1]
PROGRAM = """
import random, sys
from pathlib import Path
sys.path[:0] = [{tests!r}]
from fakes.fake_backend import FakeBackend, FakeSession
from fakes.hostile import PIECES, hostile_events
from harness_tui.core import events as ev
from harness_tui.tui.run import run

def create(start, options):
    session = FakeSession("ses_1")
    rng = random.Random(7)
    narrow = [piece for piece in PIECES if piece.isascii() or 0x80 <= ord(piece[0]) < 0xA0]
    session.stream.listen(lambda _: None)
    for event in hostile_events(lambda: "".join(rng.choices(narrow, k=9))):
        session.publish(event, run="run_1")
    session.publish(ev.Notice("info", "", "all of it came"))
    return FakeBackend(prepared={{"start": session}})

if __name__ == "__main__":
    sys.modules["hostile_program"] = sys.modules["__main__"]
    sys.exit(run(Path({folder!r}), backend="hostile_program:create"))
"""


def test_in_a_terminal_hostile_text_leaves_every_row_where_the_program_put_it(tmp_path: Path) -> None:
    program = tmp_path / "hostile_program.py"
    program.write_text(PROGRAM.format(tests=str(TESTS), folder=str(tmp_path)))
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    with Terminal([sys.executable, str(program)], cwd=tmp_path, env=environment, columns=100, rows=30) as terminal:
        terminal.wait_for("all of it came")
        terminal.settle(0.2)
        terminal.send("still here")
        terminal.wait_for("│ still here")
        rows = terminal.text().split("\n")
        assert (rows[26][:2], rows[27][:12], rows[28][:2]) == ("╭─", "│ still here", "╰─")
        assert any("all of it came" in row for row in rows[20:26])
        for _ in range(6):  # back through all of it, a page at a time
            terminal.send("\x1b[5~")
            terminal.settle(0.1)
            rows = terminal.text().split("\n")
            assert (rows[26][:2], rows[27][:12], rows[28][:2]) == ("╭─", "│ still here", "╰─")
        written = bytes(terminal.recorded)
    for forbidden in (b"]0;pwned", b"]52;", b"cHduZWQ", b"\x9b2J", b"\x1bPq", b"\x07\x07", b"\x1b[10A"):
        assert forbidden not in written
    assert b"\x1b[?1049l" not in written[: written.rindex(b"still here")]
