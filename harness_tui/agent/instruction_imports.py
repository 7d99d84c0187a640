"""Files that ``CLAUDE.md`` and ``GEMINI.md`` take in with ``@path``: read beside them, each named as what it is.

An instruction file comes with a folder that somebody else may have made. So it takes in what an agent could read there
without asking anybody, and nothing else: no secrets, no file outside the project, also not through a link.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import AGENTS_MD_BYTES
from harness_tui.core.paths import expand, is_inside, name_in, read_regular, resolve
from harness_tui.core.record import record
from harness_tui.core.seams import Check, GateCall, PermissionGate
from harness_tui.core.values import AgentDefinition
from harness_tui.library.lexer import find_mentions

MayRead: TypeAlias = Callable[[Path], bool]
"""Tells of a real path inside the project whether it may be read without asking."""

IMPORT_DEPTH: Final = 5
IMPORT_FILES: Final = 20
IMPORT_BYTES: Final = 2 * AGENTS_MD_BYTES
_TRAILING: Final = ".:!?)]}"
_TRAILING_SIGNS: Final = 8
_MENTIONS: Final = 200
"""How many words of one file that look like imports are looked for."""


@record
class Imported:
    """A file that was taken in, or why it was not. ``name`` is how it is shown."""

    path: Path
    name: str
    text: str
    problem: str | None = None


def readable_without_asking(
    gate: PermissionGate, agents: Iterable[AgentDefinition], root: Path, *, session: str, mode: str
) -> MayRead:
    """Return what tells whether all of ``agents`` may read a path of the project without a question."""
    known = tuple(agents)

    def may_read(path: Path) -> bool:
        check = Check("read", name_in(path, root))
        return all(
            gate.decide(
                GateCall(
                    call="instructions",
                    tool="read",
                    checks=(check,),
                    session=session,
                    agent=agent.name,
                    mode=mode,
                    agent_rules=agent.permission,
                )
            ).action
            == "allow"
            for agent in known
        )

    return may_read


class ImportReader:
    """Follows the imports of instruction files under ``base``, each file once.

    ``base`` is a resolved folder: the project root, or the folder of a file of the person's own, where ``may_read`` is
    not asked.
    """

    def __init__(self, base: Path, root: Path, may_read: MayRead | None) -> None:
        self._base = base
        self._root = root
        self._may_read = may_read
        self._seen: set[Path] = set()
        self._bytes = 0

    def follow(self, path: Path, text: str) -> Iterator[Imported]:
        """Yield what ``path`` with this ``text`` takes in, and what that takes in, in order."""
        self._seen.add(Path(os.path.realpath(path)))
        yield from self._follow(path, text, 1)

    def _follow(self, path: Path, text: str, depth: int) -> Iterator[Imported]:
        for mention in find_mentions(text)[:_MENTIONS]:
            found = _existing(mention, path.parent)
            if found is None or found in self._seen:
                continue  # most of what looks like an import is a name: a decorator, a package, a person
            self._seen.add(found)
            taken = self._take(mention, found, depth)
            yield taken
            if taken.problem is None:
                yield from self._follow(found, taken.text, depth + 1)

    def _take(self, mention: str, path: Path, depth: int) -> Imported:
        name = name_in(path, self._root)

        def left(problem: str) -> Imported:
            return Imported(path, name, "", f"imported as @{mention}: {problem}; it was left out")

        if not is_inside(path, self._base):
            return left(f"it lies outside {self._base}")
        if depth > IMPORT_DEPTH:
            return left(f"imports are followed {IMPORT_DEPTH} files deep")
        if len(self._seen) > IMPORT_FILES + 1:
            return left(f"at most {IMPORT_FILES} files are taken in")
        if self._may_read is not None and not self._may_read(path):
            return left("the rules do not allow to read it without asking")
        try:
            data = read_regular(path, max_bytes=AGENTS_MD_BYTES)
        except HarnessError as error:
            return left(error.what)
        self._bytes += len(data)
        if self._bytes > IMPORT_BYTES:
            return left(f"together they are larger than {IMPORT_BYTES} bytes")
        if b"\x00" in data:
            return left("it is no text")
        return Imported(path, name, data.decode("utf-8-sig", "replace"))


def _existing(mention: str, folder: Path) -> Path | None:
    """Return the real path of the file that ``mention`` names, as a whole or without the signs at its end."""
    if len(mention) > 4096:
        return None
    for _ in range(_TRAILING_SIGNS):
        try:
            path = expand(mention, folder)
            if os.path.isfile(path):  # noqa: PTH113 - false, and no exception, for a name that is too long
                return resolve(path, folder)
        except HarnessError:
            return None
        if len(mention) == 1 or mention[-1] not in _TRAILING:
            return None
        mention = mention[:-1]
    return None
