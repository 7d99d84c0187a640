"""Where commands and skills are looked for: the folders of ``config.folders`` that exist here.

A singular spelling of a folder is read too, with a hint.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Literal, TypeAlias

from harness_tui.config.folders import Tool, project_folders, user_folders
from harness_tui.config.places import Places
from harness_tui.config.project import Project, folders_of
from harness_tui.core.record import record

Scope: TypeAlias = Literal["bundled", "user", "project"]
Kind: TypeAlias = Literal["commands", "skills"]

RANK: Final[dict[str, int]] = {"bundled": 0, "user": 1, "project": 2}


@record
class Root:
    """One folder to scan. ``trusted`` is false for a project's while the person has not trusted it.

    ``singular`` is the usual spelling when the folder has the other one and only a hint makes it known. ``tool`` is
    whose folder it is, ``suffix`` how the names of its command files end.
    """

    path: Path
    scope: Scope
    trusted: bool
    singular: str | None = None
    tool: Tool = "harness"
    suffix: str = ".md"


def find_roots(
    kind: Kind, project: Project, places: Places, *, trusted: bool, environ: Mapping[str, str], bundled: Path
) -> list[Root]:
    """Return the folders of ``kind`` that exist, in rising order: bundled, the person's, the project's.

    A folder that is both (the start folder is the home folder) counts once, as the person's.
    """
    found: list[Root] = []
    seen: set[Path] = set()
    own = [Root(bundled, "bundled", True), *_user_roots(kind, places, environ)]
    for root in (*own, *_project_roots(kind, project, trusted)):
        real = _real_folder(root.path)
        if real is not None and real not in seen:
            seen.add(real)
            found.append(root)
    return found


def _user_roots(kind: Kind, places: Places, environ: Mapping[str, str]) -> Iterator[Root]:
    home = Path(environ.get("HOME") or Path.home())
    for folder in user_folders(kind):
        name = folder.path
        if name.startswith("~/"):
            path = home / name[2:]
        elif folder.tool == "harness":
            path = places.config / name.removeprefix("harness/")
        else:
            path = places.config.parent / name
        yield Root(path, "user", True, folder.usual, folder.tool, folder.suffix)


def _project_roots(kind: Kind, project: Project, trusted: bool) -> Iterator[Root]:
    for base in folders_of(project):
        for folder in project_folders(kind):
            yield Root(base / folder.path, "project", trusted, folder.usual, folder.tool, folder.suffix)


def _real_folder(path: Path) -> Path | None:
    try:
        real = path.resolve(strict=True)
        return real if real.is_dir() else None
    except (OSError, RuntimeError):
        return None
