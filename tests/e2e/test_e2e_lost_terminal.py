"""A terminal that goes away without a signal: no controlling terminal, or a launcher that ignores SIGHUP."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable

import pytest
from e2e_home import BIN, Home

pytestmark = pytest.mark.e2e


def ignore_hangups() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


@pytest.mark.parametrize("launcher", [None, ignore_hangups], ids=["no controlling terminal", "SIGHUP ignored"])
def test_the_shell_ends_when_its_terminal_is_gone(home: Home, launcher: Callable[[], None] | None) -> None:
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    process = subprocess.Popen(
        [sys.executable, BIN / "harness"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=home.project,
        env=home.environ(),
        start_new_session=True,
        preexec_fn=launcher,
    )
    os.close(slave)
    try:
        wait_for_prompt(master)
        os.close(master)
        assert process.wait(timeout=15) == 128 + signal.SIGHUP
    finally:
        process.kill()
        process.wait()


def wait_for_prompt(master: int) -> None:
    os.set_blocking(master, False)
    drawn = b""
    end = time.monotonic() + 30
    while b"offline" not in drawn and time.monotonic() < end:
        try:
            drawn += os.read(master, 65536)
        except BlockingIOError:
            time.sleep(0.05)
    assert b"offline" in drawn
