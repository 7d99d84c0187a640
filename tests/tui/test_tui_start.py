"""What the first frame costs in modules, and how the program leaves the terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness_tui.tui import run as run_module
from harness_tui.tui.run import prepare_process

ROOT = Path(__file__).parents[2]

FIRST_FRAME = """
import asyncio, sys
from pathlib import Path
from harness_tui.tui.app import HarnessApp
from harness_tui.tui.run import Options

class Held(HarnessApp):
    CSS_PATH = None

    def open_backend(self):
        print("|".join(sorted(sys.modules)))

async def main():
    app = Held(Path("/srv/project"), Options(), "nothing:here")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("h", "i")
        assert app.prompt.text == "hi"

asyncio.run(main())
"""

BACKEND = """
import contextlib, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from fakes.fake_backend import FakeBackend

class Marked(FakeBackend):
    async def close(self):
        await super().close()
        Path({mark!r}).write_text("closed")
        with contextlib.suppress(OSError):  # what a terminal that went away does not take stays in the buffer
            sys.__stderr__.write("words that are still to be written")

def create(start, options):
    return Marked()
"""

PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, {folder!r})
from harness_tui.tui.run import run
sys.exit(run(Path({folder!r}), backend="marked_backend:create"))
"""


def first_frame_modules(tmp_path: Path) -> set[str]:
    program = tmp_path / "first_frame.py"
    program.write_text(FIRST_FRAME)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.strip().split("|"))


def test_the_first_frame_needs_few_modules_and_none_of_the_heavy_ones(tmp_path: Path) -> None:
    modules = first_frame_modules(tmp_path)
    ours = {name for name in modules if name.split(".")[0] == "harness_tui"}
    assert len(ours) <= 25, sorted(ours)
    heavy = "click pydantic yaml watchfiles pygments markdown_it mcp httpx2 sqlite3 openai harness_tui.core.events"
    assert modules.isdisjoint(heavy.split())


class Terminal:
    """The program in a pty. ``output`` is everything that it wrote."""

    def __init__(self, folder: Path, *, setup: str = "") -> None:
        tests = str(ROOT / "tests")
        (folder / "marked_backend.py").write_text(BACKEND.format(tests=tests, mark=str(folder / "mark")))
        program = setup + PROGRAM.format(folder=str(folder))
        environment = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
        environment.pop("PYTHONUNBUFFERED", None)  # a person's Python buffers
        self.output = b""
        self.mark = folder / "mark"
        self._open = True
        self.pid, self._file = pty.fork()
        if self.pid == 0:
            for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
                signal.signal(number, signal.SIG_DFL)
            os.chdir(folder)
            os.execve(sys.executable, [sys.executable, "-c", program], environment)

    def read_until(self, text: bytes, seconds: float = 30.0) -> None:
        end = time.monotonic() + seconds
        while text not in self.output:
            if time.monotonic() > end:
                raise AssertionError(f"{text!r} did not come: {self.output[-2000:]!r}")
            self._drain(0.1)

    def _drain(self, seconds: float) -> None:
        if self._open and select.select([self._file], [], [], seconds)[0]:
            try:
                self.output += os.read(self._file, 65_536)
            except OSError:  # the other end is closed
                self.close_terminal()

    def send(self, data: bytes) -> None:
        os.write(self._file, data)

    def close_terminal(self) -> None:
        if self._open:
            self._open = False
            os.close(self._file)

    def wait(self, seconds: float = 20.0) -> int:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            self._drain(0.02)
            time.sleep(0.01)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        raise AssertionError(f"the program did not end: {self.output[-2000:]!r}")


@pytest.mark.e2e
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_restores_the_terminal_and_closes_the_backend(tmp_path: Path, number: signal.Signals) -> None:
    terminal = Terminal(tmp_path)
    terminal.read_until(b"idle")
    os.kill(terminal.pid, number)
    terminal.read_until(b"\x1b[?1049l")
    assert terminal.wait() == 128 + number
    assert terminal.mark.read_text() == "closed"
    terminal.close_terminal()


@pytest.mark.e2e
def test_a_terminal_that_goes_away_ends_the_program(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.read_until(b"idle")
    terminal.close_terminal()
    assert terminal.wait() == 128 + signal.SIGHUP
    assert terminal.mark.read_text() == "closed"


@pytest.mark.e2e
def test_what_is_typed_before_the_first_frame_is_kept(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.send(b"early words")
    terminal.read_until(b"idle")
    terminal.read_until(b"early words")
    terminal.output = b""
    terminal.send(b"\x15")
    terminal.read_until(b"? for help")  # the empty prompt's text
    terminal.send(b"/quit\r")
    assert terminal.wait() == 0
    assert terminal.mark.read_text() == "closed"
    terminal.close_terminal()


FAULTY = """
from harness_tui.tui import guard
from harness_tui.tui.prompt.field import PromptField

def fail(self, event):
    raise RuntimeError("seeded")

guard.FAULTS = 0
PromptField.handle_key_first = fail
"""


@pytest.mark.e2e
def test_an_unhandled_fault_restores_the_terminal_and_prints_a_short_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    terminal = Terminal(tmp_path, setup=FAULTY)
    terminal.read_until(b"idle")
    terminal.send(b"a")
    assert terminal.wait() == 1
    after = terminal.output.rpartition(b"\x1b[?1049l")[2].decode()
    assert "RuntimeError: seeded" in after
    assert "Traceback" not in after
    report = re.search(r"report: (\S+)", after)
    assert report is not None
    assert "seeded" in Path(report[1]).read_text()
    assert terminal.mark.read_text() == "closed"
    terminal.close_terminal()


def test_without_a_terminal_there_is_a_sentence_and_exit_code_2() -> None:
    program = "from pathlib import Path; from harness_tui.tui.run import run; raise SystemExit(run(Path('.')))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert done.stderr == (
        "harness: no terminal here; `harness chat` goes line by line, `harness run MESSAGE` needs nobody\n"
    )


@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_terminal_that_cannot_place_text_is_told_of_the_line_by_line_shell(
    term: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr(run_module, "_at_terminal", lambda: True)
    assert run_module.terminal_problem() == (
        "harness: TERM says that this terminal cannot place text; `harness chat` goes line by line"
    )


def test_a_thread_that_works_lets_a_key_through_within_a_millisecond(monkeypatch: pytest.MonkeyPatch) -> None:
    before = sys.getswitchinterval()
    monkeypatch.setenv("COLUMNS", "80")
    try:
        prepare_process()
        assert sys.getswitchinterval() == pytest.approx(0.001)
        assert "COLUMNS" not in os.environ
    finally:
        sys.setswitchinterval(before)
