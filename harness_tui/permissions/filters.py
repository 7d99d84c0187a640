"""Programs that are given a text besides files: which of their words are that text, and that the text only reads.

sed and awk can write files and run programs; what is accepted of them is a part of their languages that cannot.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from harness_tui.permissions.shell_values import Word

_ADDRESS: Final = r"(?:[0-9]+|\$|/(?:[^/\[\\\n]|\\[^\n])+/)"
_SED: Final = re.compile(
    rf"(?:{_ADDRESS}(?:,{_ADDRESS})?)?[pdq=]"
    r"|s([/|,#])(?:(?!\1)[^\\\n]|\\[^\n])*\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gIip0-9]*"
)
"""Texts for sed that neither write nor run: lines printed or left out, one plain substitution."""

_SED_FLAGS: Final = frozenset({"-n", "-E", "-r", "-s", "-u"})
_AWKS: Final = frozenset({"awk", "gawk", "mawk", "nawk"})
_AWK_DOES_MORE: Final = re.compile(
    r"[|@`]|system|getline|extension|ARG[CV]|SYMTAB|PROCINFO|print(?s:.)*>|>(?s:.)*print",
)
"""Pipes, loaded code, other files; ``>`` is a comparison where nothing is printed."""
_AWK_VARIABLE: Final = re.compile(r"(?!ARG|SYMTAB|PROCINFO|ENVIRON)[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
FILTERS: Final = _AWKS | {"sed", "uniq"}
"""Programs that write files only where :func:`texts_of` says so."""

_GREPS: Final = frozenset({"grep", "egrep", "fgrep", "rg"})
_GREP_FLAG: Final = re.compile(
    r"-[abcEFGhHiIlLnNoPqrRsSvwxUz0]+|--(?:include|exclude|exclude-dir|color|glob|type)=[^/~]*"
)
_FOLLOWING: Final = {"grep": ("R", "--dereference-recursive"), "rg": ("L", "--follow")}
_GIT_TEXTS: Final = frozenset({"-m", "-am", "--message"})


def texts_of(words: Sequence[Word]) -> frozenset[int] | None:
    """Return the places of the words that are texts and name no files, ``None`` where the text may do more than read.

    For a program that is not known here there are none.
    """
    name = words[0].fixed
    if name == "sed":
        return _sed(words)
    if name == "uniq":
        return _uniq(words)
    if name in _AWKS:
        return _awk(words)
    if name in _GREPS:
        return _grep(words)
    if name == "git":
        return _git(words)
    return frozenset()


def follows_links(words: Sequence[Word]) -> bool:
    """Tell whether the program walks through folders and through the links in them."""
    known = _FOLLOWING.get(words[0].fixed or "")
    if known is None:
        return False
    short, long = known
    texts = [word.text or "" for word in words[1:]]
    return any(
        text.startswith(long) if text.startswith("--") else text.startswith("-") and short in text for text in texts
    )


def _sed(words: Sequence[Word]) -> frozenset[int] | None:
    expressions = {at + 1 for at, word in enumerate(words) if word.fixed in ("-e", "--expression")}
    places = expressions or {
        next((at for at, word in enumerate(words[1:], 1) if not (word.fixed or "-").startswith("-")), len(words))
    }
    for at, word in enumerate(words[1:], 1):
        text = word.fixed
        if at in places:
            if text is None or _SED.fullmatch(text) is None:
                return None
        elif text is None or (text.startswith("-") and text not in _SED_FLAGS and at + 1 not in expressions):
            return None
    return None if len(words) in places else frozenset(places)


def _uniq(words: Sequence[Word]) -> frozenset[int] | None:
    texts = [word.fixed for word in words[1:]]
    files = [text for text in texts if text is not None and not text.startswith("-")]
    options = {text for text in texts if text is None or text.startswith("-")}
    return frozenset() if len(files) < 2 and options <= {"-c", "-d", "-u", "-i"} else None


def _awk(words: Sequence[Word]) -> frozenset[int] | None:
    found: set[int] = set()
    at = 1
    while at < len(words):
        text = words[at].fixed
        if text is None:
            return None
        if not text.startswith("-"):
            break
        valued = text in ("-F", "-v")
        value = words[at + 1].fixed if valued and at + 1 < len(words) else text[2:]
        known = value is not None and (_AWK_VARIABLE.fullmatch(value) if text[:2] == "-v" else text[:2] == "-F")
        if not known or text.startswith("--"):
            return None
        found |= {at, at + 1} if valued else {at}
        at += 2 if valued else 1
    program = words[at].fixed if at < len(words) else None
    if program is None or _AWK_DOES_MORE.search(program.replace("||", " ")):
        return None
    return frozenset({*found, at})


def _grep(words: Sequence[Word]) -> frozenset[int]:
    """Return the place of the pattern where all that is in front of it is known to be no file."""
    for at, word in enumerate(words[1:], 1):
        text = word.text
        if text is None:
            return frozenset({at}) if word.whole else frozenset()
        if not text.startswith("-"):
            return frozenset() if word.glob else frozenset({at})
        if _GREP_FLAG.fullmatch(text) is None:
            return frozenset()
    return frozenset()


def _git(words: Sequence[Word]) -> frozenset[int]:
    """Return the places of messages: what a person reads, and git as well."""
    known = words[1].fixed if len(words) > 1 else None
    if known not in ("commit", "tag", "stash", "notes", "merge"):
        return frozenset()
    return frozenset(
        at
        for at, word in enumerate(words)
        if at > 1 and words[at - 1].fixed in _GIT_TEXTS and (word.fixed is not None or word.whole)
    )
