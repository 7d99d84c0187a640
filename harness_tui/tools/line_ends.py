"""A text with all its line ends as ``\\n``, and the way back: what is put into a text gets the ends of the lines there.

Nearly every text has one kind of line end, and a file of megabytes has hundreds of thousands of lines: only where ends
are mixed is each of them looked up.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property

from harness_tui.tools.text_file import LINE_END, normal_ends, uniform_line_end, with_line_end


class LineEnds:
    """A text (``raw``) and the same with all its line ends as ``\\n`` (``normal``)."""

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self.normal = normal_ends(raw)
        self._only = "\n" if self.normal is raw else uniform_line_end(raw)

    def replace_all(self, old: str, new: str) -> tuple[str, int] | None:
        """Return ``raw`` with each ``old`` of ``normal`` replaced, and their number; ``None`` where ends are mixed."""
        if self._only is None:
            return None
        wanted = with_line_end(old, self._only)
        return self.raw.replace(wanted, with_line_end(new, self._only)), self.raw.count(wanted)

    def replace(self, start: int, end: int, new: str) -> str:
        """Return ``raw`` with ``normal[start:end]`` replaced by ``new``.

        The line ends of ``new`` become those of the lines that they stand for; further ones follow the last of these,
        or the nearest line before, or the next one.
        """
        low, high = self.raw_span(start, end)
        return self.raw[:low] + self.fitted(start, end, new) + self.raw[high:]

    def fitted(self, start: int, end: int, new: str) -> str:
        """Return ``new`` with the line ends that :meth:`replace` gives it in the place of ``normal[start:end]``."""
        if self._only is not None:
            return with_line_end(new, self._only)
        first, last = bisect_left(self._places, start), bisect_left(self._places, end)
        old_ends = self._ends[first:last]
        spare = old_ends[-1] if old_ends else self._ends[first - 1] if first else self._ends[0]
        pieces = LINE_END.split(new)
        ends = [*old_ends[: len(pieces) - 1], *[spare] * (len(pieces) - 1 - len(old_ends)), ""]
        return "".join(piece + end for piece, end in zip(pieces, ends, strict=True))

    def raw_span(self, start: int, end: int) -> tuple[int, int]:
        """Return where ``normal[start:end]`` lies in ``raw``."""
        if self._only is None:
            return start + bisect_left(self._wide, start), end + bisect_left(self._wide, end)
        wider = len(self._only) - 1
        above = self.normal.count("\n", 0, start) * wider
        return start + above, end + above + self.normal.count("\n", start, end) * wider

    def line_of(self, index: int) -> int:
        """Return the number, from 1, of the line that holds ``normal[index]``."""
        return self.normal.count("\n", 0, index) + 1

    @cached_property
    def _ends(self) -> list[str]:
        return LINE_END.findall(self.raw)

    @cached_property
    def _places(self) -> list[int]:
        return [match.start() for match in re.finditer("\n", self.normal)]

    @cached_property
    def _wide(self) -> list[int]:
        return [place for place, end in zip(self._places, self._ends, strict=True) if end == "\r\n"]
