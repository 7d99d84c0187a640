"""Brings files back to what they were before a run, or after it, and touches none that something else has changed.

A file is compared with what the run left (or found) by the hash of its bytes; only one that is exactly that is written.
Blocks: call it in a thread.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from harness_tui.core.errors import HarnessError, StalePreviewError
from harness_tui.core.paths import digest, resolve
from harness_tui.sessions.blobs import BlobStore
from harness_tui.sessions.undo_log import FileStep
from harness_tui.tools.writing import delete_file, read_or_none, remove_folders, replace_file


@dataclass(slots=True)
class Restored:
    """What became of the files: ``paths`` were written or removed, ``conflicts`` were left alone, and why."""

    paths: list[str] = field(default_factory=list[str])
    conflicts: dict[str, str] = field(default_factory=dict[str, str])


class Restorer:
    """Restores files of the project ``root`` from ``blobs``.

    ``backups`` is the folder for what is written in place.
    """

    def __init__(self, blobs: BlobStore, root: Path, backups: Path) -> None:
        self._blobs = blobs
        self._root = root.resolve()
        self._backups = backups

    def restore(self, steps: Iterable[FileStep]) -> Restored:
        """Take every step that can be taken, each file whole or not at all."""
        result = Restored()
        for step in steps:
            try:
                if self._take(step):
                    result.paths.append(step.path)
            except StalePreviewError:
                result.conflicts[step.path] = "it was changed by something else since"
            except HarnessError as error:
                result.conflicts[step.path] = error.what
            except OSError as error:
                result.conflicts[step.path] = error.strerror or str(error)
        return result

    def _take(self, step: FileStep) -> bool:
        if step.broken:
            raise HarnessError("it was changed by something else between two changes of this run")
        path = self._root / step.path
        if resolve(path, self._root) != path:
            raise HarnessError("its path leads to another place now")
        if path.is_dir():
            raise HarnessError("a folder is in its place now")
        wanted = None if step.new is None else self._blobs.get(step.new)
        present = read_or_none(path)
        found = None if present is None else digest(present)
        if found == step.new and found != step.old:
            return True  # a process that was killed in the middle had done it already
        if found != step.old:
            raise HarnessError("it was changed by something else since")
        return self._write(path, step, present, wanted)

    def _write(self, path: Path, step: FileStep, present: bytes | None, wanted: bytes | None) -> bool:
        if wanted is None:
            if step.old is None:
                return False
            delete_file(path, before=step.old)
            remove_folders(tuple(self._root / folder for folder in step.folders))
            return True
        if present is None:
            replace_file(path, wanted, before=None, backups=self._backups, mode=step.new_mode)
            return True
        changed = present != wanted
        if changed:
            replace_file(path, wanted, before=step.old, backups=self._backups)
        return self._change_mode(path, step) or changed

    def _change_mode(self, path: Path, step: FileStep) -> bool:
        if step.new_mode is None or step.new_mode == step.old_mode:
            return False
        if stat.S_IMODE(path.stat().st_mode) != step.old_mode:  # somebody chose another one since
            return False
        os.chmod(path, step.new_mode)  # noqa: PTH101 - the path is resolved
        return True
