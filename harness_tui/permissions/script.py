"""A shell text as the gate decides on it: its simple commands, and the files that they name."""

from __future__ import annotations

import os
import re
import shutil
import unicodedata
from dataclasses import replace
from functools import lru_cache
from typing import Final

from harness_tui.core.record import record
from harness_tui.core.seams import Check
from harness_tui.permissions.arguments import Arguments, assigned_doubts
from harness_tui.permissions.command import (
    Command,
    Doubt,
    Outer,
    forms_of,
    offered_pattern,
    unread_command,
    without_harmless,
)
from harness_tui.permissions.matching import Matcher
from harness_tui.permissions.programs import DANGEROUS_VARIABLE
from harness_tui.permissions.shell_paths import Paths
from harness_tui.permissions.shell_reader import ShellReader
from harness_tui.permissions.shell_tree import command_starts
from harness_tui.permissions.shell_values import LEVELS, PARTS, TEXT_BYTES, Reading, Simple, UnreadError, Word
from harness_tui.permissions.wrappers import Inner, look_into

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_PLAIN_HOME: Final = re.compile(r"[A-Za-z0-9_./-]+")
_SCRIPTS_DEEP: Final = 6
_WRAPPED: Final = 32


@record
class Script:
    """A text taken apart. ``paths`` are checks on files; the ``display`` of each is the command that names it."""

    commands: tuple[Command, ...]
    paths: tuple[Check, ...] = ()


def read_script(text: str, folder: str, matcher: Matcher, start: str | None = None) -> Script:
    """Take ``text`` apart, which runs in ``folder``. Never raises: what is not understood is one unread command.

    ``start`` is the folder that rules are written for, ``folder`` by default.
    """
    start = folder if start is None else start
    try:
        builder = _built(text, Paths(matcher, (folder,), start=start))
        if builder.wanders:
            builder = _built(text, Paths(matcher, (), start=start))
        return builder.result()
    except UnreadError as error:
        return Script((unread_command(text, f"the command is not understood: {error}"),))
    except RecursionError:
        reason = f"the command is not understood: more than {LEVELS} levels"
        return Script((unread_command(text, reason),))
    except Exception as error:  # noqa: BLE001 - a fault of ours, or a parser that is missing, must not hide a deny
        return Script((unread_command(text, f"the command could not be read: {error}"),))


def _built(text: str, paths: Paths) -> _Builder:
    builder = _Builder(text, paths)
    builder.script(text, posix=not _has_bash(paths.matcher.root.as_posix()))
    return builder


@lru_cache(maxsize=8)
def _has_bash(root: str) -> bool:
    """Tell whether there is a bash outside the project; without one ``sh`` reads the texts, some otherwise."""
    entries = [entry for entry in os.environ.get("PATH", os.defpath).split(os.pathsep) if entry.startswith("/")]
    outside = [entry for entry in entries if not f"{os.path.realpath(entry)}/".startswith(f"{root}/")]
    return shutil.which("bash", path=os.pathsep.join(outside)) is not None


