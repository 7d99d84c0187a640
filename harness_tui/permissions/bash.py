"""What can be said of a shell text without understanding it: enough to hold it back, never enough to allow.

Rules that ask or deny are tried on every piece that could be a command of its own; pieces are cut too often rather than
too seldom.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_CUTS: Final = re.compile(r"[;&|\n\r(){}`<>]")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=\S*")
_QUOTES: Final = str.maketrans("", "", "'\"\\")

_LEADING_WORDS: Final = frozenset(
    "if then elif else while until do ! time coproc function exec builtin command".split()  # noqa: SIM905
)
"""Words of the shell that a command may follow."""

_SCRIPT_RUNNERS: Final = frozenset("eval source . sh bash dash zsh ksh fish".split())  # noqa: SIM905
_PROGRAM_RUNNERS: Final = frozenset(
    "env sudo doas su nohup nice ionice timeout stdbuf setsid xargs find parallel watch busybox".split()  # noqa: SIM905
)
_REMOTE_RUNNERS: Final = frozenset("chroot strace time flock ssh script unbuffer exec command builtin".split())  # noqa: SIM905
RUNNERS: Final = _SCRIPT_RUNNERS | _PROGRAM_RUNNERS | _REMOTE_RUNNERS
"""Programs that run a command given among their arguments."""

RUNNER_ARGUMENTS: Final = 32
"""As many arguments of a runner are looked at."""

_LONG_CHARS: Final = 16_384
_PIECES: Final = 2_000


@lru_cache(maxsize=4)
def parts(text: str) -> tuple[str, ...]:
    """Return everything in ``text`` that might be a command of its own, without repeats.

    Quotes do not protect an operator here, assignments and words such as ``then`` or ``sudo`` in front are taken off,
    and a program is also named without its folder. The whole itself is not in it when it is a single piece as written.
    Of a very long text only the beginning is cut up: it is never allowed anyway.
    """
    found: dict[str, None] = {}
    for form in (text, text.translate(_QUOTES)):
        for piece in _CUTS.split(form.replace("\\\n", ""), maxsplit=_PIECES):
            for known in _forms(piece.strip()):
                found[known] = None
    found.pop(text, None)
    return tuple(found)


def named(words: list[str]) -> list[str]:
    """Return ``words`` as one text, also with the program named without its folder."""
    return [" ".join(words), " ".join([words[0].rpartition("/")[2], *words[1:]])] if words else []


def _words_of_command(words: list[str]) -> list[str]:
    index = 0
    while index < len(words) and (words[index] in _LEADING_WORDS or _ASSIGNMENT.fullmatch(words[index])):
        index += 1
    return words[index:]


def _forms(piece: str) -> list[str]:
    if len(piece) > _LONG_CHARS:
        piece = piece[:_LONG_CHARS]
    words = piece.split()
    if not words:
        return []
    rest = _words_of_command(words)
    forms = [piece, " ".join(words), *named(rest)]
    if rest and rest[0].rpartition("/")[2] in RUNNERS:
        # Which argument the command begins at depends on the program: every one of them is tried.
        for start in range(1, min(len(rest), RUNNER_ARGUMENTS)):
            forms += named(rest[start:])
    return forms
