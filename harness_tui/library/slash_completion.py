"""What a front end offers while a ``/name`` is typed: one list, one order, for every front end.

Own slash commands, command files, servers' prompts and skills come from one list of candidates. A match at the start of
a name stands before one at the start of a part, that before one anywhere, and last come names that hold the letters in
their order. Own commands that take a known value (an agent, a model) complete it as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from harness_tui.core.text import clean_for_display
from harness_tui.library.own_commands import OWN_COMMANDS

MAX_SHOWN: Final = 100
PROMPT_SOURCE: Final = "mcp · "
"""What the source of a server's prompt begins with."""

_GROUP: Final = re.compile(r"\[[^\]]*\]|<[^>]*>|\S+")
_BREAKS: Final = "/:_. -"
_BREAK: Final = f"[{_BREAKS}]"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One thing that can be completed. ``name`` without the slash; ``takes_arguments`` leaves room for them.

    ``reason`` says why it cannot be used now. ``alias_of`` is the name that it stands for, if it is another name.
    ``sign`` is shown before the name; ``insert`` is what is written where that is not sign and name.
    """

    name: str
    description: str = ""
    hint: str = ""
    source: str = ""
    takes_arguments: bool = True
    reason: str = ""
    alias_of: str = ""
    sign: str = "/"
    insert: str = ""


class Offer(Protocol):
    """Something of the library that can be typed after ``/``; ``source`` is a scope or a server's name."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def argument_hint(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def kind(self) -> Literal["command", "skill", "prompt"]: ...
    @property
    def alias_of(self) -> str: ...
    @property
    def reason(self) -> str: ...


class Completer(Protocol):
    """Finds candidates for what stands in the prompt."""

    def candidates(self, prefix: str) -> Sequence[Candidate]:
        """Return the candidates for a name that begins with ``prefix``, best first."""
        ...

    def values(self, name: str, prefix: str) -> Sequence[Candidate]:
        """Return the candidates for the one argument of ``name``, best first; none where nothing is known of it."""
        ...

    def hint(self, name: str, words: int) -> str:
        """Return what is left of the argument hint of ``name`` after ``words`` arguments."""
        ...

    def is_prompt(self, name: str) -> bool:
        """Tell whether ``name`` is a server's prompt."""
        ...


class SlashCompleter:
    """Completes ``/`` names from one list; the list may be replaced at any time.

    ``ask`` is called with the name of a command whose values are wanted and not known yet.
    """

    def __init__(self, ask: Callable[[str], None] | None = None) -> None:
        self._names = _Ranking()
        self._by_name: dict[str, Candidate] = {}
        self._values: dict[str, _Ranking] = {}
        self._ask = ask

    def use(self, candidates: Sequence[Candidate]) -> None:
        """Take the candidates; of two with one name the first wins."""
        self._by_name = {}
        for candidate in candidates:
            self._by_name.setdefault(candidate.name, candidate)
        self._names = _Ranking(list(self._by_name.values()))

    def use_values(self, name: str, values: Sequence[tuple[str, str]]) -> None:
        """Take what can stand behind ``name``: values and what is said of each."""
        found = [Candidate(f"{name} {value}", about, takes_arguments=False) for value, about in values]
        self._values[name] = _Ranking(found, skip=len(name) + 1)

    def candidates(self, prefix: str) -> Sequence[Candidate]:
        """Return matches, best first, at most :data:`MAX_SHOWN`."""
        return self._names.best(prefix.casefold())

    def values(self, name: str, prefix: str) -> Sequence[Candidate]:
        """Return the known values of a command that match, best first."""
        if self._ask is not None:
            self._ask(name)
        known = self._values.get(name)
        return known.best(prefix.casefold()) if known is not None else ()

    def is_prompt(self, name: str) -> bool:
        """Tell whether ``name`` is a server's prompt, whose server may know what fits its arguments."""
        found = self._by_name.get(name)
        return found is not None and found.source.startswith(PROMPT_SOURCE)

    def knows(self, name: str) -> bool:
        """Tell whether ``name`` is offered."""
        return name in self._by_name

    def hint(self, name: str, words: int) -> str:
        """Return what is left of the argument hint of ``name`` after ``words`` arguments."""
        found = self._by_name.get(name)
        return hint_after(found.hint, words) if found is not None else ""


