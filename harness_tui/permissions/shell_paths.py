"""Which files a simple command names, and what has to be decided on each: as the file tools would for the same path."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final, Literal

from harness_tui.core.seams import Check
from harness_tui.permissions.matching import Matcher, PathValue
from harness_tui.permissions.protected import protected_spans
from harness_tui.permissions.shell_values import UnreadError, Word

LOOKS: Final = 1_000
FILES: Final = 500
"""So many paths are looked at, and so many files decided on, for one shell text; one that names more is asked."""

_SINKS: Final = frozenset("/dev/null /dev/stdin /dev/stdout /dev/stderr /dev/tty /dev/zero /dev/full".split())  # noqa: SIM905
_DESCRIPTOR: Final = re.compile(r"/dev/fd/[0-9]+")
_FOLDERS: Final = 8
_LINKS: Final = 500
_MATCHES: Final = 200
_ENTRIES: Final = 2_000
_DEEP_ENTRIES: Final = 300
_LINKED_ENTRIES: Final = 5_000

Access = Literal["read", "edit"]


@dataclass(slots=True)
class Paths:
    """The paths of one shell text. ``folders`` are where it may be at the moment, empty for nobody knows.

    ``start`` is the folder that rules are written for, ``checks`` are found in order and without repeats. ``moving``:
    the command at hand may run again, ``moved``: the working folder is changed somewhere, ``moved_again``: by a command
    that may run again.
    """

    matcher: Matcher
    folders: tuple[str, ...]
    checks: dict[tuple[str, str], Check] = field(default_factory=dict[tuple[str, str], Check])
    seen: set[tuple[str, Access, tuple[str, ...]]] = field(default_factory=set[tuple[str, Access, tuple[str, ...]]])
    looks: int = 0
    start: str | None = None
    moving: bool = False
    moved: bool = False
    moved_again: bool = False

    def move(self, targets: Sequence[str] | None) -> None:
        """Note that the working folder is now one of ``targets`` too, ``None`` for nobody knows."""
        self.moved = True
        self.moved_again |= self.moving
        known = tuple(dict.fromkeys((*self.folders, *(targets or ()))))
        # A folder that is not known is never known again: nobody knows whether the change works.
        self.folders = known if self.folders and targets is not None and len(known) <= _FOLDERS else ()

    def take(self, word: Word, access: Access, display: str) -> None:
        """Note the file that ``word`` names. Raises ``UnreadError`` when nobody knows which that is."""
        known = (word.raw, access, self.folders)
        if word.stream or known in self.seen:
            return
        if word.text is None:
            raise UnreadError(f"which file {word.raw} is, is not known before it runs")
        if not word.glob:
            self.take_text(word.text, access, display)
            self.seen.add(known)
            return
        if access == "edit" or word.quoted or "\\" in word.raw:
            raise UnreadError(f"which files {word.raw} is, is not known before it runs")
        for name in self._expanded(word.text):
            if name.startswith("-") and not word.text.startswith("-"):
                raise UnreadError(f"{word.raw} names a file that looks like an option")
            self.take_text(name, access, display)
        self.seen.add(known)

    def take_text(self, text: str, access: Access, display: str) -> None:
        """Note the file that ``text`` names. Raises ``UnreadError`` when the working folder is not known."""
        for path in self.resolved(text):
            if path is None:
                continue
            outside = path.relative is None
            if access == "edit" or outside or os.path.lexists(path.absolute):
                self._note(access, path.text, display)
            if outside:
                self._note("external_directory", path.absolute, display)

    def take_deep(self, text: str, display: str) -> None:
        """Note what lies in the folder ``text`` and is protected. Raises ``UnreadError`` for too large a folder."""
        for path in self.resolved(text):
            if path is None or not Path(path.absolute).is_dir():
                continue
            seen = 0
            for folder, folders, files in os.walk(path.absolute):
                seen += len(folders) + len(files)
                if seen > _DEEP_ENTRIES:
                    raise UnreadError(f"{text} holds more than {_DEEP_ENTRIES} files")
                for name in (*folders, *files):
                    inner = self.matcher.path_value(os.path.join(folder, name))
                    if protected_spans("edit", inner):
                        self._note("edit", inner.text, display)

    def is_folder(self, text: str) -> bool:
        """Tell whether ``text`` names a folder from wherever it is looked at."""
        found = [path for path in self.resolved(text) if path is not None]
        return bool(found) and all(Path(path.absolute).is_dir() for path in found)

    def take_links(self, text: str, display: str) -> None:
        """Note where links in the folder ``text`` lead outside. Raises ``UnreadError`` for too large a folder."""
        known = (f"links of {text}", "read", self.folders)
        if known in self.seen:
            return
        self.seen.add(known)
        for path in self.resolved(text):
            seen = 0
            for folder, folders, files in os.walk(path.absolute) if path is not None else ():
                seen += len(folders) + len(files)
                if seen > _LINKED_ENTRIES:
                    raise UnreadError(f"{text} holds more than {_LINKED_ENTRIES:,} files, which may be links")
                for name in (*folders, *files):
                    whole = os.path.join(folder, name)
                    if os.path.islink(whole):  # noqa: PTH114 - no object for every file
                        self.take_text(whole, "read", display)

    def resolved(self, text: str) -> Iterator[PathValue | None]:
        """Yield where ``text`` leads from each folder; ``None`` for what is no file."""
        if text.startswith("file://"):
            text = text.removeprefix("file://").removeprefix("localhost")
        if text.startswith("/dev/") and (text in _SINKS or _DESCRIPTOR.fullmatch(text)):
            yield None
            return
        if re.match(r"/dev/(?:tcp|udp)/", text):
            raise UnreadError(f"{text} opens a connection")
        if text == "~" or text.startswith("~/"):
            text = self.matcher.home.as_posix() + text[1:]
        if text.startswith("/"):
            yield self._value(text)
            return
        if not self.folders:
            raise UnreadError(f"where {text} is, is not known: the working folder is computed")
        for folder in self.folders:
            yield self._value(f"{folder}/{text}")

    def _value(self, whole: str) -> PathValue:
        self._look(1)
        normal = os.path.normpath(whole)
        if normal.startswith(("/proc/", "/dev/")):
            # What is behind it depends on the process that looks.
            return PathValue(normal, None)
        try:
            real = os.path.realpath(whole)
            if real != normal and _through_process(whole):
                raise UnreadError(f"{whole} leads through /proc or /dev, where each program finds something else")
            return self.matcher.path_value(real)
        except (OSError, ValueError) as error:
            raise UnreadError(f"{whole} cannot be resolved: {error}") from error

    def _look(self, count: int) -> None:
        self.looks += count
        if self.looks > LOOKS:
            raise UnreadError(f"more than {LOOKS:,} paths")

    def _note(self, permission: str, value: str, display: str) -> None:
        self.checks.setdefault((permission, value), Check(permission, value, display))
        if len(self.checks) > FILES:
            raise UnreadError(f"more than {FILES} files")

    def _expanded(self, pattern: str) -> list[str]:
        """Return the names that the shell would put in place of ``pattern``; the pattern itself where none fits."""
        if not self.folders:
            raise UnreadError(f"which files {pattern} is, is not known: the working folder is computed")
        found: list[str] = []
        for folder in self.folders:
            base = [""] if not pattern.startswith("/") else ["/"]
            for part in [part for part in pattern.split("/") if part]:
                base = list(self._step(folder, base, part))
            found += base
        return found or [pattern]

    def _step(self, folder: str, names: Sequence[str], part: str) -> Iterator[str]:
        count = 0
        for name in names:
            if not set(part) & set("*?["):
                yield os.path.join(name, part)
                continue
            self._look(10)
            try:
                with os.scandir(os.path.join(folder, name)) as found:
                    entries = [entry.name for entry in islice(found, _ENTRIES + 1)]
            except OSError:
                continue
            count += len(entries)
            # Many shells find the folder above with .* too.
            fitting = [entry for entry in (*entries, "..") if _fits(part, entry)]
            if count > _ENTRIES or len(fitting) > _MATCHES:
                raise UnreadError(f"{part} stands for too many files to look at")
            yield from (os.path.join(name, entry) for entry in fitting)


def _through_process(path: str) -> bool:
    """Tell whether a link on the way of ``path`` leads into ``/proc`` or ``/dev``."""
    done, left = "", path.split("/")[::-1]
    for _ in range(_LINKS):
        if not left:
            return False
        part = left.pop()
        if part in ("", "."):
            continue
        if part == "..":
            done = done.rpartition("/")[0]
            continue
        done = f"{done}/{part}"
        if done in ("/proc", "/dev"):
            return True
        try:
            target = str(Path(done).readlink())
        except OSError:
            continue
        left += target.split("/")[::-1]
        done = "" if target.startswith("/") else done.rpartition("/")[0]
    return True


def _fits(pattern: str, name: str) -> bool:
    if name.startswith(".") and not pattern.startswith("."):
        return False
    # Shells differ in what stands between brackets: from there on every name fits.
    head, bracket, _ = pattern.partition("[")
    return fnmatch.fnmatchcase(name, f"{head}*" if bracket else pattern)


def looks_like_path(text: str, folders: Sequence[str]) -> bool:
    """Tell whether a part of an option may be a path: it is written like one, or there is such a file."""
    if "/" in text or text.startswith("~") or ".." in text:
        return True
    return any(os.path.lexists(f"{folder}/{text}") for folder in folders) if text else False


def bare_repository(folder: str) -> str | None:
    """Return the folder that git takes for a repository when it runs in ``folder`` and that lies open in a project.

    One in a ``.git`` is written by git alone; one whose parts lie among other files can come from anywhere.
    """
    at = Path(folder)
    for place in (at, *at.parents):
        if (place / ".git").exists():
            return None
        if (place / "HEAD").is_file() and (place / "objects").is_dir() and (place / "refs").is_dir():
            return str(place)
    return None
