"""What is known of the files of one folder, kept in the cache so that the next start need not read them.

Only a cache: what is damaged, of another version or not writable costs the reading of the files and nothing else. A
file is taken from it while path, size, times and number of the file are those that were seen. It never decides what is
sent: a command or skill is read anew when it is used.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from functools import cache
from pathlib import Path
from typing import Any, Final

from harness_tui._version import __version__
from harness_tui.core.atomic import write_atomic
from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import MIB
from harness_tui.core.paths import digest, make_private_folder, read_regular
from harness_tui.core.record import record
from harness_tui.library.diagnostics import Diagnostic
from harness_tui.library.discovery import Stamp
from harness_tui.library.header import Header

FROM_FILES: Final = 16
"""Folders with fewer files have no index: reading them is as quick as reading it."""

_FORMAT: Final = "1"
_SUFFIX: Final = ".index"
_MOST_BYTES: Final = 64 * MIB
_KEPT_BYTES: Final = 16 * MIB
_FRESH_NS: Final = 50_000_000  # a change that soon after another may not show in the times
_UNUSED_S: Final = 90 * 24 * 3600
_CODE: Final = (
    "coercion.py",
    "command_file.py",
    "dialects.py",
    "diagnostics.py",
    "front_matter.py",
    "header.py",
    "index_file.py",
    "plain_yaml.py",
    "skill_file.py",
    "toml_command.py",
    "yaml_loader.py",
)
_OF_THE_ROOT: Final = frozenset({"path", "scope", "trusted", "tool", "shadowed_by", "kept"})


@record
class Row:
    """One file: how it looked, the ``data`` that :func:`to_data` made, and its bytes, empty where they are not kept."""

    stamp: Stamp
    data: dict[str, Any]
    content: memoryview


class IndexFile:
    """The index of the folder ``root``; ``kind`` tells apart those of commands and skills. Blocking."""

    def __init__(self, folder: Path, kind: str, root: Path) -> None:
        self._path = folder / f"{kind}-{digest(os.fsencode(root))[:24]}{_SUFFIX}"

    def load(self) -> dict[str, Row]:
        """Return what is known, by path; nothing when there is no index that can be used."""
        try:
            data = read_regular(self._path, max_bytes=_MOST_BYTES)
        except HarnessError:
            return {}
        mark, _, rest = data.partition(b"\n")
        head, _, bodies = rest.partition(b"\n")
        if mark != _mark(head):
            return {}
        view = memoryview(bodies)
        return {
            path: Row(Stamp(real or path, *times), item, view[start : start + size])
            for path, real, times, start, size, item in json.loads(head)
        }

    def save(self, rows: Iterable[tuple[str, Stamp, Mapping[str, Any], bytes | memoryview]], looked: int) -> None:
        """Replace the index. ``looked`` is the time in nanoseconds at which the folders were looked at.

        A file that changed right before that is left out, and what cannot be written is not.
        """
        known: list[tuple[str, str, tuple[int, ...], int, int, Mapping[str, Any]]] = []
        bodies: list[bytes | memoryview] = []
        size = 0
        for path, stamp, data, body in rows:
            if max(stamp.mtime_ns, stamp.ctime_ns) > looked - _FRESH_NS:
                continue
            kept = body if size + len(body) <= _KEPT_BYTES else b""
            real = "" if stamp.real == path else stamp.real
            times = (stamp.mtime_ns, stamp.ctime_ns, stamp.size, stamp.inode)
            known.append((path, real, times, size, len(kept), data))
            bodies.append(kept)
            size += len(kept)
        head = json.dumps(known, separators=(",", ":")).encode("ascii")
        with contextlib.suppress(OSError):  # a full or read-only place has no cache
            make_private_folder(self._path.parent)
            write_atomic(self._path, b"\n".join((_mark(head), head, b"".join(bodies))), mode=0o600)
            _remove_unused(self._path.parent)


def to_data(item: Any) -> dict[str, Any]:
    """Return what is not the default in a command or skill, without what its folder gives."""
    found = _plain(item, _OF_THE_ROOT | {"header", "diagnostics"})
    header = _plain(item.header, frozenset())
    notes = [(note.line, note.code, note.message, note.level) for note in item.diagnostics]
    return found | ({"header": header} if header else {}) | ({"diagnostics": notes} if notes else {})


def from_data(data: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Return the fields that :func:`to_data` took from the item of ``path``."""
    found = {name: _tuples(value) for name, value in data.items() if name not in ("header", "diagnostics")}
    found["header"] = Header(**{name: _tuples(value) for name, value in data.get("header", {}).items()})
    found["diagnostics"] = tuple(Diagnostic(path, *note) for note in data.get("diagnostics", ()))
    return found


def _plain(item: Any, without: frozenset[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, default in _defaults(type(item)):
        if name not in without:
            value = getattr(item, name)
            if value != default:
                found[name] = value
    return found


@cache
def _defaults(kind: Any) -> tuple[tuple[str, Any], ...]:
    return tuple(
        (field.name, field.default if field.default_factory is MISSING else field.default_factory())
        for field in fields(kind)
    )


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _mark(head: bytes) -> bytes:
    """Return the first line of an index: what it depends on besides the files, and that it is whole."""
    return f"harness-library {_FORMAT} {__version__} {_code()} {digest(head)}".encode("ascii")


@cache
def _code() -> str:
    folder = Path(__file__).parent
    stats = [(folder / name).stat() for name in _CODE]
    return digest(repr([(found.st_size, found.st_mtime_ns) for found in stats]).encode())[:16]


def _remove_unused(folder: Path) -> None:
    """Remove indexes that nobody wrote for months: their folders are gone, or never change."""
    oldest = time.time() - _UNUSED_S
    for path in folder.glob(f"*{_SUFFIX}"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()
