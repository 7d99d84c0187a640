"""Regular expressions that are compiled when they are first used.

Two hundred are named by the modules that a headless run imports, and a run uses some twenty of them: compiling all took
a seventh of its processor time.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _LatePattern:
    """Stands for a compiled pattern: its methods are those of the pattern, which is made with the first of them."""

    def __init__(self, source: str | bytes, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # copy and pickle ask for these before anything is set
            raise AttributeError(name)
        found = getattr(re.compile(self._source, self._flags), name)
        setattr(self, name, found)  # asked for once, from then on as quick as the pattern itself
        return found


def late_pattern(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what is used like ``re.compile(source, flags)``; a fault in ``source`` is raised by the first use.

    For names of modules only: what is made while the program works is compiled by ``re.compile``.
    """
    return cast("re.Pattern[AnyStr]", _LatePattern(source, flags))