def check_text(text: str) -> None:
    """Raise ``UnreadError`` for a text that is too long or holds characters that are not shown as they are."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise UnreadError("it is no Unicode text") from error
    if size > TEXT_BYTES:
        raise UnreadError(f"it is longer than {TEXT_BYTES // 1024} KiB")
    if _CONTROL.search(text):
        raise UnreadError("it holds control characters")
    if not text.isascii():
        odd = next((char for char in text if not char.isascii() and unicodedata.category(char)[0] in "ZC"), None)
        if odd is not None:
            raise UnreadError(f"it holds an invisible character, U+{ord(odd):04X}")


class _Builder:
    def __init__(self, whole: str, paths: Paths) -> None:
        self._whole = whole
        self._paths = paths
        self._commands: list[Command] = []
        self._lasting = "\n" not in whole
        self._deep = 0
        self._known: dict[tuple[object, ...], Command] = {}
        self._posix = False
        self._later = False
        home = paths.matcher.home.as_posix()
        self._home = home if _PLAIN_HOME.fullmatch(home) else None

    @property
    def wanders(self) -> bool:
        """Whether a command may run in a folder that the text moves to behind it: in a loop, a function, a trap."""
        return self._paths.moved_again or (self._later and self._paths.moved)

    def result(self) -> Script:
        """Return what was found; a text without any simple command is one itself."""
        if not self._commands:
            self._commands.append(Command(Check("bash", self._whole, self._whole), self._whole))
        commands = self._commands
        if not self._lasting:
            once = {id(command): replace(command, lasting=False, offer=None) for command in commands}
            commands = [once[id(command)] for command in commands]
        return Script(tuple(commands), tuple(self._paths.checks.values()))

    def script(self, text: str, *, posix: bool, forms: tuple[str, ...] = ()) -> None:
        """Take ``text`` apart. ``forms`` are the texts of what runs it. Raises ``UnreadError``."""
        check_text(text)
        self._deep += 1
        if self._deep > _SCRIPTS_DEEP:
            raise UnreadError(f"more than {_SCRIPTS_DEEP} shell texts in one another")
        around = self._posix, self._paths.moving
        self._posix = posix
        reading = Reading()
        ShellReader(text, reading, home=self._home, posix=posix).read()
        if not set(command_starts(text)) <= reading.starts:
            raise UnreadError("two ways of reading it differ")
        if any(DANGEROUS_VARIABLE.fullmatch(name) for name in reading.variables):
            raise UnreadError("a loop sets a variable that decides which programs run")
        self._lasting &= not reading.here
        self._later |= reading.functions
        for simple in reading.commands:
            self._paths.moving = around[1] or simple.moving
            self._simple(simple, forms)
        self._posix, self._paths.moving = around
        self._deep -= 1

    def _simple(self, simple: Simple, forms: tuple[str, ...]) -> None:
        shown = simple.source
        doubts = assigned_doubts(simple.assigned)
        for redirect in simple.redirects:
            doubts += self._redirect(redirect.operator, redirect.target, shown)
        if simple.words:
            set_before = " ".join(simple.source[: simple.lead].split())
            head = len(set_before) + 1 + len(simple.words[0].raw)
            around = (Outer(f"{set_before} {simple.value}", head),) if set_before else ()
            self._command(simple.words, shown, doubts, around, forms)
        elif doubts:
            check = Check("bash", simple.source, shown)
            self._add(Command(check, self._whole, around=forms, doubts=tuple(doubts)))

    def _redirect(self, operator: str, target: Word | None, shown: str) -> list[Doubt]:
        if target is None or operator == "<<<":
            return []
        if operator in (">&", "<&") and re.fullmatch(r"[0-9]+-?|-", target.raw):
            return []
        reads = operator in ("<", "<&")
        try:
            self._paths.take(target, "read" if reads else "edit", shown)
            if operator == "<>":
                self._paths.take(target, "read", shown)
        except UnreadError as error:
            return [Doubt(str(error), open=reads, own=False)]
        return []

    def _command(
        self,
        words: tuple[Word, ...],
        shown: str,
        doubts: list[Doubt],
        outers: tuple[Outer, ...],
        forms: tuple[str, ...],
    ) -> None:
        value = " ".join(word.raw for word in words)
        try:
            inners = look_into(words)
        except UnreadError as error:
            doubts.append(Doubt(f"it is not known what runs: {error}"))
            inners = None
        if inners is None or any(inner.also for inner in inners):
            self._own(words, value, shown, doubts, outers, forms)
            doubts = []
        if inners is None:
            return
        if len(outers) > _WRAPPED:
            raise UnreadError("too many commands in one another")
        for inner in inners:
            self._inner(inner, value, shown, doubts, outers, (*forms, value, *forms_of(words)))

    def _inner(
        self,
        inner: Inner,
        value: str,
        shown: str,
        doubts: list[Doubt],
        outers: tuple[Outer, ...],
        forms: tuple[str, ...],
    ) -> None:
        if inner.script is not None:
            if doubts:
                check = Check("bash", value, shown)
                self._add(Command(check, self._whole, around=forms, outers=outers, doubts=tuple(doubts)))
            self._later |= inner.later
            self._paths.moving |= inner.later
            self.script(inner.script, posix=self._posix if inner.posix is None else inner.posix, forms=forms)
            return
        ended = " ".join(word.raw for word in inner.words)
        head = len(value) - len(ended) + len(inner.words[0].raw) if value.endswith(ended) else len(value)
        around = outers if inner.also else (*_longer(outers, inner.words[0]), Outer(value, head))
        folders = self._paths.folders
        if inner.elsewhere:
            self._paths.folders = ()
        self._command(inner.words, shown, [*doubts, *assigned_doubts(inner.assigned)], around, forms)
        self._paths.folders = folders if inner.elsewhere else self._paths.folders

    def _own(
        self,
        words: tuple[Word, ...],
        value: str,
        shown: str,
        doubts: list[Doubt],
        outers: tuple[Outer, ...],
        forms: tuple[str, ...],
    ) -> None:
        """Add the command ``words`` itself."""
        arguments = Arguments(words, self._paths, shown, splits=self._posix or bool(outers))
        doubts = [*doubts, *arguments.doubts()]
        bare = without_harmless(words)
        known = all(word.text is not None for word in words)
        lasting = known and all(doubt.name is not None for doubt in doubts)
        self._add(
            Command(
                Check("bash", value, shown),
                self._whole,
                words,
                forms,
                outers=outers,
                doubts=tuple(doubts),
                lasting=lasting,
                offer=offered_pattern(bare) if lasting and not doubts else None,
                plain=not any(word.quoted for word in words),
                alike=" ".join(word.raw for word in bare) if len(bare) < len(words) else None,
            )
        )

    def _add(self, command: Command) -> None:
        # Commands that are the same are one, so that they are decided once.
        key = (command.check.value, command.check.display, command.doubts, command.around, command.outers)
        self._commands.append(self._known.setdefault((*key, command.lasting, len(command.words)), command))
        if len(self._commands) > PARTS:
            raise UnreadError(f"more than {PARTS:,} commands")


def _longer(outers: tuple[Outer, ...], word: Word) -> tuple[Outer, ...]:
    """Return ``outers`` with their heads reaching to the program ``word``, which a further wrapper starts."""
    found: list[Outer] = []
    for outer in outers:
        at = outer.text.find(word.raw, outer.head)
        found.append(Outer(outer.text, len(outer.text) if at < 0 else at + len(word.raw)))
    return tuple(found)
