"""What a front end offers after ``/``: commands, skills and prompts in one ranked list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal, TypeAlias

from harness_tui.core.record import record

CandidateKind: TypeAlias = Literal["command", "skill", "prompt"]

CANDIDATES: Final = 50
_SCORE: Final = 60.0


@record
class Candidate:
    """One thing to complete to, without the slash. ``source`` is its scope, or the server of a prompt."""

    name: str
    description: str
    argument_hint: str
    source: str
    kind: CandidateKind


def rank(prefix: str, candidates: Iterable[Candidate], *, limit: int = CANDIDATES) -> list[Candidate]:
    """Return the best ``limit`` candidates for ``prefix``: beginnings first, then parts, then likenesses."""
    wanted = prefix.removeprefix("/").casefold()
    groups: tuple[list[Candidate], ...] = ([], [], [])
    rest: list[Candidate] = []
    for candidate in candidates:
        name = candidate.name.casefold()
        if name.startswith(wanted):
            groups[0].append(candidate)
        elif f"/{wanted}" in name.replace(":", "/"):
            groups[1].append(candidate)
        elif wanted in name:
            groups[2].append(candidate)
        else:
            rest.append(candidate)
    found = [candidate for group in groups for candidate in sorted(group, key=lambda item: item.name.casefold())]
    if len(found) < limit and len(wanted) >= 2:
        found += _alike(wanted, rest, limit - len(found))
    return found[:limit]


def _alike(wanted: str, candidates: Sequence[Candidate], limit: int) -> list[Candidate]:
    from rapidfuzz import fuzz, process

    names = [candidate.name.casefold() for candidate in candidates]
    matches = process.extract(wanted, names, scorer=fuzz.WRatio, limit=limit, score_cutoff=_SCORE)
    return [candidates[index] for _, _, index in matches]
