"""Where a server works: the folder that it is started in, and the binary that is started.

One server serves one root. By default that is the outermost folder with a marker inside the project, so that a
repository of many packages gets one server and not one for each.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from harness_tui.children.lookup import find_binary
from harness_tui.core.errors import HarnessError
from harness_tui.core.paths import is_inside, resolve
from harness_tui.core.record import record
from harness_tui.lsp.spec import ServerSpec
from harness_tui.lsp.typescript import NATIVE_SINCE, TypeScript, find_typescript

LOOK_UP_AGAIN_S: Final = 30.0
_PROJECT_BINARIES: Final = (".venv/bin", "node_modules/.bin")


def root_for(spec: ServerSpec, path: Path, project: Path) -> Path | None:
    """Return the root of the server for ``path``, which lies inside ``project``.

    Without a marker it is ``project``, or ``None`` for a server that only serves folders with one.
    """
    found: Path | None = None
    folder = path.parent
    while True:
        if any(_has(folder, marker) for marker in spec.roots):
            found = folder
            if spec.root_rule == "nearest":
                break
        if folder in (project, folder.parent):
            break
        folder = folder.parent
    return project if found is None and not spec.only_with_root else found


def _has(folder: Path, marker: str) -> bool:
    if "*" not in marker:
        return (folder / marker).exists()
    try:
        return next(folder.glob(marker), None) is not None
    except OSError:
        return False  # a folder that may not be read holds no marker for us


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


@record
class Placed:
    """What a server is started with: the binary as an absolute path and its arguments, and what it is told first."""

    argv: tuple[str, ...]
    initialization: dict[str, Any]


@record
class _Found:
    at: float
    placed: Placed | None
    reason: str


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
        self._found: dict[tuple[str, Path], _Found] = {}
        self._broken: dict[Path, tuple[int, str]] = {}

    def find(self, spec: ServerSpec, root: Path) -> Placed | None:
        """Return what to start for ``root``, or ``None``: :meth:`reason` says why."""
        placed = self._known(spec, root).placed
        return placed if placed is not None and self._why_broken(Path(placed.argv[0])) is None else None

    def reason(self, spec: ServerSpec, root: Path) -> str:
        """Say why :meth:`find` returned ``None``."""
        return self.broken(spec, root) or self._known(spec, root).reason

    def broken(self, spec: ServerSpec, root: Path) -> str | None:
        """Return what is wrong with the program that was found for ``spec``, ``None`` when nothing is known.

        A program that is there and of no use here counts: one that it needs is missing, or it is of another kind.
        """
        known = self._known(spec, root)
        if known.placed is not None:
            return self._why_broken(Path(known.placed.argv[0]))
        return known.reason if self._look_up(spec.command[0] if spec.command else "") is not None else None

    def _known(self, spec: ServerSpec, root: Path) -> _Found:
        now = self._monotonic()
        known = self._found.get((spec.name, root))
        if known is None or now - known.at >= LOOK_UP_AGAIN_S:
            found = self._find(spec, root)
            known = _Found(now, None, found) if isinstance(found, str) else _Found(now, found, "")
            self._found[spec.name, root] = known
        return known

    def _find(self, spec: ServerSpec, root: Path) -> Placed | str:
        if not spec.command:
            return "it has no command"
        if spec.typescript is not None:
            return self._find_typescript(spec, root)
        binary = self._look_up(spec.command[0])
        if binary is None:
            return f"{spec.command[0]} was not found"
        for need in spec.needs:
            if self._look_up(need.program) is None:
                return f"{need.program}, {need.why}, was not found"
        return Placed((str(binary), *spec.command[1:]), spec.initialization)

    def _find_typescript(self, spec: ServerSpec, root: Path) -> Placed | str:
        name = spec.command[0]
        found = find_typescript(root, self._project, trusted=self._trusted, path=self._path, beside=name)
        if found is None:
            return "the package typescript was not found"
        if found.is_native != (spec.typescript == "native"):
            wants = f"{NATIVE_SINCE} or newer" if spec.typescript == "native" else f"older than {NATIVE_SINCE}"
            return f"it works with TypeScript {wants}, and {found.folder} is {found.version}"
        if spec.typescript == "native":
            if (compiler := found.compiler) is None:
                return f"{found.folder} has no program tsc"
            return Placed((str(compiler), *spec.command[1:]), spec.initialization)
        return self._place_classic(spec, found)

    def _place_classic(self, spec: ServerSpec, found: TypeScript) -> Placed | str:
        binary = self._look_up(spec.command[0])
        if binary is None:
            return f"{spec.command[0]} was not found"
        if found.tsserver is None:
            return f"{found.folder} has no lib/tsserver.js"
        told: object = spec.initialization.get("tsserver")
        options: dict[str, Any] = {"path": str(found.tsserver)} | (told if isinstance(told, dict) else {})
        return Placed((str(binary), *spec.command[1:]), spec.initialization | {"tsserver": options})

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
        avoid = None if self._trusted else self._project
        return find_binary(name, project_dirs=folders, path=self._path, avoid=avoid)


def _changed_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
