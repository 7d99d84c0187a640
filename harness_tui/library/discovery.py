"""Walks the folders of commands and skills: links once, bounds on depth and number, nothing dropped in silence."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from harness_tui.library.diagnostics import Diagnostic

COMMAND_DEPTH: Final = 5
COMMAND_FILES: Final = 500
SKILL_DEPTH: Final = 5
SKILL_FOLDERS: Final = 2_000
SKIPPED_FOLDERS: Final = frozenset({"node_modules", "__pycache__"})

_NESTED_DEPTH: Final = 3
_NESTED_FOLDERS: Final = 32


class Stamp(NamedTuple):
    """What tells whether a file changed. ``real`` names the file itself, whatever links lead to it.

    The time of the last change of its status counts too: a file that could not be read may be readable now, and a copy
    may keep the old time and size.
    """

    real: str
    mtime_ns: int
    ctime_ns: int
    size: int
    inode: int


class Found(NamedTuple):
    """A file in a root; ``parts`` are its folders and name below the root.

    Paths are text here, and this a tuple: every use of a command looks at every file and compares what it finds, and
    most of that was making paths of names and comparing fields.
    """

    path: str
    parts: tuple[str, ...]
    stamp: Stamp


class _Place(NamedTuple):
    """An entry with the folder that it was found in, the names of the folders down to that, and their number."""

    entry: os.DirEntry[str]
    folder: str
    parts: tuple[str, ...]
    depth: int


def stamp_of(path: str, real: str) -> Stamp:
    """Return the stamp of a regular file whose real path is ``real``.

    Raises ``OSError`` for anything else, a dangling link included.
    """
    status = os.stat(path)  # noqa: PTH116 - one call for all of it
    if not stat.S_ISREG(status.st_mode):
        raise OSError(0, "not a regular file", path)
    return Stamp(real, status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)


class Walk:
    """One walk through one root; :attr:`problems` holds what was left out, and why."""

    def __init__(self, root: Path, suffix: str = ".md") -> None:
        self._root = root
        self._suffix = suffix
        self._folders: set[str] = set()
        self._reals: dict[str, str] = {}
        self._files: set[str] = set()
        self._count = 0
        self._full = False
        self._links: list[_Place] = []
        self.problems: list[Diagnostic] = []

    def commands(self) -> list[Found]:
        """Return the command files, sorted by path: those with the suffix of the root, but README, hidden ones and
        those with a leading ``_``."""
        return self._found(self._commands, self._command)

    def skills(self) -> list[Found]:
        """Return the skill files, sorted by path. A folder that holds one is not looked into any further."""
        return self._found(self._skills, self._skill)

    def _found(self, walk: Callable[..., Iterator[Found]], look: Callable[[_Place], Iterator[Found]]) -> list[Found]:
        """Return what ``walk`` finds, links after everything else, so that a file goes by its own name."""
        found = list(walk(str(self._root), (), 0))
        while self._links and not self._full:
            found += look(self._links.pop(0))
        return sorted(found, key=lambda file: file.parts)

    def _problem(self, path: str, code: str, message: str) -> None:
        self.problems.append(Diagnostic(path, 1, code, message))

    def _entries(self, folder: str, above: str = "") -> list[os.DirEntry[str]]:
        """Return the entries of ``folder``, sorted.

        There are none in a folder that was seen already, which ends loops of links; one that leads back to a folder
        above is told.
        """
        real = os.path.realpath(folder)
        inside = f"{real.rstrip('/')}/"
        if above and f"{self._reals[above]}/".startswith(inside):  # also to a folder above the root itself
            self._problem(folder, "link-loop", f"a link back to {real}: not followed")
            return []
        if real in self._folders:
            return []
        self._folders.add(real)
        self._reals[folder] = real
        try:
            with os.scandir(folder) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            self._problem(folder, "unreadable", f"the folder cannot be read: {error.strerror}")
            return []

    def _real(self, entry: os.DirEntry[str], parent: str) -> str:
        # One look-up per folder, not one per file: resolving asks the system about every component.
        return os.path.realpath(entry.path) if entry.is_symlink() else f"{self._reals[parent]}/{entry.name}"

    def _stamp(self, path: str, real: str) -> Stamp | None:
        """Return the stamp of a file that was not seen yet."""
        try:
            stamp = stamp_of(path, real)
        except OSError as error:
            self._problem(path, "unreadable", f"the file cannot be read: {error.strerror}")
            return None
        if stamp.real in self._files:
            return None
        self._files.add(stamp.real)
        return stamp

    def _note_dangling(self, entry: os.DirEntry[str]) -> None:
        """Tell of a link that leads nowhere: it was meant to be followed."""
        if not entry.is_symlink():
            return
        try:
            os.stat(entry.path)  # noqa: PTH116 - plain text
        except OSError as error:
            self._problem(entry.path, "unreadable", f"a link that leads nowhere: {error.strerror}")

    # --- commands ------------------------------------------------------------------------------

    def _commands(self, folder: str, parts: tuple[str, ...], depth: int, above: str = "") -> Iterator[Found]:
        for entry in self._entries(folder, above):
            if entry.name.startswith((".", "_")):
                continue
            place = _Place(entry, folder, parts, depth)
            if entry.is_symlink():
                self._links.append(place)
            else:
                yield from self._command(place)

    def _command(self, place: _Place) -> Iterator[Found]:
        entry, folder, parts, depth = place
        is_command = entry.name.endswith(self._suffix)
        if self._full:
            return
        if _is_folder(entry):
            if is_command:
                self._problem(entry.path, "not-a-file", "a folder, not a command file")
            elif depth == COMMAND_DEPTH:
                self._problem(entry.path, "depth", f"folders deeper than {COMMAND_DEPTH} levels are not read")
            else:
                yield from self._commands(entry.path, (*parts, entry.name), depth + 1, folder)
        elif not is_command:
            self._note_dangling(entry)
        elif entry.name.lower() != "readme.md":
            yield from self._command_file(entry, folder, parts)

    def _command_file(self, entry: os.DirEntry[str], folder: str, parts: tuple[str, ...]) -> Iterator[Found]:
        if self._count == COMMAND_FILES:
            self._full = True
            message = f"only the first {COMMAND_FILES} command files of {self._root} are read"
            self._problem(entry.path, "too-many", message)
            return
        stamp = self._stamp(entry.path, self._real(entry, folder))
        if stamp is not None:
            self._count += 1
            yield Found(entry.path, (*parts, entry.name), stamp)

    # --- skills --------------------------------------------------------------------------------

    def _skills(self, folder: str, parts: tuple[str, ...], depth: int, above: str = "") -> Iterator[Found]:
        for entry in self._entries(folder, above):
            if entry.name.startswith(".") or entry.name in SKIPPED_FOLDERS:
                continue
            place = _Place(entry, folder, parts, depth)
            if entry.is_symlink():
                self._links.append(place)
            elif _is_folder(entry):
                yield from self._skill(place)

    def _skill(self, place: _Place) -> Iterator[Found]:
        entry, folder, parts, depth = place
        if self._full:
            return
        if not _is_folder(entry):
            self._note_dangling(entry)
            return
        if self._count == SKILL_FOLDERS:
            self._full = True
            self._problem(entry.path, "too-many", f"only the first {SKILL_FOLDERS} folders of {self._root} are read")
            return
        self._count += 1
        inside = _inside(entry.path)
        skill = _skill_entry(inside)
        if skill is not None:
            yield from self._skill_file(entry, skill, folder, parts)
            self._note_nested(entry.path, inside)
        elif depth + 1 == SKILL_DEPTH:
            self._problem(entry.path, "depth", f"folders deeper than {SKILL_DEPTH} levels are not read")
        else:
            yield from self._skills(entry.path, (*parts, entry.name), depth + 1, folder)

    def _skill_file(
        self, entry: os.DirEntry[str], skill: os.DirEntry[str], folder: str, parts: tuple[str, ...]
    ) -> Iterator[Found]:
        real = f"{self._real(entry, folder)}/{skill.name}"
        stamp = self._stamp(skill.path, os.path.realpath(skill.path) if skill.is_symlink() else real)
        if stamp is not None:
            yield Found(skill.path, (*parts, entry.name, skill.name), stamp)

    def _note_nested(self, skill: str, inside: Iterable[os.DirEntry[str]]) -> None:
        """Tell of skills inside a skill, which are material of that one: once, and after a short look only."""
        waiting = [(entry, 1) for entry in inside]
        looked = 0
        while waiting and looked < _NESTED_FOLDERS:
            entry, depth = waiting.pop()
            if entry.name.startswith(".") or entry.name in SKIPPED_FOLDERS or not entry.is_dir(follow_symlinks=False):
                continue
            looked += 1
            below = _inside(entry.path)
            if (nested := _skill_entry(below)) is not None:
                message = f"skills inside a skill are a part of it and not offered: {nested.path}"
                self.problems.append(Diagnostic(skill, 1, "nested-skill", message, "info"))
                return
            if depth < _NESTED_DEPTH:
                waiting += [(other, depth + 1) for other in below]


def skill_file(folder: Path) -> Path | None:
    """Return the skill file of ``folder``: ``SKILL.md``, else one whose name differs from it in case only."""
    entry = _skill_entry(_inside(str(folder)))
    return folder / entry.name if entry is not None else None


def _inside(folder: str) -> list[os.DirEntry[str]]:
    """Return the entries of a folder, none if it cannot be read; who then walks it tells of that."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _skill_entry(inside: Iterable[os.DirEntry[str]]) -> os.DirEntry[str] | None:
    found = [entry for entry in inside if entry.name.lower() == "skill.md"]
    return max(found, key=lambda entry: (entry.name == "SKILL.md", entry.name), default=None)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
