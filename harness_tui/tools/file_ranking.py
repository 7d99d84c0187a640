"""Finds files by a few letters of their path, quick enough for every key among a hundred thousand.

What holds the letters side by side comes first, in the name before the folders, at the start of a word before its
middle; then names that hold them in their order; and where nothing does, names that are alike, for a slip of the
fingers.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import nsmallest
from typing import Final

_SLICE: Final = 2_000
"""So many names are looked at before other threads have their turn, and it is asked whether anybody still waits."""
_MEASURED: Final = 2_000
"""So many paths, the shortest, are looked at closely where only the order of the letters fits."""
_ALIKE: Final = 75.0
_ALIKE_CHARS: Final = 4
_BREAKS: Final = frozenset("/_-. ")


class Superseded(Exception):
    """Somebody asked for something else meanwhile."""


class FileNames:
    """Paths with ``/``, relative to one folder; those of folders end in ``/``. Use it from one thread at a time."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = list(paths)
        self._folded = [path.casefold() for path in self._paths]
        self._names = [path.rfind("/", 0, -1) + 1 for path in self._folded]
        self._first: list[int] | None = None
        self._stems = [_stem(path[name:]) for path, name in zip(self._folded, self._names, strict=True)]
        self._asked = ""
        self._among: Sequence[int] = range(len(self._paths))

    def __len__(self) -> int:
        return len(self._paths)

    def best(self, wanted: str, limit: int, still_wanted: Callable[[], bool] = lambda: True) -> list[str]:
        """Return the paths that fit ``wanted`` best, at most ``limit``; for an empty one what lies at the top.

        Raises :class:`Superseded` when ``still_wanted`` says no.
        """
        wanted = wanted.casefold()
        if not wanted:
            return [self._paths[place] for place in self._topmost(limit)]
        self._narrow(wanted, still_wanted)
        found = self._holding(wanted, limit, still_wanted)
        if len(found) < limit and len(wanted) > 1:
            found += self._scattered(wanted, limit - len(found), still_wanted)
        name = wanted.rsplit("/", 1)[-1]
        if not found and len(name) >= _ALIKE_CHARS:
            found = self._alike(name, limit, still_wanted)
        return [self._paths[place] for place in found]

    def _narrow(self, wanted: str, still_wanted: Callable[[], bool]) -> None:
        """Leave only what holds every letter of ``wanted``: a further key looks at what the one before it left."""
        folded = self._folded
        if not (self._asked and wanted.startswith(self._asked)):
            self._asked, self._among = "", range(len(self._paths))
        for letter in dict.fromkeys(wanted):
            if letter not in self._asked:
                left: list[int] = []
                for some in _slices(self._among, still_wanted):
                    left += [place for place in some if letter in folded[place]]
                self._among = left
        self._asked = wanted

    def _topmost(self, limit: int) -> list[int]:
        if self._first is None or len(self._first) < limit:
            paths = self._paths
            places = range(len(paths))
            self._first = nsmallest(limit, places, key=lambda place: (paths[place].count("/", 0, -1), paths[place]))
        return self._first[:limit]

    def _holding(self, wanted: str, limit: int, still_wanted: Callable[[], bool]) -> list[int]:
        folded, found = self._folded, list[int]()
        for some in _slices(self._among, still_wanted):
            found += [place for place in some if wanted in folded[place]]
        return nsmallest(limit, found, key=lambda place: self._worth(place, wanted))

    def _worth(self, place: int, wanted: str) -> tuple[int, int, str]:
        """Return what a path is sorted by: where ``wanted`` stands in it, then its length."""
        path, name = self._folded[place], self._names[place]
        at = path.find(wanted, name)
        if at == name:
            whole = path[name:].rstrip("/") == wanted
            return 0 if whole else 1, len(path), path
        if at > 0:
            return 2 if path[at - 1] in _BREAKS else 3, len(path), path
        at = path.find(wanted)
        return 4 if at == 0 or path[at - 1] == "/" else 5, len(path), path

    def _scattered(self, wanted: str, limit: int, still_wanted: Callable[[], bool]) -> list[int]:
        """Return what holds the letters in their order only.

        Each letter is taken where it comes first, and never looked for again: no name takes longer than its length.
        """
        folded, names = self._folded, self._names
        in_order = re.compile("".join(f"(?>.*?{re.escape(letter)})" for letter in wanted), re.DOTALL).match
        in_name: list[int] = []
        elsewhere: list[int] = []
        for some in _slices(self._among if "/" not in wanted else (), still_wanted):
            in_name += [place for place in some if in_order(folded[place], names[place])]
        if len(in_name) < limit:
            taken = set(in_name)
            for some in _slices(self._among, still_wanted):
                elsewhere += [place for place in some if place not in taken and in_order(folded[place])]

        def spread(place: int) -> tuple[int, int, str]:
            path = folded[place]
            match = in_order(path, names[place]) or in_order(path)
            start = end = match.end() if match else len(path)
            for letter in reversed(wanted):  # from its end back it is as narrow as it gets
                start = path.rfind(letter, 0, start)
            return end - start, len(path), path

        ranked: list[int] = []
        for some in (in_name, elsewhere):
            short = nsmallest(_MEASURED, some, key=lambda place: len(folded[place])) if len(some) > _MEASURED else some
            ranked += nsmallest(limit - len(ranked), (one for one in short if wanted not in folded[one]), key=spread)
        return ranked

    def _alike(self, wanted: str, limit: int, still_wanted: Callable[[], bool]) -> list[int]:
        from rapidfuzz import fuzz, process

        found: list[tuple[float, int]] = []
        wanted = _stem(wanted)
        for some in _slices(range(len(self._stems)), still_wanted):
            stems = self._stems[some[0] : some[-1] + 1]
            matches = process.extract(wanted, stems, scorer=fuzz.ratio, limit=limit, score_cutoff=_ALIKE)
            found += [(-score, some[0] + place) for _, score, place in matches]
        return [place for _, place in nsmallest(limit, found)]


def _stem(name: str) -> str:
    """Return a name without its last ending and without digits behind it."""
    dot = name.rfind(".")
    return (name[:dot] if dot > 0 else name.removesuffix("/")).rstrip("0123456789")


def _slices(places: Sequence[int], still_wanted: Callable[[], bool]) -> Iterator[Sequence[int]]:
    for start in range(0, len(places), _SLICE):
        if not still_wanted():
            raise Superseded
        time.sleep(0)  # whoever draws the screen waits for the interpreter no longer than a slice takes
        yield places[start : start + _SLICE]


def with_folders(files: Iterable[str]) -> list[str]:
    """Return ``files`` and every folder that one of them lies in."""
    found: list[str] = []
    folders: set[str] = set()
    for path in files:
        found.append(path)
        end = path.rfind("/")
        while end > 0 and (folder := path[: end + 1]) not in folders:
            folders.add(folder)
            found.append(folder)
            end = path.rfind("/", 0, end)
    return found
