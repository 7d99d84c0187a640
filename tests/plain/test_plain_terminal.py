"""Lines in and out: pipes, files, pastes at a terminal, foreign text."""

from __future__ import annotations

import asyncio
import io
import os
import pty
from pathlib import Path

from harness_tui.plain.terminal import LineTerminal


async def test_a_pipe_gives_its_lines_one_by_one_and_then_ends() -> None:
    reader, writer = os.pipe()
    terminal = LineTerminal(reader, io.StringIO())
    os.write(writer, "one\r\ntwo\n\nläst".encode())
    os.close(writer)
    try:
        assert [await terminal.read_line("> ") for _ in range(6)] == ["one", "two", "", "läst", None, None]
    finally:
        os.close(reader)


async def test_a_regular_file_is_read_too(tmp_path: Path) -> None:
    (tmp_path / "lines").write_text("one\ntwo\n")
    descriptor = os.open(tmp_path / "lines", os.O_RDONLY)
    try:
        terminal = LineTerminal(descriptor, io.StringIO())
        assert [await terminal.read_line("> ") for _ in range(3)] == ["one", "two", None]
    finally:
        os.close(descriptor)


async def test_lines_that_were_pasted_at_a_terminal_are_one_message() -> None:
    master, slave = pty.openpty()
    output = io.StringIO()
    terminal = LineTerminal(slave, output)
    try:
        os.write(master, b"one\ntwo\nthree\n")
        assert await terminal.read_line("> ") == "one\ntwo\nthree"
        typed = asyncio.ensure_future(terminal.read_line("> "))
        await asyncio.sleep(0)
        terminal.write("meanwhile")
        terminal.remind("> ")
        os.write(master, b"alone\n")
        assert await typed == "alone"
        assert output.getvalue() == "> > \nmeanwhile\n> "
        os.write(master, b"\x04")
        assert await terminal.read_line("") is None
    finally:
        os.close(master)
        os.close(slave)


def test_nothing_that_a_terminal_obeys_is_written() -> None:
    output = io.StringIO()
    reader, writer = os.pipe()
    try:
        LineTerminal(reader, output).write("a\x1b[2J\x1b]52;c;eA==\x07b\x9b31mc\u202ed\x08")
        assert output.getvalue() == "abcd\u2408\n"
    finally:
        os.close(reader)
        os.close(writer)


async def test_a_reader_that_went_away_ends_the_input(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    gone = io.StringIO()
    gone.close()
    terminal = LineTerminal(reader, gone)
    try:
        terminal.write("nobody hears this")
        assert await terminal.read_line("> ") is None
    finally:
        os.close(reader)
        os.close(writer)