class _Ranking:
    """Ranks one list of candidates, by their names from the character ``skip`` on."""

    def __init__(self, candidates: Sequence[Candidate] = (), *, skip: int = 0) -> None:
        self._candidates = candidates
        self._folded = [candidate.name[skip:].casefold() for candidate in candidates]
        self._named = [candidate for candidate in candidates if not candidate.alias_of]
        self._asked = ""
        self._matching: Sequence[int] = ()
        self._best: Sequence[Candidate] = ()

    def best(self, wanted: str) -> Sequence[Candidate]:
        if not wanted:
            return self._named[:MAX_SHOWN]
        if wanted != self._asked:
            # What holds a longer word is among what holds a shorter one: a key looks at few of many names.
            narrower = self._asked and wanted.startswith(self._asked)
            self._rank(wanted, self._matching if narrower else range(len(self._folded)))
            self._asked = wanted
        return self._best

    def _rank(self, wanted: str, among: Sequence[int]) -> None:
        ranked: tuple[list[int], ...] = ([], [], [])
        scattered: list[tuple[bool, int, int, int]] = []
        letters = [re.escape(letter) for letter in wanted]
        holds = re.compile(".*?".join(letters), re.DOTALL).search
        begins = re.compile(_BREAK + "*" + f"[^{_BREAKS}]*{_BREAK}+".join(letters)).match
        path = "/" in wanted or "." in wanted  # rather a message about a file: nothing is guessed
        folded, matching = self._folded, list[int]()
        for index in among:
            name = folded[index]
            found = holds(name)
            if found is None:
                continue
            matching.append(index)
            place = _place(name, wanted)
            if place is not None:
                ranked[place].append(index)
            elif not path:
                spread = found.end() - found.start()
                initials = begins(name) is not None  # the first letters of the parts come before everything else
                if initials or spread <= 3 * len(wanted) + 1:
                    scattered.append((not initials, spread, len(name), index))
        self._matching = matching
        for rank in ranked:
            rank.sort(key=lambda index: (len(folded[index]) != len(wanted), bool(self._candidates[index].alias_of)))
        scattered.sort()
        indices = [index for rank in (*ranked, [item[-1] for item in scattered]) for index in rank]
        self._best = [self._candidates[index] for index in indices[:MAX_SHOWN]]


def _place(name: str, wanted: str) -> int | None:
    """Return where ``wanted`` stands in ``name``: 0 at the start, 1 at the start of a part, 2 elsewhere."""
    place = name.find(wanted)
    if place <= 0:
        return None if place < 0 else 0
    while place > 0:
        if name[place - 1] in _BREAKS:
            return 1
        place = name.find(wanted, place + 1)
    return 2


def hint_after(hint: str, words: int) -> str:
    """Return the groups of an argument hint (``[path] <name> word``) after the first ``words``."""
    groups = [match.group() for match in _GROUP.finditer(hint)]
    return hint if words <= 0 else " ".join(groups[words:])


def name_being_typed(text: str, cursor: int) -> str | None:
    """Return the part of a ``/name`` before the cursor while it is being typed, else ``None``.

    Only at the start of the message; ``//`` is the escape for a literal slash, and a path is no command.
    """
    if not text.startswith("/") or text.startswith("//"):
        return None
    name = text[1:cursor]
    return None if cursor < 1 or any(character.isspace() for character in name) else name


def value_being_typed(text: str, cursor: int) -> tuple[str, str] | None:
    """Return name and value of ``/name value`` while the only argument is typed at the end, else ``None``."""
    if not text.startswith("/") or text.startswith("//") or cursor != len(text) or "\n" in text:
        return None
    name, blank, value = text[1:].partition(" ")
    return (name, value) if name and blank and " " not in value else None


def name_typed(text: str) -> tuple[str, int] | None:
    """Return the name of a message and the number of its arguments, where a blank stands at its end."""
    if not text.startswith("/") or not text.endswith(" ") or "\n" in text:
        return None
    name, *words = text[1:].split() or [""]
    return (name, len(words)) if name and not text[1].isspace() else None


def offered_candidates(offers: Iterable[Offer]) -> list[Candidate]:
    """Return everything that can be typed after ``/``, the nearest first: the project's commands, the person's, prompts
    of servers, then ours, then skills.

    The names of own commands are reserved, so that the order decides only which is seen first.
    """
    own = [
        Candidate(name, own.description, own.hint, "harness", bool(own.hint), own.missing, own.name if alias else "")
        for own in sorted(OWN_COMMANDS, key=lambda own: own.name)
        for alias, name in enumerate((own.name, *own.aliases))
    ]
    offers = sorted(offers, key=lambda row: (row.source == "bundled", bool(row.reason), row.source != "project"))
    return [
        *(_candidate(row) for row in offers if row.kind != "skill"),
        *(candidate for candidate in own if not candidate.reason),
        *(_candidate(row) for row in offers if row.kind == "skill"),
        *(candidate for candidate in own if candidate.reason),
    ]


def _candidate(row: Offer) -> Candidate:
    source = {"skill": f"skill · {row.source}", "prompt": f"{PROMPT_SOURCE}{row.source}"}.get(row.kind, row.source)
    texts = (row.name, row.description, row.argument_hint, source)
    name, about, hint, shown = (clean_for_display(text, one_line=True) for text in texts)
    return Candidate(name, about, hint, shown, reason=row.reason, alias_of=clean_for_display(row.alias_of))
