"""Long texts of a row, kept once: in the table ``blobs``, by the hash of their bytes.

The output of a tool stands in its event and in its message, an image may be sent a hundred times, a fork shares what it
was copied from: each of them is one blob. Blobs are rows of the same database, so that they are there when the row that
names them is, and go when the last session that names them goes.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

from harness_tui.core.paths import digest
from harness_tui.core.record import record

LONG_BYTES: Final = 4096
"""Texts of this size and above become blobs."""

LOST: Final = "[this text was lost when the session database was damaged]"

Place: TypeAlias = tuple[list[str | int], str]
"""Where a text belongs, as keys and indices from the top, and its hash."""

_BATCH: Final = 200


@record
class Packed:
    """JSON data without its long texts. ``places`` says which belong where, ``texts`` holds them by hash."""

    data: Any
    places: tuple[Place, ...]
    texts: Mapping[str, bytes]


def pack(data: Any) -> Packed:
    """Take the long texts out of ``data``, which is not changed."""
    places: list[Place] = []
    texts: dict[str, bytes] = {}
    return Packed(_pack(data, (), places, texts), tuple(places), texts)


def _pack(data: Any, path: tuple[str | int, ...], places: list[Place], texts: dict[str, bytes]) -> Any:
    if isinstance(data, str):
        if len(data) * 4 < LONG_BYTES:
            return data
        try:
            encoded = data.encode("utf-8")
        except UnicodeEncodeError:  # lone surrogates: the row itself can hold them, as escapes
            return data
        if len(encoded) < LONG_BYTES:
            return data
        key = digest(encoded)
        places.append((list(path), key))
        texts[key] = encoded
        return ""
    if isinstance(data, Mapping):
        items = cast(Mapping[Any, Any], data).items()
        return {
            key: _pack(value, (*path, key), places, texts) if isinstance(key, str) else value for key, value in items
        }
    if isinstance(data, list | tuple):
        values = cast(Sequence[Any], data)
        return [_pack(value, (*path, index), places, texts) for index, value in enumerate(values)]
    return data


def places_json(places: Sequence[Place]) -> str | None:
    """Return ``places`` for the column ``blobs``; ``None`` when there are none."""
    return json.dumps([[path, key] for path, key in places], separators=(",", ":")) if places else None


def read_places(text: str | None) -> list[Place]:
    """Read the column ``blobs``. Raises ``ValueError`` for what was never written there."""
    if not text:
        return []
    try:
        return [(list(path), str(key)) for path, key in json.loads(text)]
    except (TypeError, ValueError) as error:
        raise ValueError(f"the column blobs cannot be read: {error}") from error


def keep(connection: sqlite3.Connection, session: str, texts: Mapping[str, bytes]) -> int:
    """Write the texts that ``session`` has not named before; return how many bytes these are."""
    added = 0
    for key, text in texts.items():
        if connection.execute("INSERT OR IGNORE INTO blob_refs VALUES (?, ?)", (session, key)).rowcount:
            connection.execute("INSERT OR IGNORE INTO blobs VALUES (?, ?, ?)", (key, len(text), text))
            added += len(text)
    return added


def fetch(connection: sqlite3.Connection, keys: Iterable[str]) -> dict[str, str]:
    """Return the texts of these hashes; one that is not there, or is no longer what it was, is left out."""
    wanted, found = sorted(set(keys)), dict[str, str]()
    for start in range(0, len(wanted), _BATCH):
        batch = wanted[start : start + _BATCH]
        marks = ",".join("?" * len(batch))
        for key, data in connection.execute(f"SELECT hash, data FROM blobs WHERE hash IN ({marks})", batch):
            try:
                found[str(key)] = bytes(data).decode("utf-8")
            except (TypeError, UnicodeDecodeError):
                continue
    return found


def unpack(data: Any, places: Sequence[Place], texts: Mapping[str, str]) -> Any:
    """Put the texts back into ``data``, in place; one that was lost says so, and content that was lost is absent.

    Raises ``ValueError`` when a place is not there.
    """
    for path, key in places:
        holder = data
        try:
            for step in path[:-1]:
                holder = holder[step]
            last = path[-1]
            if holder[last] != "":
                raise KeyError(last)
            holder[last] = texts.get(key, None if last == "content" else LOST)
        except (KeyError, IndexError, TypeError) as error:
            raise ValueError(f"a text of the record has no place at {path}") from error
    return data


def drop_unused(connection: sqlite3.Connection) -> int:
    """Delete the blobs that no session names any more; return how many bytes that were."""
    unused = "FROM blobs WHERE NOT EXISTS (SELECT 1 FROM blob_refs WHERE blob_refs.hash = blobs.hash)"
    (size,) = connection.execute(f"SELECT coalesce(sum(size), 0) {unused}").fetchone()
    connection.execute(f"DELETE {unused}")
    return int(size)
