"""What a project's ``.gitignore`` files leave out, for a single folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import CONFIG_BYTES
from harness_tui.core.paths import is_inside, read_regular

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


class IgnoreRules:
    """The ``.gitignore`` files from ``root`` down to ``folder``, and ``.git/info/exclude``; a deeper one counts more.

    Both must be resolved. Outside the root nothing is ignored. Blocks.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self._folder = folder
        self._rules: list[tuple[str, GitIgnoreSpec]] = []
        if not is_inside(folder, root):
            return
        folders = [parent for parent in reversed(folder.parents) if is_inside(parent, root)] + [folder]
        self._add(root, root / ".git" / "info" / "exclude")
        for each in folders:
            self._add(each, each / ".gitignore")

    def ignores(self, name: str, *, is_folder: bool) -> bool:
        """Tell whether the entry ``name`` of the folder is left out."""
        ignored = name == ".git"
        for above, spec in self._rules:
            include = spec.check_file(above + name + ("/" if is_folder else "")).include
            ignored = ignored if include is None else include
        return ignored

    def _add(self, base: Path, file: Path) -> None:
        try:
            lines = read_regular(file, max_bytes=CONFIG_BYTES).decode("utf-8", "replace").splitlines()
        except HarnessError:  # none there, or nothing that could be obeyed
            return
        above = self._folder.relative_to(base).as_posix()
        self._rules.append(("" if above == "." else f"{above}/", _spec_of(lines)))


def _spec_of(lines: Sequence[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:  # one pattern is none: the others still count
        return GitIgnoreSpec.from_lines([line for line in lines if _is_pattern(line)])


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
