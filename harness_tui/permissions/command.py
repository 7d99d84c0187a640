"""One simple command as rules see it: what an allow has to cover, and every form in which a rule may hold it back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from harness_tui.core.patterns import first_wildcard, is_literal, literal_head, literal_text, matches, unescaped
from harness_tui.core.record import record
from harness_tui.core.seams import Check
from harness_tui.permissions import bash
from harness_tui.permissions.programs import GIT_HARMLESS, OFFERED, OFFERED_SCRIPTS
from harness_tui.permissions.shell_values import Word

_UNLIKE_BLANKS: Final = dict.fromkeys(map(ord, " \t\n"), "\ufffc")


@record
class Doubt:
    """Why a command needs more than a rule that fits: it does something besides.

    A pattern that holds the text ``name`` covers it. ``open``: ``*`` does too, where no rule is about particular
    commands. ``own``: it is about the words of the command, so that a pattern with exactly these words covers it.
    ``placed``: it is about the folder of the whole text, which no pattern names.
    """

    reason: str
    name: str | None = None
    open: bool = True
    own: bool = True
    placed: bool = False


@record
class Outer:
    """A wrapper around a command as written, up to the end of the program that it starts."""

    text: str
    head: int


@dataclass(frozen=True, slots=True, eq=False)
class Command:
    """A simple command. ``check.value`` is its words as written, ``whole`` the text that it is a part of.

    ``words`` are what it is made of, ``around`` the texts of wrappers around it: a rule that asks or denies is tried on
    all of them. ``unread``: it is no simple command but a text that is not understood. ``offer`` is the pattern of a
    wider approval; without ``lasting`` none is kept. ``plain``: no word is quoted. ``alike`` are its words without
    options that change nothing for a rule.
    """

    check: Check
    whole: str
    words: tuple[Word, ...] = ()
    around: tuple[str, ...] = ()
    outers: tuple[Outer, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    unread: str | None = None
    lasting: bool = False
    offer: str | None = None
    plain: bool = False
    alike: str | None = None

    def may_begin(self, text: str) -> bool:
        """Tell whether any text that an allow could cover begins with ``text``: many rules are told off by that."""
        return (
            self.check.value.startswith(text)
            or self.whole.startswith(text)
            or (self.alike is not None and self.alike.startswith(text))
            or (bool(self.outers) and any(outer.text.startswith(text) for outer in self.outers))
        )

    def allowed_by(self, pattern: str, *, held_back: bool) -> bool:
        """Tell whether an allow rule covers it. ``held_back``: there are rules on particular commands."""
        if self.unread is not None:
            return False
        if pattern == "*":
            return all(doubt.open and not held_back for doubt in self.doubts)
        if any(doubt.placed for doubt in self.doubts):
            return False
        if is_literal(pattern):
            text = unescaped(pattern)
            if text == self.whole:
                return True
            return text in self.texts() and all(
                doubt.own or (doubt.name is not None and doubt.name in text) for doubt in self.doubts
            )
        if not self._fits(pattern):
            return False
        named = literal_text(pattern)
        return all(doubt.name is not None and doubt.name in named for doubt in self.doubts)

    def _fits(self, pattern: str) -> bool:
        if matches(pattern, self.check.value):
            if self.plain:
                return True
            # What follows a wildcard must not be the end of a quoted word.
            ends = first_wildcard(pattern) == len(pattern) - 1
            return ends or self._fits_guarded(pattern)
        if self.alike is not None and first_wildcard(pattern) == len(pattern) - 1 and matches(pattern, self.alike):
            return True
        head = len(literal_head(pattern))
        around = [outer for outer in self.outers if head >= outer.head] if pattern.endswith(" *") else []
        return any(matches(pattern, outer.text) for outer in around)

    def _fits_guarded(self, pattern: str) -> bool:
        texts = [word.raw if word.text is None else word.text for word in self.words]
        return matches(pattern, " ".join(text.translate(_UNLIKE_BLANKS) for text in texts))

    def held_back_by(self, pattern: str) -> bool:
        """Tell whether a rule that asks or denies is about it."""
        if matches(pattern, self.check.value) or matches(pattern, self.check.display or self.check.value):
            return True
        return pattern != "*" and any(matches(pattern, form) for form in self.forms())

    def texts(self) -> tuple[str, ...]:
        """Return every text that an exact pattern may name it by."""
        return (self.check.value, self.whole, *(outer.text for outer in self.outers))

    def forms(self) -> tuple[str, ...]:
        """Return the texts besides its value in which a rule may mean it."""
        if self.unread is not None:
            return bash.parts(self.whole)
        return (*forms_of(self.words), *self.around) if self.words else self.around

    @property
    def reason(self) -> str | None:
        """What a person should know before allowing it."""
        return self.unread or next((doubt.reason for doubt in self.doubts), None)


def unread_command(text: str, reason: str) -> Command:
    """Return the one part of a text that is not understood; rules that hold back are tried on its pieces."""
    return Command(Check("bash", text, text), text, unread=reason)


def forms_of(words: tuple[Word, ...]) -> tuple[str, ...]:
    """Return the texts besides the written one in which a rule may mean the command ``words``."""
    texts = [word.raw if word.text is None else word.text for word in words]
    forms = dict.fromkeys(bash.named(texts))
    name = texts[0].rpartition("/")[2]
    if name == "git":
        forms |= dict.fromkeys(bash.named(_without_options(texts)))
    if name in bash.RUNNERS:
        for start in range(1, min(len(texts), bash.RUNNER_ARGUMENTS)):
            forms |= dict.fromkeys(bash.named(texts[start:]))
        if any(" " in text or "\n" in text for text in texts):
            forms |= dict.fromkeys(bash.parts(" ".join(texts)))
    return tuple(forms)


def offered_pattern(words: tuple[Word, ...]) -> str | None:
    """Return the pattern of program and sub-command that may be offered for ``words``, ``None`` for none."""
    raw = [word.raw for word in words]
    known = OFFERED.get(raw[0])
    if len(raw) > 2 and OFFERED_SCRIPTS.get(raw[0]) == raw[1] and _is_name(raw[2]):
        if raw[0] != "uv":
            return f"{raw[0]} run {raw[2]} *"
        return f"uv run {raw[2]} *" if OFFERED.get(raw[2]) == frozenset() else None
    if raw[0] == "make":
        return f"make {raw[1]} *" if len(raw) > 1 and _is_name(raw[1]) else None
    if known is None:
        return None
    if not known:
        return f"{raw[0]} *"
    return f"{raw[0]} {raw[1]} *" if len(raw) > 1 and raw[1] in known else None


def without_harmless(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Return ``words`` without options between git and its sub-command that only say how it shows what it finds."""
    at = 1
    while words[0].raw == "git" and at < len(words) and words[at].raw in GIT_HARMLESS:
        at += 1
    return (words[0], *words[at:])


def _is_name(text: str) -> bool:
    return bool(text) and text[0].isalnum() and all(char.isalnum() or char in "-_:." for char in text)


def _without_options(texts: list[str]) -> list[str]:
    at = 1
    while at < len(texts) and texts[at].startswith("-"):
        at += 2 if texts[at] in ("-c", "-C", "--git-dir", "--work-tree", "--namespace", "--exec-path") else 1
    return [texts[0], *texts[at:]]
