"""What can be said of a shell text without parsing it: enough to refuse, never enough to allow.

An allow rule covers a command only when it is that very text, or ``*``. Rules that ask or deny are tried on the whole
and on every piece that could be a command of its own; pieces are cut too often rather than too seldom.
"""

from __future__ import annotations

import re
from typing import Final

_CUTS: Final = re.compile(r"[;&|\n\r(){}`<>]")
_PLAIN: Final = re.compile(r"[^;&|(){}`<>$\\\x00-\x1f\x7f]+")
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
_REMOTE_RUNNERS: Final = frozenset("chroot strace time flock ssh script unbuffer".split())  # noqa: SIM905
_RUNNERS: Final = _SCRIPT_RUNNERS | _PROGRAM_RUNNERS | _REMOTE_RUNNERS
"""Programs that run a command given among their arguments."""

_LONG_CHARS: Final = 16_384
_RUNNER_ARGUMENTS: Final = 32
"""As many arguments of a runner are looked at; a longer command or text counts as one that cannot be read."""


def equals(pattern: str, command: str) -> bool:
    """Tell whether an allow pattern covers ``command``: it is ``*``, or that very text and without wildcards."""
    return pattern == "*" or (pattern == command and "*" not in pattern and "?" not in pattern)


def is_plain(command: str) -> bool:
    """Tell whether ``command`` is one line without operators, redirections, expansions or escapes."""
    return _PLAIN.fullmatch(command) is not None


def parts(command: str) -> tuple[str, ...]:
    """Return everything in ``command`` that might be a command of its own, without repeats.

    Quotes do not protect an operator here, assignments and words such as ``then`` or ``sudo`` in front are taken off,
    and a program is also named without its folder. The whole itself is not in it when it is a single piece as written.
    """
    found: dict[str, None] = {}
    for text in (command, command.translate(_QUOTES)):
        for piece in _CUTS.split(text.replace("\\\n", "")):
            for form in _forms(piece.strip()):
                found[form] = None
    found.pop(command, None)
    return tuple(found)


def is_opaque(command: str) -> bool:
    """Tell whether a program of ``command`` cannot be read off its text: its name is computed, or it runs a script."""
    if len(command) > _LONG_CHARS or "$'" in command or '$"' in command or "eval" in command.split():
        return True
    for piece in _CUTS.split(command):
        words = _words_of_command(piece.translate(_QUOTES).split())
        if len(words) > _RUNNER_ARGUMENTS:
            return True
        if words and ("$" in words[0] or "*" in words[0] or "?" in words[0] or "[" in words[0][:-1]):
            return True
        if words and words[0].rpartition("/")[2] in _SCRIPT_RUNNERS:
            return True
    return False


def _words_of_command(words: list[str]) -> list[str]:
    index = 0
    while index < len(words) and (words[index] in _LEADING_WORDS or _ASSIGNMENT.fullmatch(words[index])):
        index += 1
    return words[index:]


def _forms(piece: str) -> list[str]:
    words = piece.split()
    if not words:
        return []
    rest = _words_of_command(words)
    forms = [piece, " ".join(words), *_named(rest)]
    if rest and rest[0].rpartition("/")[2] in _RUNNERS and len(piece) <= _LONG_CHARS:
        # Which argument the command begins at depends on the program: every one of them is tried.
        for start in range(1, min(len(rest), _RUNNER_ARGUMENTS)):
            forms += _named(rest[start:])
    return forms


def _named(words: list[str]) -> list[str]:
    """Return ``words`` as one text, also with the program named without its folder."""
    return [" ".join(words), " ".join([words[0].rpartition("/")[2], *words[1:]])] if words else []
