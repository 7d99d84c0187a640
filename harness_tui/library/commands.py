"""The registry of commands: which file a name means, which are shadowed, and what is wrong with any of them."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Final

from harness_tui.core.record import record
from harness_tui.library.command_cache import CommandCache
from harness_tui.library.command_file import Command, name_key
from harness_tui.library.diagnostics import Diagnostic
from harness_tui.library.discovery import Found, Walk
from harness_tui.library.own_commands import OWN_COMMANDS
from harness_tui.library.roots import RANK, Root

RESERVED: Final = frozenset(name for own in OWN_COMMANDS for name in (own.name, *own.aliases))
"""Names of Harness's own slash commands, with their aliases: no file ever takes their place."""

_SCOPES: Final = tuple(RANK)


@record
class CommandIndex:
    """All commands at one moment. ``names`` are those in use, ``untrusted`` those of untrusted folders only."""

    commands: tuple[Command, ...] = ()
    names: dict[str, Command] = field(default_factory=dict[str, Command])
    scoped: dict[tuple[str, str], Command] = field(default_factory=dict[tuple[str, str], Command])
    untrusted: dict[str, Command] = field(default_factory=dict[str, Command])
    aliases: dict[str, Command] = field(default_factory=dict[str, Command])
    tails: dict[str, Command] = field(default_factory=dict[str, Command])
    folded: dict[str, Command] = field(default_factory=dict[str, Command])
    problems: tuple[Diagnostic, ...] = ()

    def exact(self, name: str) -> Command | None:
        """Return the command whose name or alias is ``name``, or which it means with its scope in front."""
        key = name_key(name)
        scope, _, rest = key.partition("/")
        if rest and (command := self.scoped.get((scope, rest))) is not None:
            return command if command.trusted else None
        return None if key in RESERVED else self.names.get(key) or self.aliases.get(key)

    def find(self, name: str) -> Command | None:
        """Return the command that ``name`` means: its path, with a scope in front, an alias, its last part if unique.

        Case counts first; a name that differs in case only is found when it is the only one.
        """
        key = name_key(name)
        if key in RESERVED:
            return None
        return self.exact(name) or self.tails.get(key) or self.folded.get(key.casefold()) or self._in_scope(key)

    def _in_scope(self, key: str) -> Command | None:
        """Return what ``scope/name`` means where the name is a last part, or differs in case."""
        scope, _, rest = key.partition("/")
        if scope not in _SCOPES or not rest:
            return None
        of_scope = [(other, command) for (place, other), command in self.scoped.items() if place == scope]
        usable = [(other, command) for other, command in of_scope if command.trusted]
        tails = [command for other, command in usable if _tail(other) == rest]
        folded = [command for other, command in usable if other.casefold() == rest.casefold()]
        return next((same[0] for same in (tails, folded) if len(same) == 1), None)

    def find_untrusted(self, name: str) -> Command | None:
        """Return the command that ``name`` would mean if its folder were trusted."""
        key = name_key(name)
        scope, _, rest = key.partition("/")
        if rest and (command := self.scoped.get((scope, rest))) is not None and not command.trusted:
            return command
        if key in self.untrusted:
            return self.untrusted[key]
        same = [command for other, command in self.untrusted.items() if _tail(other) == key or other.casefold() == key]
        return same[0] if len(same) == 1 else None

    def suggest(self, name: str, others: Iterable[str] = ()) -> str | None:
        """Return the known name that is closest to ``name``, if one is close."""
        known = dict.fromkeys([*RESERVED, *self.names, *self.untrusted, *others])
        close = difflib.get_close_matches(name_key(name), known, n=1)
        return close[0] if close else None


class CommandRegistry:
    """Builds the index; files that did not change are not read again. ``cache`` is a folder for the next start."""

    def __init__(self, cache: Path | None = None) -> None:
        self._cache = CommandCache(cache)
        self._looked: tuple[tuple[Root, list[Found], list[Diagnostic]], ...] | None = None
        self._index = CommandIndex()

    def refresh(self, roots: Sequence[Root]) -> CommandIndex:
        """Return the index of ``roots``, which come in rising order. Blocking: belongs into a thread."""
        walks = [(root, Walk(root.path, root.suffix)) for root in roots]
        looked = tuple((root, walk.commands(), walk.problems) for root, walk in walks)
        if looked == self._looked:
            return self._index
        problems: list[Diagnostic] = []
        commands: list[Command] = []
        unread: list[Diagnostic] = []
        for root, found, faults in _each_once(looked):
            problems += faults
            if root.singular is not None and found:
                message = f"read as well, but the usual spelling is {root.singular}"
                problems.append(Diagnostic(str(root.path), 1, "folder-name", message, "info"))
            loaded = self._cache.load(root, found, unread)
            problems += [note for command in loaded for note in command.diagnostics]
            commands += loaded
        self._cache.keep_only({str(command.path) for command in commands})
        index = build_index(commands, problems + unread)
        if index != self._index:  # what could not be read is tried at each look, mostly with the same result
            self._index = index
        self._looked = None if unread else looked  # what could not be read is tried again
        return self._index


