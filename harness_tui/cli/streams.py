"""The three standard streams: their encoding, and what happens when nobody takes what is written.

Results are UTF-8 whatever the locale says; a lone surrogate (half a file name in another encoding) is written as
``\\udcff``, which in a JSON string stands for the same character.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys


class OutputError(Exception):
    """Results could not be written; ``cause`` says why."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(str(cause))
        self.cause = cause


def write_result(text: str, *, flush: bool = False) -> None:
    """Write to standard output. Raises ``OutputError``."""
    try:
        sys.stdout.write(text)
        if flush:
            sys.stdout.flush()
    except OSError as error:
        raise OutputError(error) from error


def write_notice(text: str) -> None:
    """Write to standard error. What nobody takes is dropped: a notice never ends the work that it tells of."""
    with contextlib.suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()


def use_utf8() -> None:
    """Write UTF-8, and read it with what is not UTF-8 replaced, whatever the locale says."""
    for stream, errors in ((sys.stdin, "replace"), (sys.stdout, "backslashreplace"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors)


def output_failed(error: OSError) -> int:
    """End writing results after ``error``, and return the exit code.

    A reader that went away (``| head``) is no error: 0. A full disk is one: it is told, 1.
    """
    discard_output()
    if isinstance(error, BrokenPipeError):
        return 0
    write_notice(f"harness: standard output: {error.strerror or error}\n")
    return 1


def discard_output() -> None:
    """Send what is still buffered for standard output, and all that follows, nowhere; else the exit fails on it."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
