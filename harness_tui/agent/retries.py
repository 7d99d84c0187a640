"""Which failures of a model are tried again, how often, and how long after."""

from __future__ import annotations

from typing import Final

from harness_tui.core.seams import ModelError

RETRIED: Final = frozenset({"rate_limit", "overloaded", "connection", "timeout", "server", "silence", "cut"})
ATTEMPTS: Final = 4
LONGEST_WAIT_S: Final = 15 * 60.0
"""Whoever asks for more time than this is not waited for: the error says it, and a person decides."""


def tried_again(error: ModelError, attempt: int) -> bool:
    """Tell whether a request that failed at its ``attempt`` (from 1) is made again."""
    return error.kind in RETRIED and attempt < ATTEMPTS and (error.retry_after or 0.0) <= LONGEST_WAIT_S


def wait_after(error: ModelError, attempt: int) -> float:
    """Return the seconds until the next attempt: what the provider asks for, else twice as long each time."""
    return error.retry_after if error.retry_after is not None else 0.5 * 2 ** (attempt - 1)
