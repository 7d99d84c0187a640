"""What the arguments of one simple command ask for besides its program: files, options that do more, variables."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Final

from harness_tui.permissions.command import Doubt
from harness_tui.permissions.filters import FILTERS, follows_links, texts_of
from harness_tui.permissions.programs import (
    DANGEROUS_VARIABLE,
    DECLARERS,
    GIT_FOLDER_OPTIONS,
    GIT_OPTIONS,
    GIT_RUNNERS,
    GIT_VALUED,
    MAY_SHORTEN,
    NO_FILES,
    OTHER_SHELLS,
    RISKY_OPTIONS,
    SHELLS,
    STATEFUL,
    UNSEEN_WRITERS,
    WRITERS,
    Options,
    Writer,
)
from harness_tui.permissions.shell_paths import Paths, bare_repository, looks_like_path
from harness_tui.permissions.shell_values import UnreadError, Word

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\+?=")
_UNARY: Final = frozenset("-a -b -c -d -e -f -g -h -k -n -p -r -s -t -u -w -x -z -G -L -N -O -S".split())  # noqa: SIM905
_BINARY: Final = frozenset("= == != < > -eq -ne -lt -le -gt -ge -nt -ot -ef".split())  # noqa: SIM905
_LETTERS: Final = 12
_URL: Final = re.compile(r"(?!file:)[a-z][a-z0-9+.-]*://")
_SET: Final = re.compile(r"[-+][euxo]+|pipefail|errexit|nounset|xtrace")
_DECLARED: Final = re.compile(r"-[xrg]")
_READ: Final = re.compile(r"-[rs]+")
_MODE: Final = re.compile(r"[0-7]{3,4}|[ugoa]*[-+=][rwxX]+")


def assigned_doubts(names: Sequence[str]) -> list[Doubt]:
    """Return a doubt for each variable of ``names`` that decides what runs."""
    return [
        Doubt(f"it sets {name}, which decides what programs do", f"{name}=", own=False)
        for name in dict.fromkeys(names)
        if DANGEROUS_VARIABLE.fullmatch(name)
    ]


class Arguments:
    """The words of one command. Files are noted in ``paths`` with ``shown`` as the command that names them.

    ``splits``: the value of an assignment among them may become several words.
    """

    def __init__(self, words: Sequence[Word], paths: Paths, shown: str, *, splits: bool = False) -> None:
        self._words = words
        self._paths = paths
        self._shown = shown
        self._splits = splits or words[0].quoted

    def doubts(self) -> list[Doubt]:
        """Return why a rule that fits is not enough; notes the files on the way."""
        name = self._words[0].fixed
        if name is None:
            self._paths.move(None)
            return [Doubt("its program is computed")]
        if name in DECLARERS or name in ("unset", "read"):
            return self._variables(name)
        if name in ("test", "["):
            return self._test()
        if name == "printf":
            first = self._words[1].fixed if len(self._words) > 1 else ""
            return [Doubt("printf can set a variable")] if first is None or first.startswith("-v") else []
        if name == "set":
            known = all(_SET.fullmatch(word.fixed or "") for word in self._words[1:])
            return [] if known else [Doubt("it sets the shell's own arguments or options")]
        if name in NO_FILES:
            return []
        return self._program(name)

    def _program(self, name: str) -> list[Doubt]:
        doubts: list[Doubt] = []
        if name in STATEFUL:
            doubts.append(Doubt(f"{name} changes what later words mean, or runs what it is given"))
            if name in ("source", "."):
                self._paths.move(None)
        elif name in SHELLS or name in OTHER_SHELLS:
            doubts.append(Doubt(f"{name} runs a text that is not looked into"))
        elif name in UNSEEN_WRITERS and (texts_of(self._words) is None or name not in FILTERS):
            doubts.append(Doubt(f"which files {name} writes is not looked into"))
        elif "/" in name and not name.startswith("/") and self._paths.folders != (self._paths.start,):
            placed = bool(self._paths.folders) and self._paths.start not in self._paths.folders
            reason = f"which program {name} is depends on the working folder, which is another one"
            doubts.append(Doubt(reason, own=False, placed=placed))
        base = name.rpartition("/")[2]
        doubts += self._git() if base == "git" else self._options(RISKY_OPTIONS.get(base, Options()), base)
        if name in ("cd", "pushd", "popd"):
            return doubts + self._folder(name)
        writer = WRITERS.get(base)
        try:
            if writer is not None:
                self._writes(writer)
            else:
                self._reads()
        except UnreadError as error:
            doubts.append(Doubt(str(error), open=writer is None))
        return doubts

    # --- options that do more --------------------------------------------------------------------

    def _git(self) -> list[Doubt]:
        """Return what git's own options, its sub-command and that one's options do besides."""
        at = 1
        doubts: list[Doubt] = []
        while at < len(self._words) and (text := self._words[at].text or "").startswith("-"):
            if text in GIT_FOLDER_OPTIONS:
                doubts.append(Doubt(f"git {text} can run something else or reach other files", text))
            at += 2 if text in GIT_VALUED else 1
        command = self._words[at].text if at < len(self._words) else None
        if command in GIT_RUNNERS:
            doubts.append(Doubt(f"git {command} can run any program", command))
        doubts += self._options(RISKY_OPTIONS["git"], "git")
        doubts += self._options(GIT_OPTIONS.get(command or "", Options()), "git", at + 1)
        bare = next((bare for folder in self._paths.folders if (bare := bare_repository(folder)) is not None), None)
        if bare is not None:
            doubts.append(Doubt(f"{bare} is a repository by itself, whose settings can run programs"))
        return doubts

    def _options(self, risky: Options, name: str, first: int = 1) -> list[Doubt]:
        doubts: list[Doubt] = []
        for at, word in enumerate(self._words[first:], first):
            text = word.text
            if text is None:
                continue
            if name == "make" and "=" in text and not text.startswith("-"):
                doubts.append(Doubt(f"it sets {text.partition('=')[0]} for make", text))
            if not text.startswith("-"):
                continue
            if found := _risky(text, risky.runs, name):
                doubts.append(Doubt(f"{found} can run something else or reach other files", found))
            elif found := _risky(text, risky.writes, name):
                doubts += self._written(text, found, at)
        return doubts

    def _written(self, text: str, option: str, at: int) -> list[Doubt]:
        doubt = Doubt(f"{option} writes a file", option, open=False)
        if "=" in text:
            target = Word(text, text.partition("=")[2])
        elif text != option:
            target = Word(text, text[len(option) :]) if text.startswith(option) else None
        else:
            target = self._words[at + 1] if at + 1 < len(self._words) else None
        if target is None or not target.text:
            return [doubt]
        try:
            self._paths.take(target, "edit", self._shown)
        except UnreadError as error:
            return [Doubt(str(error), open=False)]
        return []

    # --- files -----------------------------------------------------------------------------------

    def _reads(self) -> None:
        texts = texts_of(self._words) or ()
        if follows_links(self._words):
            named = [word.text for at, word in enumerate(self._words[1:], 1) if at not in texts]
            for text in [text for text in named if text and not text.startswith("-")] or ["."]:
                self._paths.take_links(text, self._shown)
        for at, word in enumerate(self._words[1:], 1):
            if at in texts:
                continue
            self._paths.take(word, "read", self._shown)
            for part in _parts_of(word.text or ""):
                if looks_like_path(part, self._paths.folders):
                    self._paths.take_text(part, "read", self._shown)

    def _writes(self, writer: Writer) -> None:
        files, deep = self._files_of(writer)
        if any(word.fixed is None and not word.stream for word in files):
            raise UnreadError("which files it writes is not known before it runs")
        files = files[writer.skip :]
        if writer.sources and len(files) > 1:
            self._into(files)
        written = files if not writer.sources or writer.moves else files[-1:]
        if writer.sources and len(files) > 1 and self._is_filled(files[-1]):
            written = written[:-1]
        for word in written:
            self._paths.take(word, "edit", self._shown)
            if (deep or writer.moves) and word.text:
                self._paths.take_deep(word.text, self._shown)
        for word in files[:-1] if writer.sources else ():
            self._paths.take(word, "read", self._shown)

    def _files_of(self, writer: Writer) -> tuple[list[Word], bool]:
        """Return the words that are no options, and whether folders are reached into."""
        files: list[Word] = []
        deep = options = False
        for word in self._words[1:]:
            text = word.text
            if text is None or not text.startswith("-") or text == "-" or options:
                files.append(word)
                continue
            if text == "--":
                options = True
            elif text.startswith("--"):
                if text not in writer.long:
                    raise UnreadError(f"which files it writes with {text} is not known")
                deep |= text == "--recursive"
            elif writer.skip and not files and _MODE.fullmatch(text):
                files.append(word)
            elif set(text[1:]) - set(writer.flags):
                raise UnreadError(f"which files it writes with {text} is not known")
            else:
                deep |= bool(set(text[1:]) & set(writer.deep))
        return files, deep

    def _is_filled(self, word: Word) -> bool:
        """Tell whether the files come to lie in the folder ``word``, which itself stays as it is."""
        options = [text for word in self._words if (text := word.text or "").startswith("-")]
        return not any("T" in text for text in options) and self._paths.is_folder(word.text or "")

    def _into(self, files: Sequence[Word]) -> None:
        """Note the files that come to lie in the last of ``files``, if that is a folder."""
        target = files[-1].text or ""
        for word in files[:-1]:
            name = (word.text or "").rstrip("/").rpartition("/")[2]
            if name in ("", ".", ".."):
                raise UnreadError("which files it writes is not known")
            self._paths.take_text(f"{target.rstrip('/') or '/'}/{name}", "edit", self._shown)

    def _folder(self, name: str) -> list[Doubt]:
        target = self._words[1].fixed if len(self._words) == 2 else None
        if name != "cd" or not target or target.startswith("-"):
            self._paths.move(None)
            return [Doubt("the working folder is computed")]
        try:
            # The shell takes .. off the name, the system off the folder that a link leads to: either may be meant.
            found = [*self._paths.resolved(target), *self._paths.resolved(os.path.normpath(target))]
            self._paths.take_text(target, "read", self._shown)
        except UnreadError as error:
            self._paths.move(None)
            return [Doubt(str(error))]
        self._paths.move([path.absolute for path in found if path is not None])
        return []

    # --- builtins --------------------------------------------------------------------------------

    def _variables(self, name: str) -> list[Doubt]:
        names: list[str] = []
        for word in self._words[1:]:
            assigned = _ASSIGNMENT.match(word.raw)
            if assigned is not None:
                if self._splits and word.text is None and not _in_quotes(word.raw[assigned.end() :]):
                    return [Doubt(f"{name} with {word.raw} may set more than {assigned[1]}")]
                names.append(assigned[1])
            elif word.fixed is not None and _NAME.fullmatch(word.fixed):
                names.append(word.fixed)
            elif not (_READ if name == "read" else _DECLARED).fullmatch(word.raw):
                return [Doubt(f"{name} with {word.raw} can compute")]
        return assigned_doubts(names)

    def _test(self) -> list[Doubt]:
        words = list(self._words[1:])
        if self._words[0].raw == "[" and words and words[-1].raw == "]":
            words.pop()
        if words and words[0].raw == "!":
            words.pop(0)
        whole = all(word.fixed is not None or _in_quotes(word.raw) for word in words)
        match [word.fixed for word in words]:
            case [] | [str()]:
                known = True
            case [operator, _]:
                known = operator in _UNARY
            case [_, operator, _]:
                known = operator in _BINARY
            case _:
                known = False
        return [] if whole and known else [Doubt("the test can compute")]


def _parts_of(text: str) -> list[str]:
    """Return the parts of an argument that may name a file although the whole does not."""
    found: list[str] = []
    if _URL.match(text):
        return []
    if "=" in text:
        found += [text.partition("=")[2], text.partition("=")[2].lstrip("@<")]
    if text.startswith("-") and not text.startswith("--") and len(text) > 2:
        # Letters without a value may stand before the one whose value it is.
        found += [text[2:], *(text[at:] for at in range(2, min(len(text), _LETTERS)) if os.path.lexists(text[at:]))]
        found += [part.lstrip("@<") for part in found if part[:1] in "@<"]
    if text.startswith("@"):
        found.append(text[1:])
    if ":" in text and not any(map(_URL.match, (text, *found))):
        found += text.split(":")
    return [part for part in found if part and not _URL.match(part)]


def _risky(text: str, options: frozenset[str], name: str) -> str | None:
    """Return the option of ``options`` that ``text`` is or may stand for."""
    head = text.partition("=")[0]
    if name in ("go", "find"):
        head = head[1:] if head.startswith("--") else head
        return head if head in options else None
    if head in options:
        return head
    if text.startswith("--"):
        if name == "uv":
            return next((option for option in options if option[1] == "-" and head.startswith(option)), None)
        short = name in MAY_SHORTEN and len(head) > 2
        return next((option for option in options if short and option.startswith(head)), None)
    letters = [option for option in options if len(option) == 2]
    return next((option for option in letters if option[1] in head[1:]), None)


def _in_quotes(raw: str) -> bool:
    return len(raw) > 1 and raw[0] == raw[-1] == '"' and raw.count('"') == 2 and "@" not in raw
