"""What the prompt offers while a ``/name`` is typed: plain logic, no widget.

Own slash commands, command files, servers' prompts and skills come from one list of candidates; a match at the start of
a name stands before one at the start of a part, and that before one anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from harness_tui.tui.lines import Line, cells, cut_cells, two_ends

MAX_SHOWN: Final = 100


@dataclass(frozen=True, slots=True)
class Candidate:
    """One thing that can be completed. ``name`` without the slash; ``takes_arguments`` leaves room for them.

    ``reason`` says why it cannot be used now.
    """

    name: str
    description: str = ""
    hint: str = ""
    source: str = ""
    takes_arguments: bool = True
    reason: str = ""


class Completer(Protocol):
    """Finds candidates for what stands in the prompt."""

    def candidates(self, prefix: str) -> Sequence[Candidate]:
        """Return the candidates for a name that begins with ``prefix``, best first."""
        ...

    def hint(self, name: str) -> str:
        """Return the argument hint of ``name``, empty where there is none."""
        ...


class SlashCompleter:
    """Completes ``/`` names from one list; the list may be replaced at any time."""

    def __init__(self) -> None:
        self._candidates: list[Candidate] = []
        self._folded: list[str] = []
        self._by_name: dict[str, Candidate] = {}
        self._asked = ""
        self._matching: Sequence[int] = ()
        self._best: Sequence[Candidate] = ()

    def use(self, candidates: Sequence[Candidate]) -> None:
        """Take the candidates; of two with one name the first wins."""
        self._by_name = {}
        for candidate in candidates:
            self._by_name.setdefault(candidate.name, candidate)
        self._candidates = list(self._by_name.values())
        self._folded = [candidate.name.casefold() for candidate in self._candidates]
        self._asked = ""

    def candidates(self, prefix: str) -> Sequence[Candidate]:
        """Return matches, best first, at most :data:`MAX_SHOWN`."""
        wanted = prefix.casefold()
        if not wanted:
            return self._candidates[:MAX_SHOWN]
        if wanted != self._asked:
            # What holds a longer word is among what holds a shorter one: a key looks at few of many names.
            narrower = self._asked and wanted.startswith(self._asked)
            self._rank(wanted, self._matching if narrower else range(len(self._folded)))
            self._asked = wanted
        return self._best

    def _rank(self, wanted: str, among: Sequence[int]) -> None:
        ranked: tuple[list[int], ...] = ([], [], [])
        self._matching = [index for index in among if wanted in self._folded[index]]
        for index in self._matching:
            name = self._folded[index]
            place = name.find(wanted)
            ranked[0 if place == 0 else 1 if name[place - 1] in "/:-_" else 2].append(index)
        ranked[0].sort(key=lambda index: len(self._folded[index]) != len(wanted))
        self._best = [self._candidates[index] for rank in ranked for index in rank][:MAX_SHOWN]

    def hint(self, name: str) -> str:
        """Return the argument hint of ``name``."""
        found = self._by_name.get(name)
        return found.hint if found is not None else ""


def name_being_typed(text: str, cursor: int) -> str | None:
    """Return the part of a ``/name`` before the cursor while it is being typed, else ``None``.

    Only at the start of the message; ``//`` is the escape for a literal slash, and a path is no command.
    """
    if not text.startswith("/") or text.startswith("//"):
        return None
    name = text[1:cursor]
    return None if cursor < 1 or any(character.isspace() for character in name) else name


def name_typed(text: str) -> str | None:
    """Return the name of a message that is ``/name`` and a blank, with no argument yet."""
    if text.startswith("/") and text.endswith(" ") and len(text.split()) == 1:
        return text[1:-1].rstrip() or None
    return None


def candidate_line(candidate: Candidate, width: int, name_width: int) -> Line:
    """Draw a candidate: name and hint, description, source."""
    name = f"/{candidate.name}"
    head: list[tuple[str, str]] = [
        (" ", ""),
        (cut_cells(name, max(4, width - 2)), "muted" if candidate.reason else "bold"),
    ]
    used = cells(name) + 1
    if candidate.hint and not candidate.reason:
        hint = cut_cells(f" {candidate.hint}", max(0, width // 3))
        head.append((hint, "muted"))
        used += cells(hint)
    gap = max(2, name_width - used + 2)
    about = candidate.reason or candidate.description
    head += [(" " * gap, ""), (about, "warning" if candidate.reason else "muted")]
    source: Line = ((f"{candidate.source} ", "muted"),) if candidate.source and width >= 50 else ()
    return two_ends(tuple(head), source, width)
