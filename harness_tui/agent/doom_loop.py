"""Notices that a model makes the same call again and again, so that a person is asked whether it should go on."""

from __future__ import annotations

import json

from harness_tui.core.limits import DOOM_LOOP_REPEATS
from harness_tui.core.messages import ToolCall


class RepeatGuard:
    """Counts calls in a row with the same tool and the same input."""

    def __init__(self) -> None:
        self._last = ""
        self._count = 0

    def is_repeated(self, call: ToolCall, *, polls: bool = False) -> bool:
        """Count ``call``; true when it is at least the third of its kind in a row.

        One that ``polls`` is never a repetition, and ends the row: what it asks about changes by itself.
        """
        if polls:
            self._last, self._count = "", 0
            return False
        key = f"{call.tool} {json.dumps(call.arguments, sort_keys=True, default=str)}"
        self._count = self._count + 1 if key == self._last else 1
        self._last = key
        return self._count >= DOOM_LOOP_REPEATS