def _each_once(
    looked: Sequence[tuple[Root, list[Found], list[Diagnostic]]],
) -> list[tuple[Root, list[Found], list[Diagnostic]]]:
    """Leave each file to one root: to one that may be used, to that in which it lies itself, to the highest."""
    best: dict[str, tuple[bool, bool, int]] = {}
    ranks: list[list[tuple[bool, bool, int]]] = []
    for place, (root, found, _) in enumerate(looked):
        real = os.path.realpath(root.path)
        ranks.append([])
        for file in found:
            rank = (root.trusted, file.stamp.real == "/".join((real, *file.parts)), place)
            best[file.stamp.real] = max(rank, best.get(file.stamp.real, rank))
            ranks[-1].append(rank)
    return [
        (root, [file for file, own in zip(found, ranks[place], strict=True) if best[file.stamp.real] == own], faults)
        for place, (root, found, faults) in enumerate(looked)
    ]


def build_index(commands: Iterable[Command], problems: Iterable[Diagnostic] = ()) -> CommandIndex:
    """Settle which command each name means; later commands beat earlier ones, an untrusted one beats nothing."""
    notes = list(problems)
    names: dict[str, Command] = {}
    scoped: dict[tuple[str, str], Command] = {}
    untrusted: dict[str, Command] = {}
    shadowed: dict[str, str] = {}
    ordered = list(commands)
    for command in ordered:
        key = command.key
        if key in RESERVED:
            message = f"/{command.name} is Harness's own command: reach this file as /{command.scope}:{command.name}"
            notes.append(Diagnostic(str(command.path), 1, "reserved", message))
        elif not command.trusted:
            untrusted[key] = command
        else:
            loser = names.get(key)
            if loser is not None:
                shadowed[str(loser.path)] = str(command.path)
                if not command.digest or command.digest != loser.digest:  # of two that are the same nothing is lost
                    notes.append(_shadowing(command, loser))
            names[key] = command
        scoped[command.scope, key] = command
    untrusted = {key: command for key, command in untrusted.items() if key not in names}
    marked = tuple(
        replace(command, shadowed_by=shadowed[str(command.path)]) if str(command.path) in shadowed else command
        for command in ordered
    )
    aliases = _aliases(names, notes)
    tails = _unique((_tail(key), command) for key, command in names.items())
    for taken in (*RESERVED, *names, *aliases):
        tails.pop(taken, None)
    folded = _unique((key.casefold(), command) for key, command in {**tails, **aliases, **names}.items())
    return CommandIndex(marked, names, scoped, untrusted, aliases, tails, folded, tuple(notes))


def _shadowing(winner: Command, loser: Command) -> Diagnostic:
    reach = f"; the other one is /{loser.scope}:{loser.name}" if loser.scope != winner.scope else ""
    message = f"/{winner.name} is {winner.path} and shadows {loser.path}{reach}"
    return Diagnostic(str(winner.path), 1, "shadowed", message)


def _aliases(names: dict[str, Command], notes: list[Diagnostic]) -> dict[str, Command]:
    found: dict[str, Command] = {}
    for command in sorted(names.values(), key=lambda command: -RANK[command.scope]):
        for alias in command.header.aliases:
            key = name_key(alias)
            if key in names or key in RESERVED:
                message = f"the alias {alias!r} is the name of a command: it is not used"
            elif found.setdefault(key, command) is not command:
                message = f"the alias {alias!r} belongs to {found[key].path} already: it is not used"
            else:
                continue
            notes.append(Diagnostic(str(command.path), 1, "alias", message))
    return found


def _unique(pairs: Iterable[tuple[str, Command]]) -> dict[str, Command]:
    found: dict[str, Command | None] = {}
    for key, command in pairs:
        found[key] = command if found.get(key, command) is command else None
    return {key: command for key, command in found.items() if command is not None}


def _tail(key: str) -> str:
    return key.rpartition("/")[2]
