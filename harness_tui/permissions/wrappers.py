"""Looks into commands that only start another one: what they start is decided as if it stood alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from harness_tui.core.record import record
from harness_tui.permissions.programs import SHELLS
from harness_tui.permissions.shell_values import UnreadError, Word

UNKNOWN: Final = Word("...", None)
"""A word that is known only when the command runs."""

_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=")
_SHELL_FLAGS: Final = re.compile(r"-[eux]*c")
_DURATION: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?[smhd]?")


@record
class Inner:
    """A command in another. ``script`` is a shell text, ``words`` a command; ``assigned`` are variables set for it.

    ``posix``: another shell than bash reads the text; ``None``: the one that reads the outer command does. ``later``:
    it runs at some other time. ``elsewhere``: it runs in folders that are not known. ``also``: the outer command does
    something itself and is decided too.
    """

    words: tuple[Word, ...] = ()
    script: str | None = None
    posix: bool | None = None
    assigned: tuple[str, ...] = ()
    later: bool = False
    elsewhere: bool = False
    also: bool = False


@record
class _Grammar:
    """Options of a wrapper: ``flags`` alone, ``valued`` with a value in the next word (or attached)."""

    flags: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()

    def skip(self, words: Sequence[Word], at: int) -> int:
        """Return the place of the first word that is no option. Raises ``UnreadError`` for an unknown one."""
        while at < len(words):
            text = words[at].fixed
            if text is None:
                raise UnreadError(f"{words[0].raw} with a computed option or program")
            if not text.startswith("-") or text == "-":
                return at
            at += 1
            if text == "--":
                return at
            if text in self.flags:
                continue
            if text in self.valued:
                # A computed value may become several words, the program among them.
                if at >= len(words) or words[at].fixed is None:
                    raise UnreadError(f"{words[0].raw} with a computed option")
                at += 1
            elif not self._attached(text):
                raise UnreadError(f"{words[0].raw} with the option {text}")
        return at

    def _attached(self, text: str) -> bool:
        name, equals, _ = text.partition("=")
        if text.startswith("--"):
            return bool(equals) and name in self.valued
        return len(text) > 2 and text[:2] in self.valued


def _grammar(flags: str = "", valued: str = "") -> _Grammar:
    return _Grammar(frozenset(flags.split()), frozenset(valued.split()))


_SIMPLE: Final = {
    "command": _grammar("-p"),
    "builtin": _grammar(),
    "exec": _grammar("-l", "-a"),
    "nohup": _grammar(),
    "nice": _grammar("", "-n --adjustment"),
    "ionice": _grammar("-t", "-c -n --class --classdata"),
    "stdbuf": _grammar("", "-i -o -e --input --output --error"),
    "timeout": _grammar("-v --foreground --preserve-status --verbose", "-k -s --kill-after --signal"),
}
_ENV: Final = _grammar("-i - --ignore-environment -0", "-u --unset")
_SUDO: Final = _grammar("-n -H -k --non-interactive --set-home", "-u -g --user --group")
_XARGS: Final = _grammar(
    "-0 -r -t -x --null --no-run-if-empty --verbose --exit",
    "-n -P -L -s -d -I --max-args --max-procs --max-lines --delimiter --max-chars",
)
_XARGS_COUNTS: Final = ("-n", "-L", "--max-args", "--max-lines")
_FIND_RUNS: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})


def look_into(words: Sequence[Word]) -> list[Inner] | None:
    """Return what the command ``words`` starts, ``None`` for one that starts nothing of its arguments.

    Raises ``UnreadError`` where a wrapper is used in a way that is not known.
    """
    name = words[0].fixed
    if name is None:
        return None
    special = _SPECIAL.get(name)
    if special is not None:
        return special(words)
    grammar = _SIMPLE.get(name)
    if grammar is None:
        return None
    if name == "command" and len(words) > 1 and words[1].raw in ("-v", "-V"):
        return None
    if name == "nice" and len(words) > 1 and re.fullmatch(r"-[0-9]+", words[1].raw):
        return [Inner(tuple(words[2:]))] if len(words) > 2 else None
    at = grammar.skip(words, 1)
    if name == "timeout":
        if at >= len(words) or not _DURATION.fullmatch(words[at].raw):
            raise UnreadError("timeout without a plain duration")
        at += 1
    return [Inner(tuple(words[at:]))] if at < len(words) else None


def _env(words: Sequence[Word]) -> list[Inner] | None:
    at = _ENV.skip(words, 1)
    # A variable that is taken away decides as much as one that is set.
    assigned = [name for name in map(_unset_by_env, words[1:at], words[2 : at + 1]) if name]
    while at < len(words):
        if words[at].fixed is None:
            raise UnreadError("env with a computed program or variable")
        found = _ASSIGNMENT.match(words[at].raw)
        if found is None:
            if "=" in (words[at].text or ""):
                raise UnreadError("env with a variable of an odd name")
            return [Inner(tuple(words[at:]), assigned=tuple(assigned))]
        assigned.append(found[1])
        at += 1
    return None


def _unset_by_env(word: Word, following: Word) -> str | None:
    text = word.text or ""
    if text in ("-u", "--unset"):
        return following.text
    return text.removeprefix("--unset=").removeprefix("-u") if text.startswith(("--unset=", "-u")) else None


def _sudo(words: Sequence[Word]) -> list[Inner] | None:
    at = _SUDO.skip(words, 1)
    if at < len(words) and "=" in words[at].raw:
        raise UnreadError("sudo with a variable")
    return [Inner(tuple(words[at:]), also=True)] if at < len(words) else None


def _xargs(words: Sequence[Word]) -> list[Inner] | None:
    at = _XARGS.skip(words, 1)
    if at >= len(words):
        return [Inner((Word("echo", "echo"), UNKNOWN))]
    placeholder: str | None = None
    counted = False
    for place, word in enumerate(words[1:at], 1):
        text = word.text or ""
        counted |= text.startswith(_XARGS_COUNTS)
        if text.startswith("-I"):
            placeholder = text[2:] or words[place + 1].text
    if placeholder is None:
        return [Inner((*words[at:], UNKNOWN))]
    filled = _filled(words[at:], placeholder)
    # With a number, which of the two counts depends on the program and their order.
    return [Inner((*filled, UNKNOWN) if counted else filled)]


def _filled(words: Sequence[Word], placeholder: str) -> tuple[Word, ...]:
    """Return ``words`` with those that hold the placeholder unknown."""
    return tuple(
        Word(word.raw, None) if word.text is None or placeholder in word.text or placeholder in word.raw else word
        for word in words
    )


def _find(words: Sequence[Word]) -> list[Inner] | None:
    if any(word.fixed is None for word in words):
        # It could be the ; that ends a command, and what follows an action of its own.
        raise UnreadError("find with a computed argument")
    found: list[Inner] = []
    at = 1
    while at < len(words):
        text = words[at].fixed
        at += 1
        if text not in _FIND_RUNS:
            continue
        start = at
        while at < len(words) and words[at].text not in (";", "+"):
            at += 1
        if at >= len(words) or at == start:
            raise UnreadError(f"find {text} without its end")
        if words[at].text == "+" and words[at - 1].text != "{}":
            raise UnreadError(f"find {text} with a + that does not end it")
        found.append(Inner(_filled(words[start:at], "{}"), elsewhere=text.endswith("dir"), also=True))
        at += 1
    return found or None


def _eval(words: Sequence[Word]) -> list[Inner] | None:
    texts = [word.fixed for word in words[1:]]
    if None in texts:
        raise UnreadError("eval of a computed text")
    return [Inner(script=" ".join(text for text in texts if text is not None))] if texts else None


def _trap(words: Sequence[Word]) -> list[Inner] | None:
    if len(words) < 3 or words[1].raw.startswith("-"):
        raise UnreadError("trap of a form that is not known")
    text = words[1].fixed
    if text is None:
        raise UnreadError("trap with a computed text")
    return [Inner(script=text, later=True)] if text else None


def _shell(words: Sequence[Word]) -> list[Inner] | None:
    at = 1
    while at + 1 < len(words) and words[at].raw in ("-e", "-u", "-x"):
        at += 1
    if at >= len(words) or not _SHELL_FLAGS.fullmatch(words[at].raw):
        return None
    if at + 1 >= len(words):
        raise UnreadError(f"{words[0].raw} -c without a text")
    text = words[at + 1].fixed
    if text is None:
        raise UnreadError(f"{words[0].raw} -c with a computed text")
    return [Inner(script=text, posix=words[0].raw != "bash")]


_SPECIAL: Final[dict[str, Callable[[Sequence[Word]], list[Inner] | None]]] = {
    "env": _env,
    "sudo": _sudo,
    "xargs": _xargs,
    "find": _find,
    "eval": _eval,
    "trap": _trap,
    **dict.fromkeys(SHELLS, _shell),
}

__all__ = ["UNKNOWN", "Inner", "look_into"]
