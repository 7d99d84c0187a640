"""What every verb shares: options, output, and one event loop that ends cleanly on a signal."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from harness_tui.cli.ending import end_at_signals
from harness_tui.cli.streams import write_notice, write_result
from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.text import clean_for_display

if TYPE_CHECKING:
    from harness_tui.config.problems import Problem

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


def root_option(function: F) -> F:
    """Add ``--root DIR``, passed as ``root: Path``."""
    return click.option(
        "--root",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        default=Path(),
        show_default="the current folder",
        help="Start in this folder.",
    )(function)


def json_option(function: F) -> F:
    """Add ``--json``, passed as ``as_json: bool``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def ask_option(function: F) -> F:
    """Add ``--ask refuse|allow|input``, passed as ``ask: str | None``."""
    return click.option(
        "--ask",
        type=click.Choice(["refuse", "allow", "input"]),
        default=None,
        help="What to do when a permission is needed [default: ask at a terminal, else refuse].",
    )(function)


def print_json(data: Any) -> None:
    """Print ``data`` as one JSON value."""
    write_result(json.dumps(data, ensure_ascii=False, indent=2) + "\n")


def print_line(text: str) -> None:
    """Print one line of results, made safe for a terminal."""
    write_result(clean_for_display(text) + "\n")


def warn(text: str) -> None:
    """Print a notice to standard error, made safe for a terminal."""
    write_notice(f"harness: {clean_for_display(text)}\n")


def warn_problems(problems: Iterable[Problem]) -> None:
    """Tell faults in files on standard error, each with its place; the verb goes on."""
    for problem in problems:
        warn(str(problem))


def print_table(rows: list[dict[str, Any]], columns: list[str]) -> None:
    """Print rows as aligned columns with a head line; the last column may run on."""
    cells = [[clean_for_display(_cell(row.get(column)), one_line=True) for column in columns] for row in rows]
    widths = [max([len(column), *(len(line[index]) for line in cells)]) for index, column in enumerate(columns)]
    for line in [[column.upper() for column in columns], *cells]:
        padded = [text.ljust(width) for text, width in zip(line, widths, strict=True)]
        write_result("  ".join(padded).rstrip() + "\n")


def _cell(value: Any) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case list() | tuple():
            return ", ".join(str(item) for item in value)
        case _:
            return str(value)


def fail(error: HarnessError) -> NoReturn:
    """End the verb with ``error``: its text on standard error, the exit code of its class."""
    raise error


def json_argument(text: str) -> dict[str, Any]:
    """Read an argument that is a JSON object; ``-`` is standard input. Raises ``UsageError``."""
    try:
        source = sys.stdin.buffer.read().decode("utf-8-sig") if text == "-" else text
        data = json.loads(source.strip() or "{}")
    except UnicodeDecodeError as error:
        raise UsageError(f"the arguments are not UTF-8: {error.reason}", where="standard input") from error
    except (ValueError, RecursionError) as error:  # malformed, too deep, or a number too long
        raise UsageError(
            f"the arguments are not JSON: {error}", mend='write an object such as {"path": "a.py"}'
        ) from error
    if not isinstance(data, dict):
        raise UsageError("the arguments are not a JSON object", mend='write an object such as {"path": "a.py"}')
    return data


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run ``work`` on a new event loop; SIGINT, SIGTERM and SIGHUP cancel it, so that its clean-up runs.

    A run that was interrupted raises ``KeyboardInterrupt`` (exit code 130). Under ``nohup`` a hangup stays ignored.
    """
    ending = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        ending.append(signal.SIGHUP)

    async def guarded() -> T:
        task = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()
        hit: list[int] = []

        def stop(number: int) -> None:
            hit.append(number)
            task.cancel()

        for number in ending:
            loop.add_signal_handler(number, stop, number)
        try:
            return await task
        except asyncio.CancelledError:
            if hit:
                raise KeyboardInterrupt from None
            raise
        finally:
            for number in ending:
                loop.remove_signal_handler(number)
            end_at_signals()

    return asyncio.run(guarded())
