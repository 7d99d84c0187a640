"""Whether a rule fits a check: the pattern forms of paths, and the stricter reading of rules that hold back.

A rule that allows must fit exactly as written. One that asks or denies is also read the way an attacker would hope it
is not: through links in its folder, and without regard to case where the file system has none.
"""

from __future__ import annotations

import os
import sys
import unicodedata
from pathlib import Path
from typing import Final

from harness_tui.core.patterns import escape, first_wildcard, matches, unescaped
from harness_tui.core.record import record
from harness_tui.core.seams import Check
from harness_tui.core.values import Rule

PATH_PERMISSIONS: Final = frozenset({"read", "edit", "external_directory"})
"""Permissions whose value is a resolved path: relative to the root with ``/``, outside the root absolute."""


@record
class PathValue:
    """A path as patterns see it. ``relative`` is ``None`` outside the root."""

    absolute: str
    relative: str | None

    @property
    def text(self) -> str:
        """The value that patterns are matched against."""
        return self.absolute if self.relative is None else self.relative


@record
class Matcher:
    """Fits rules to checks for one project. ``root`` and ``home`` are resolved folders.

    ``fold_case`` makes rules that hold back ignore case, for file systems that do.
    """

    root: Path
    home: Path
    fold_case: bool = sys.platform == "darwin"

    def path_value(self, value: str) -> PathValue:
        """Read a check's value. Raises ``ValueError`` for one that is not a resolved path."""
        if not value or "\x00" in value or ".." in value.split("/"):
            raise ValueError(f"not a resolved path: {value!r}")
        root = self.root.as_posix().rstrip("/")
        if not value.startswith("/"):
            return PathValue(root if value == "." else f"{root}/{value}", value)
        if value == (root or "/"):
            return PathValue(value, ".")
        if value.startswith(f"{root}/"):
            return PathValue(value, value[len(root) + 1 :])
        return PathValue(value, None)

    def fits(self, rule: Rule, check: Check) -> bool:
        """Tell whether ``rule`` has a say on ``check``."""
        return rule.permission == check.permission and self.fits_value(rule, check.value)

    def fits_value(self, rule: Rule, value: str) -> bool:
        """Tell whether the pattern of ``rule`` fits ``value``, a value of the rule's own permission."""
        if rule.permission not in PATH_PERMISSIONS:
            return matches(rule.pattern, value)
        path = self.path_value(value)
        if self._fits_path(rule.pattern, path):
            return True
        return rule.action != "allow" and self._fits_path_strictly(rule.pattern, path)

    def _fits_path(self, pattern: str, path: PathValue) -> bool:
        if pattern.startswith("/"):
            return matches(pattern, path.absolute)
        if pattern == "~" or pattern.startswith("~/"):
            return matches(escape(self.home.as_posix().rstrip("/")) + pattern[1:], path.absolute)
        if matches(pattern, path.text):
            return True
        return "/" not in pattern and matches(pattern, path.text.rpartition("/")[2])

    def _fits_path_strictly(self, pattern: str, path: PathValue) -> bool:
        real = self._through_links(pattern)
        if real is not None and matches(real, path.absolute):
            return True
        if not self.fold_case:
            return False
        relative = None if path.relative is None else folded(path.relative)
        same = Matcher(Path(folded(self.root.as_posix())), Path(folded(self.home.as_posix())), fold_case=False)
        return same._fits_path(folded(real or pattern), PathValue(folded(path.absolute), relative))

    def _through_links(self, pattern: str) -> str | None:
        """Return ``pattern`` with the links of its literal folder resolved; ``None`` when nothing changes."""
        if pattern == "~" or pattern.startswith("~/"):
            pattern = escape(self.home.as_posix()) + pattern[1:]
        whole = pattern if pattern.startswith("/") else f"{escape(self.root.as_posix())}/{pattern}"
        wild = first_wildcard(whole)
        head = whole if wild == len(whole) else whole[: whole.rfind("/", 0, wild) + 1]
        bare = head.rstrip("/")
        literal = unescaped(bare) or "/"
        real = os.path.realpath(literal)
        if real == literal:
            return None
        return escape(real) + whole[len(bare) :]


def folded(text: str) -> str:
    """Return ``text`` as a file system without case compares it."""
    return unicodedata.normalize("NFC", text).casefold()
