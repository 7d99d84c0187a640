"""``harness chat`` in a real terminal: one that can do nothing, and one that can edit a line."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from e2e_home import BIN, Home

pytestmark = pytest.mark.e2e

SCRIPT = """
turns:
  - {text: "Let me look.", tools: [{name: bash, arguments: {command: "echo made > out.txt"}}]}
  - {text: "All done, über."}
  - {text: "late", wait: never.flag}
"""


class Typist:
    """Types at a terminal and reads what stands there."""

    def __init__(self, master: int, process: subprocess.Popen[bytes]) -> None:
        self.master, self.process, self.seen = master, process, ""

    def expect(self, text: str, seconds: float = 30.0) -> None:
        end = time.monotonic() + seconds
        while text not in self.seen:
            assert time.monotonic() < end, f"{text!r} did not come: {self.seen[-600:]!r}"
            if select.select([self.master], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self.master, 65_536).decode("utf-8", "replace")
                except OSError:
                    assert text in self.seen, self.seen[-600:]

    def type(self, text: str) -> None:
        self.seen = ""
        os.write(self.master, text.encode())


def at_its_terminal() -> None:
    """Give the program the terminal, so that Ctrl+C reaches it however the line is read at that moment."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@contextmanager
def chatting(home: Home, term: str) -> Iterator[Typist]:
    home.write("play.yaml", SCRIPT)
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [BIN / "harness", "chat", "--model", "replay:play.yaml"],
        cwd=home.project,
        env=home.environ() | {"TERM": term},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=at_its_terminal,
    )
    os.close(slave)
    try:
        yield Typist(master, process)
        process.wait(timeout=20)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(master)


def test_a_dumb_terminal_gets_lines_and_nothing_else(home: Home) -> None:
    with chatting(home, "dumb") as typist:
        typist.expect("/help lists commands")
        everything = typist.seen
        typist.type("go\n")
        typist.expect("or what to do instead:")
        everything += typist.seen
        time.sleep(1.1)  # what comes sooner was typed before the question
        typist.type("1\n")
        typist.expect("All done, über.")
        typist.expect("(done)")
        everything += typist.seen
        typist.type("wait for it\n")
        time.sleep(0.5)  # what comes closer was pasted, and is one message
        typist.type("and this\n")
        typist.expect("(1 waiting, the last: and this)")
        os.kill(typist.process.pid, signal.SIGINT)
        typist.expect("(cancelled)")
        typist.expect("1-3, empty for none:")
        typist.type("1\n")
        typist.expect("(end of script)")
        typist.type("\x04")
        typist.process.wait(timeout=20)
    assert typist.process.returncode == 0
    assert (home.project / "out.txt").read_text() == "made\n"
    assert "\x1b" not in everything
    assert re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", everything) is None
    home.assert_nothing_left()


def test_a_capable_terminal_edits_the_line_and_completes(home: Home) -> None:
    home.write("notes.txt", "x")
    with chatting(home, "xterm-256color") as typist:
        typist.expect("/help lists commands")
        typist.type("/perm\t")
        typist.expect("/permissions")
        typist.type("\x15see @not\t")
        typist.expect("es.txt")
        typist.type("\x15go\r")
        typist.expect("or what to do instead:")
        typist.type("\x03")
        typist.expect("(refused)")
        typist.type("/quit\r")
        typist.process.wait(timeout=20)
    assert typist.process.returncode == 0
    assert "?1049h" not in typist.seen
    home.assert_nothing_left()
