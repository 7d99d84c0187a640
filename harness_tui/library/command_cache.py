"""The command files of a process: each read again only when it changed, its last good copy kept while it is broken."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness_tui.core.errors import HarnessError
from harness_tui.library.command_file import Command, command_name, command_of, read_bytes
from harness_tui.library.diagnostics import Diagnostic
from harness_tui.library.discovery import Found, Stamp
from harness_tui.library.index_file import FROM_FILES, IndexFile, Row, from_data, to_data
from harness_tui.library.roots import Root


class CommandCache:
    """Keeps what was read. With a folder ``cache`` it is kept there as well, for the next start."""

    def __init__(self, cache: Path | None = None) -> None:
        self._cache = cache
        self._read: dict[str, tuple[Stamp, Command]] = {}
        self._good: dict[str, tuple[Command, bytes | memoryview]] = {}
        self._indexes: dict[Path, IndexFile] = {}

    def load(self, root: Root, found: Sequence[Found], unread: list[Diagnostic]) -> list[Command]:
        """Return the commands of ``root``; what cannot be read, and never could, is told in ``unread``."""
        looked = time.time_ns()
        if self._cache is not None and root.path not in self._indexes and len(found) >= FROM_FILES:
            self._recall(self._cache, root, found)
        commands: list[Command] = []
        changed = False
        for file in found:
            before = self._read.get(file.path)
            try:
                command = self._get(file, root)
            except HarnessError as problem:
                unread.append(Diagnostic(file.path, 1, problem.code, str(problem.what), "error"))
                continue
            changed = changed or before is None or before[0] != file.stamp
            commands.append(command)
        if changed and (index := self._indexes.get(root.path)) is not None:
            index.save(self._rows(found), looked)
        return commands

    def keep_only(self, paths: set[str]) -> None:
        """Forget the files that are gone."""
        for path in (self._read.keys() | self._good.keys()) - paths:
            self._read.pop(path, None)
            self._good.pop(path, None)

    # --- one file --------------------------------------------------------------------------------

    def _get(self, file: Found, root: Root) -> Command:
        cached = self._read.get(file.path)
        if cached is not None and cached[0] == file.stamp:
            return self._placed(file.path, cached, root)
        name = command_name(file.parts)
        path = Path(file.path)
        data = read_bytes(path)
        command = command_of(data, path, name, root.scope, trusted=root.trusted, tool=root.tool)
        if command.error is None and isinstance(data, bytes):
            self._good[file.path] = command, data
        elif file.path in self._good:
            before, kept = self._good[file.path]
            note = Diagnostic(file.path, 1, "last-good-copy", "the file is broken: its last good copy is used")
            diagnostics = (*command.diagnostics, note)
            command = replace(before, diagnostics=diagnostics, kept=bytes(kept), trusted=root.trusted, scope=root.scope)
        self._read[file.path] = file.stamp, command
        return command

    def _placed(self, path: str, cached: tuple[Stamp, Command], root: Root) -> Command:
        """Return a command that is known, with the trust that its folder has now."""
        stamp, command = cached
        if (command.trusted, command.scope) != (root.trusted, root.scope):
            command = replace(command, trusted=root.trusted, scope=root.scope)
            self._read[path] = stamp, command
        return command

    # --- the index -------------------------------------------------------------------------------

    def _recall(self, cache: Path, root: Root, found: Sequence[Found]) -> None:
        index = self._indexes[root.path] = IndexFile(cache, "commands", root.path)
        rows: Mapping[str, Row] = index.load()
        for file in found:
            row = rows.get(file.path)
            if row is None or row.stamp != file.stamp:
                continue
            path = root.path.joinpath(*file.parts)  # three times as quick as taking the whole path apart
            command = Command(
                scope=root.scope, path=path, trusted=root.trusted, tool=root.tool, **from_data(row.data, file.path)
            )
            self._read[file.path] = file.stamp, command
            if command.error is None and row.content:
                self._good[file.path] = command, row.content

    def _rows(self, found: Sequence[Found]) -> Iterator[tuple[str, Stamp, Mapping[str, object], bytes | memoryview]]:
        for file in found:
            known = self._read.get(file.path)
            if known is not None and known[1].kept is None:  # what is broken now is read again by the next process
                good = self._good.get(file.path)
                yield file.path, known[0], to_data(known[1]), good[1] if good is not None else b""
