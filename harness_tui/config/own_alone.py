"""What a person's own files say alone, and no file of a project: how new sessions ask, how much room sessions take,
what keys do.

A folder that somebody opens, trusted or not, has no say in these: the mode of a new session would widen what runs
unasked in every later one, and the limits decide which of a person's sessions are removed.
"""

from __future__ import annotations

from typing import Any

from harness_tui.config.fragment import Keys

_ASKED: str = "set it in your own config.yaml: it decides what new sessions do without asking"
_SHOWN: str = "set it in your own config.yaml: it decides what your keys do and what your screen shows"
_REMOVED: str = "set it in your own config.yaml: it decides which of your sessions are removed"


def why_own_alone(keys: Keys, value: Any) -> str | None:
    """Return how to mend it that ``keys`` stand in a project with ``value``; ``None`` where they may."""
    match keys:
        case ("mode",):
            return _ASKED
        case ("agents", _, "start_mode") if value == "accept-edits":
            return _ASKED
        case ("sessions", "total_mb" | "session_mb"):
            return _REMOVED
        case ("tui", *_):
            return _SHOWN
        case _:
            return None
