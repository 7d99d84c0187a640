"""The skill files of a process: each read again only when it changed, and remembered for the next start."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness_tui.library.discovery import Found, Stamp
from harness_tui.library.index_file import FROM_FILES, IndexFile, from_data, to_data
from harness_tui.library.roots import Root
from harness_tui.library.skill_file import Skill, read_skill


class SkillCache:
    """Keeps what was read. With a folder ``cache`` it is kept there as well."""

    def __init__(self, cache: Path | None = None) -> None:
        self._cache = cache
        self._read: dict[str, tuple[Stamp, Skill]] = {}
        self._indexes: dict[Path, IndexFile] = {}

    def load(self, root: Root, found: Sequence[Found]) -> list[Skill]:
        """Return the skills of ``root``, also those that cannot be used."""
        looked = time.time_ns()
        if self._cache is not None and root.path not in self._indexes and len(found) >= FROM_FILES:
            self._recall(self._cache, root, found)
        changed = any((known := self._read.get(file.path)) is None or known[0] != file.stamp for file in found)
        skills = [self._get(file, root) for file in found]
        if changed and (index := self._indexes.get(root.path)) is not None:
            index.save(self._rows(found), looked)
        return skills

    def keep_only(self, paths: set[str]) -> None:
        """Forget the files that are gone."""
        for path in self._read.keys() - paths:
            del self._read[path]

    def _get(self, file: Found, root: Root) -> Skill:
        cached = self._read.get(file.path)
        if cached is None or cached[0] != file.stamp:
            skill = read_skill(Path(file.path), root.scope, trusted=root.trusted)
        elif (cached[1].trusted, cached[1].scope) != (root.trusted, root.scope):
            skill = replace(cached[1], trusted=root.trusted, scope=root.scope)
        else:
            return cached[1]
        self._read[file.path] = file.stamp, skill
        return skill

    def _recall(self, cache: Path, root: Root, found: Sequence[Found]) -> None:
        index = self._indexes[root.path] = IndexFile(cache, "skills", root.path)
        rows = index.load()
        for file in found:
            row = rows.get(file.path)
            if row is not None and row.stamp == file.stamp:
                path = root.path.joinpath(*file.parts)
                fields = from_data(row.data, file.path)
                skill = Skill(path=path, scope=root.scope, trusted=root.trusted, **fields)
                self._read[file.path] = file.stamp, skill

    def _rows(self, found: Sequence[Found]) -> Iterator[tuple[str, Stamp, Mapping[str, object], bytes]]:
        for file in found:
            stamp, skill = self._read[file.path]
            if all(note.code != "unreadable" for note in skill.diagnostics):  # it may be readable the next time
                yield file.path, stamp, to_data(skill), b""
