"""Rows of a damaged database that SQLite finds no way to any more, read from the pages that hold them.

A table is a tree, and SQLite reads it from its root: a damaged page in the upper part hides everything below it. The
leaves are whole all the same, and each says what it is. Rows are told from each other by the shape of their values.
Pages that are marked as free are passed over, for they hold what was deleted.

The format is that of https://www.sqlite.org/fileformat2.html, sections 1.3 to 2.1.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

from harness_tui.core.paths import digest

Value: TypeAlias = "str | bytes | int | float | None"

_LEAF: Final = 0x0D
_FREE: Final = 2
_LONGEST: Final = 1 << 30
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_INTEGER_BYTES: Final = (0, 1, 2, 3, 4, 6, 8)


def carve(path: Path) -> Iterator[tuple[str, tuple[Value, ...]]]:
    """Yield table and values of each row of the database file that can be found. Raises ``OSError``.

    A row of an earlier schema has fewer values than the table has columns now.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        pages = _Pages(data)
        for number in range(1, pages.count + 1):
            for values in pages.rows(number):
                table = _table_of(values)
                if table is not None:
                    yield table, tuple(values)


class _Pages:
    """The pages of a file, counted from 1. Whatever stands in them is not believed but looked at."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        size = int.from_bytes(data[16:18], "big")
        self._size = 65536 if size == 1 else size if size >= 512 and not size & (size - 1) else 4096
        self._usable = self._size - (data[20] if data[20] <= self._size - 480 else 0)
        self.count = len(data) // self._size
        self._free = self._free_pages()

    def page(self, number: int) -> bytes:
        """Return the bytes of a page; of one that there is not, none."""
        if not 0 < number <= self.count:
            return b""
        return self._data[(number - 1) * self._size : number * self._size]

    def rows(self, number: int) -> Iterator[list[Value]]:
        """Yield the rows of a page where it is a leaf of a table."""
        start = 100 if number == 1 else 0
        if number in self._free or self._data[(number - 1) * self._size + start] != _LEAF:
            return
        page = self.page(number)
        cells = int.from_bytes(page[start + 3 : start + 5], "big")
        for place in range(start + 8, min(start + 8 + 2 * cells, self._usable - 1), 2):
            try:
                yield self._row(page, int.from_bytes(page[place : place + 2], "big"))
            except (IndexError, ValueError):  # this one is damaged, its neighbours need not be
                continue

    def _row(self, page: bytes, place: int) -> list[Value]:
        size, place = _varint(page, place)
        _, place = _varint(page, place)  # the number of the row
        if size > _LONGEST:
            raise ValueError("no row is as long as this")
        payload = self._payload(page, place, size)
        end, place = _varint(payload, 0)
        kinds: list[int] = []
        while place < end:
            kind, place = _varint(payload, place)
            kinds.append(kind)
        values: list[Value] = []
        for kind in kinds:
            value, place = _value(payload, place, kind)
            values.append(value)
        return values

    def _payload(self, page: bytes, place: int, size: int) -> bytes:
        most = self._usable - 35
        if size <= most:
            return page[place : place + size]
        least = (self._usable - 12) * 32 // 255 - 23
        local = least + (size - least) % (self._usable - 4)
        local = local if local <= most else least
        parts = [page[place : place + local]]
        following, left = int.from_bytes(page[place + local : place + local + 4], "big"), size - local
        while left > 0:
            rest = self.page(following)
            if not rest or following in self._free:
                raise ValueError("the rest of a row is not there")
            parts.append(rest[4 : 4 + min(left, self._usable - 4)])
            left -= self._usable - 4
            following = int.from_bytes(rest[:4], "big")
        return b"".join(parts)

    def _free_pages(self) -> set[int]:
        free: set[int] = set()
        trunk = int.from_bytes(self._data[32:36], "big")
        while trunk and trunk not in free and (page := self.page(trunk)):
            free.add(trunk)
            count = min(int.from_bytes(page[4:8], "big"), self._usable // 4 - 2)
            free.update(int.from_bytes(page[8 + 4 * n : 12 + 4 * n], "big") for n in range(count))
            trunk = int.from_bytes(page[:4], "big")
        if any(self._data[52:56]):  # every so often a page says what those behind it are
            entries = self._usable // 5
            for number in range(2, self.count + 1, entries + 1):
                page = self.page(number)
                free.update(number + 1 + n for n in range(entries) if page[5 * n] == _FREE)
        return free


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for _ in range(8):
        byte = data[place]
        place += 1
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place
    return value << 8 | data[place], place + 1


def _value(data: bytes, place: int, kind: int) -> tuple[Value, int]:
    if kind in (0, 8, 9):
        return (None, 0, 1)[max(0, kind - 7)], place
    if kind >= 12:
        end = place + (kind - 12) // 2
        taken = data[place:end]
        if end > len(data):
            raise ValueError("a value is longer than its row")
        return (taken.decode("utf-8", "replace") if kind % 2 else taken), end
    if kind > 6:
        raise ValueError("no table of ours has such a value")
    end = place + _INTEGER_BYTES[kind]
    if end > len(data):
        raise ValueError("a value is longer than its row")
    return int.from_bytes(data[place:end], "big", signed=True), end


def _table_of(values: list[Any]) -> str | None:
    """Return which table a row belongs to, ``None`` for what is none of them."""
    match values:
        case [str(), int(), str(), str() | None, str(), str(), *rest] if len(rest) <= 1 and _are_texts(rest):
            return "events"
        case [str(), int(), "user" | "assistant" | "tool", str(), *rest] if len(rest) <= 1 and _are_texts(rest):
            return "messages"
        case [str(), int(), int() | None, str() | None, str() | None]:
            return "repairs"
        case [str(key), int(), bytes(data)] if digest(data) == key:
            return "blobs"
        case [str(), str(key)] if _HASH.fullmatch(key):
            return "blob_refs"
        case [str(), str(), title, headline, str(), str(), parent, int(), int(), int(), *rest] if (
            len(rest) in (0, 2)
            and _are_texts([title, headline, parent])
            and all(isinstance(number, int) for number in rest)
        ):
            return "sessions"
        case _:
            return None


def _are_texts(values: list[Any]) -> bool:
    return all(value is None or isinstance(value, str) for value in values)
