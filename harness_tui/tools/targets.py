"""The path that a file tool is asked for: where it really is, what it is called, and what the gate must decide."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal

from harness_tui.core.errors import HarnessError, StalePreviewError, ToolError
from harness_tui.core.paths import is_inside, name_in, resolve
from harness_tui.core.record import record
from harness_tui.core.seams import Check, ToolContext
from harness_tui.core.text import cut_end

_SHOWN_CHARS: Final = 200


@record
class Target:
    """A path with its links resolved. ``name`` is relative to the root with ``/``, outside the root absolute.

    ``asked`` is the text that named it, to be resolved again before the effect.
    """

    asked: str
    path: Path
    name: str
    inside: bool

    def checks(self, permission: Literal["read", "edit"]) -> tuple[Check, ...]:
        """Return what the gate must decide before ``permission`` is used on this path."""
        checks = (Check(permission, self.name),)
        return checks if self.inside else (*checks, Check("external_directory", self.path.as_posix()))


def find_target(tool: str, asked: str, context: ToolContext) -> Target:
    """Return what ``asked`` names; relative paths start in the start folder. Raises ``ToolError``."""
    try:
        path, root = resolve(asked, context.cwd), context.root.resolve()
        check_nameable(path)
    except HarnessError as error:
        raise ToolError(error.what, where=f"{tool}: {cut_end(repr(asked), _SHOWN_CHARS)}", code="path") from error
    return Target(asked, path, name_in(path, root), is_inside(path, root))


def check_nameable(path: Path) -> None:
    """Raise ``HarnessError`` for a path that no file can have here: it, or a name in it, is too long."""
    try:
        path.lstat()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise HarnessError("the path, or a name in it, is too long for a file") from error


def check_unmoved(tool: str, target: Target, context: ToolContext) -> None:
    """Raise ``StalePreviewError`` when the path leads elsewhere than when it was decided on (a link was changed)."""
    if find_target(tool, target.asked, context).path != target.path:
        raise StalePreviewError("the path leads to another place now", where=target.name, mend="prepare the call again")


def shown_all(paths: Iterable[Path], context: ToolContext) -> list[str]:
    """Return resolved ``paths`` as a file tool takes them back: relative to the start folder, or absolute."""
    cwd = context.cwd.resolve()
    return [name_in(path, cwd) for path in paths]
