"""Where a server works: the folder that it is started in, and the binary that is started.

One server serves one root. By default that is the outermost folder with a marker inside the project, so that a
repository of many packages gets one server and not one for each.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from harness_tui.children.lookup import find_binary
from harness_tui.core.errors import HarnessError
from harness_tui.core.paths import is_inside, resolve
from harness_tui.lsp.catalog import ServerSpec

LOOK_UP_AGAIN_S: Final = 30.0
_PROJECT_BINARIES: Final = (".venv/bin", "node_modules/.bin")


def root_for(spec: ServerSpec, path: Path, project: Path) -> Path:
    """Return the root of the server for ``path``, which lies inside ``project``; without a marker it is ``project``."""
    found = project
    folder = path.parent
    while True:
        if any((folder / marker).exists() for marker in spec.roots):
            found = folder
            if spec.root_rule == "nearest":
                break
        if folder in (project, folder.parent):
            break
        folder = folder.parent
    return found


def place_in_project(path: Path, project: Path) -> Path | None:
    """Return ``path`` spelled below ``project``, ``None`` when it lies outside.

    The given spelling is kept where it can be (servers are told the name that a person uses, not the target of a link);
    what it leads to decides whether it is inside.
    """
    absolute = Path(os.path.normpath(project / path))
    try:
        real, real_project = resolve(absolute, project), resolve(project, project)
    except HarnessError:
        return None  # a loop of links leads nowhere
    if not is_inside(real, real_project):
        return None
    return absolute if is_inside(absolute, project) else project / real.relative_to(real_project)


class Binaries:
    """Finds the command of a server, and remembers for a while what was found.

    ``mark_broken`` takes a binary out of service until the file changes: being on PATH is not enough (a launcher whose
    component is not installed is there and fails).
    """

    def __init__(
        self, project: Path, *, trusted: bool, environ: Mapping[str, str], monotonic: Callable[[], float]
    ) -> None:
        self._project = project
        self._trusted = trusted
        self._path = environ.get("PATH", os.defpath)
        self._monotonic = monotonic
        self._found: dict[tuple[str, ...], tuple[float, Path | None]] = {}
        self._broken: dict[Path, tuple[int, str]] = {}

    def find(self, spec: ServerSpec) -> tuple[str, ...] | None:
        """Return the arguments to start, the binary as an absolute path, or ``None``."""
        if not spec.command:
            return None
        now = self._monotonic()
        known = self._found.get(spec.command)
        if known is None or now - known[0] >= LOOK_UP_AGAIN_S:
            known = (now, self._look_up(spec.command[0]))
            self._found[spec.command] = known
        binary = known[1]
        if binary is None or self._why_broken(binary) is not None:
            return None
        return (str(binary), *spec.command[1:])

    def reason(self, spec: ServerSpec) -> str:
        """Say why :meth:`find` returned ``None``."""
        broken = self.broken(spec)
        if broken is not None:
            return broken
        return f"{spec.command[0]} was not found" if spec.command else "it has no command"

    def broken(self, spec: ServerSpec) -> str | None:
        """Return what is wrong with the binary that was found for ``spec``, ``None`` when nothing is known."""
        known = self._found.get(spec.command)
        return self._why_broken(known[1]) if known is not None and known[1] is not None else None

    def mark_broken(self, binary: Path, reason: str) -> None:
        """Remember that ``binary`` does not work, until it changes."""
        self._broken[binary] = (_changed_ns(binary), reason)

    def _why_broken(self, binary: Path) -> str | None:
        """Return why ``binary`` does not work, ``None`` when nothing is known against it."""
        entry = self._broken.get(binary)
        if entry is None:
            return None
        if entry[0] == _changed_ns(binary):
            return entry[1]
        del self._broken[binary]
        return None

    def forget(self) -> None:
        """Look everything up again."""
        self._found.clear()
        self._broken.clear()

    def _look_up(self, name: str) -> Path | None:
        folders = [self._project / folder for folder in _PROJECT_BINARIES] if self._trusted else []
        if "/" in name and self._trusted:
            folders.append(self._project)
        return find_binary(name, project_dirs=folders, path=self._path)


def _changed_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
