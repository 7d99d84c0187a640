"""A program in a real pseudo-terminal, with a screen that answers queries as a terminal does.

For the benches, the screenshots and the end-to-end tests. Needs Linux and pyte. Every process started here carries a
random mark in its environment, so that leftovers can be found, whatever session they moved to.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyte

MARK = "HARNESS_TEST_MARK"

_TOKEN = re.compile(
    rb"\x1b[\]PX^_].*?(?:\x07|\x1b\\)"
    rb"|\x1b\[[\x30-\x3f]*[\x20-\x2f]*[\x40-\x7e]"
    rb"|\x1b[\x20-\x2f]+[\x30-\x7e]"
    rb"|\x1b[\x30-\x4f\x51-\x57\x59\x5a\x5c\x60-\x7e]"
    rb"|[^\x1b]+",
    re.S,
)


class Screen:
    """A pyte screen that replies to device, mode, keyboard, colour and size queries.

    ``modes`` are the private modes that were touched, ``keyboard`` how many settings of the kitty protocol are pushed.
    With ``in_band`` it is one of the terminals that report their size in the stream.
    """

    def __init__(self, columns: int, rows: int, *, in_band: bool = False) -> None:
        self.in_band = in_band
        self.keyboard = 0
        self.pyte = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.pyte)
        self._rest = b""
        self.modes: dict[str, bool] = {}
        self._text: str | None = None

    def feed(self, data: bytes) -> bytes:
        """Draw ``data`` and return what the terminal sends back."""
        self._text = None
        buffer, replies, position = self._rest + data, b"", 0
        while position < len(buffer):
            match = _TOKEN.match(buffer, position)
            if match is None:
                break
            token, position = match.group(), match.end()
            self._note_mode(token)
            reply = self._reply(token)
            if reply is not None:
                replies += reply
            elif _drawable(token):
                with contextlib.suppress(Exception):  # pyte does not know every private sequence
                    self._stream.feed(token)
        self._rest = buffer[position:]
        return replies

    def _note_mode(self, token: bytes) -> None:
        match = re.fullmatch(rb"\x1b\[\?([\d;]+)([hl])", token)
        if match:
            for mode in match[1].decode().split(";"):
                self.modes[mode] = match[2] == b"h"
        elif re.fullmatch(rb"\x1b\[[<>]\d*u", token):
            self.keyboard += 1 if token[2:3] == b">" else -1

    def _reply(self, token: bytes) -> bytes | None:
        if token[:2] == b"\x1b[":
            return self._reply_control(token[2:-1], token[-1:])
        match = re.match(rb"\x1b\](1[0-2]);\?", token)
        if match:
            colour = b"1e1e/1e1e/1e1e" if match[1] == b"11" else b"d0d0/d0d0/d0d0"
            return b"\x1b]" + match[1] + b";rgb:" + colour + b"\x1b\\"
        return b"\x1bP0+r\x1b\\" if token[:4] == b"\x1bP+q" else None

    def _reply_control(self, body: bytes, final: bytes) -> bytes | None:
        if final == b"c":
            return b"\x1b[?62;22c" if body in (b"", b"0") else b"\x1b[>1;10;0c" if body[:1] == b">" else b""
        if final == b"n" and body == b"6":
            return b"\x1b[%d;%dR" % (self.pyte.cursor.y + 1, self.pyte.cursor.x + 1)
        if final == b"n" and body == b"5":
            return b"\x1b[0n"
        if final == b"p" and body[:1] == b"?" and body[-1:] == b"$":
            known = body[1:-1] in (b"2026", b"2004", b"1004", b"25", b"1049") or (
                self.in_band and body[1:-1] == b"2048"
            )
            return b"\x1b[?" + body[1:-1] + (b";2$y" if known else b";0$y")
        if final == b"u" and body == b"?":
            return b"\x1b[?0u"
        if final == b"q" and body[:1] == b">":
            return b"\x1bP>|bench(1)\x1b\\"
        return None

    def text(self) -> str:
        """Return the screen as lines without trailing blanks."""
        if self._text is None:  # asked fifty times a second while one waits
            columns, rows, buffer = range(self.pyte.columns), range(self.pyte.lines), self.pyte.buffer
            self._text = "\n".join("".join([buffer[y][x].data for x in columns]).rstrip() for y in rows)
        return self._text

    def resize(self, columns: int, rows: int) -> None:
        """Take another size, as it is drawn next."""
        self._text = None
        self.pyte.resize(rows, columns)


def _drawable(token: bytes) -> bool:
    if token[:1] != b"\x1b":
        return True
    if token[1:2] in b"]PX^_":
        return False
    return not (token[1:2] == b"[" and (token[2:3] in b"><=" or token[-1:] in b"uqpy"))


class Terminal:
    """One program on one pseudo-terminal."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        columns: int = 120,
        rows: int = 40,
        in_band: bool = False,
    ) -> None:
        self.screen = Screen(columns, rows, in_band=in_band)
        self.mark = uuid.uuid4().hex
        self.bytes_out = 0
        self.recorded = bytearray()
        self.first_byte: float | None = None
        self.ended = False
        self._closed = False
        self._master, slave = pty.openpty()
        self.resize(columns, rows, tell=False)
        attributes = termios.tcgetattr(slave)
        attributes[3] &= ~termios.ECHO
        termios.tcsetattr(slave, termios.TCSANOW, attributes)

        def child() -> None:
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        base = {
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "LANG": "C.UTF-8",
            "SHELL": "/bin/sh",
            MARK: self.mark,
        }
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            list(argv), stdin=slave, stdout=slave, stderr=slave, cwd=cwd, env=base | dict(env), preexec_fn=child
        )
        self._slave = slave
        os.set_blocking(self._master, False)

    def resize(self, columns: int, rows: int, *, tell: bool = True) -> None:
        """Give the terminal another size."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, columns * 10, rows * 20))
        if tell:
            self.screen.resize(columns, rows)

    def attributes(self) -> list[object]:
        """Return the line discipline's settings, to compare before and after."""
        return termios.tcgetattr(self._slave)

    def send(self, text: str | bytes) -> None:
        """Type ``text``."""
        data = text.encode() if isinstance(text, str) else text
        while data:
            try:
                data = data[os.write(self._master, data) :]
            except BlockingIOError:
                select.select([], [self._master], [], 0.05)
            except OSError:
                return

    def pump(self, until: Callable[[], bool], timeout: float) -> float | None:
        """Read and draw until ``until()`` holds; return when it did, or ``None``."""
        end = time.perf_counter() + timeout
        while True:
            now = time.perf_counter()
            if until():
                return now
            if now >= end or self.ended:
                return None
            ready, _, _ = select.select([self._master], [], [], min(0.02, end - now))
            if ready:
                self._read()
            elif self.process.poll() is not None:
                self.ended = True

    def _read(self) -> None:
        try:
            data = os.read(self._master, 1 << 16)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EINTR):
                return
            data = b""
        if not data:
            self.ended = True
            return
        if self.first_byte is None:
            self.first_byte = time.perf_counter()
        self.bytes_out += len(data)
        if len(self.recorded) < 64 * 1024 * 1024:
            self.recorded += data
        reply = self.screen.feed(data)
        if reply:
            self.send(reply)

    def text(self) -> str:
        """Return what is on the screen."""
        return self.screen.text()

    def wait_for(self, text: str, timeout: float = 20.0) -> float:
        """Wait until ``text`` is on the screen and return when. Raises ``AssertionError`` that shows the screen."""
        at = self.pump(lambda: text in self.text(), timeout)
        if at is None:
            raise AssertionError(f"{text!r} did not come within {timeout} s; the screen is:\n{self.text()}")
        return at

    def settle(self, seconds: float = 0.3) -> None:
        """Draw whatever comes for ``seconds``."""
        self.pump(lambda: False, seconds)

    def wait_exit(self, timeout: float = 10.0) -> int | None:
        """Draw until the program has ended; return its exit status."""
        self.pump(lambda: self.process.poll() is not None, timeout)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.process.wait(timeout=0.1 if self.process.poll() is None else 1)
        return None

    def hang_up(self) -> None:
        """Close the terminal window; once, because the numbers of its descriptors go to others afterwards."""
        if not self._closed:
            self._closed = self.ended = True
            os.close(self._slave)
            os.close(self._master)

    def leftovers(self) -> list[int]:
        """Return the processes that carry this run's mark."""
        want = f"{MARK}={self.mark}".encode()
        found: list[int] = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit() or int(entry) == os.getpid():
                continue
            with contextlib.suppress(OSError):
                if want in Path("/proc", entry, "environ").read_bytes().split(b"\0"):
                    found.append(int(entry))
        return found

    def close(self) -> None:
        """End the program and whatever carries its mark, by process id."""
        self.hang_up()
        deadline = time.perf_counter() + 5
        while self.process.poll() is None and time.perf_counter() < deadline:
            time.sleep(0.02)
        for pid in self.leftovers():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=2)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def memory(pid: int) -> tuple[int, int]:
    """Return RSS and PSS in bytes of a process and its descendants."""
    import psutil

    rss = pss = 0
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        for one in [process, *process.children(recursive=True)]:
            with contextlib.suppress(psutil.Error):
                info = one.memory_full_info()
                rss += info.rss
                pss += info.pss
    return rss, pss


def cpu_seconds(pid: int) -> float:
    """Return user and system time of a process and its descendants, the ended ones included."""
    import psutil

    total = 0.0
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        for one in [process, *process.children(recursive=True)]:
            with contextlib.suppress(psutil.Error):
                times = one.cpu_times()
                total += times.user + times.system + times.children_user + times.children_system
    return total
