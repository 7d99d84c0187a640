"""What servers said of files: a tolerant reader, the store, and the merged view.

A publish is read item by item. Real servers send severity 0, unknown tags, negative columns and messages as objects; a
strict reader would lose the whole set for one of them. Sets that were pushed and sets that were pulled are kept apart,
because some servers send different ones on each way, and are joined when they are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

from harness_tui.core.record import record
from harness_tui.core.text import cut_end
from harness_tui.core.values import DiagnosticItem, RelatedPlace, Severity
from harness_tui.lsp.text import PositionEncoding, code_point_column
from harness_tui.lsp.uris import from_uri

READ_ITEMS: Final = 20_000
KEPT_ITEMS: Final = 1_000
MESSAGE_CHARS: Final = 10_000
RELATED_PLACES: Final = 20

PUSHED: Final = "push"

_SEVERITIES: Final[dict[int, Severity]] = {1: "error", 2: "warning", 3: "info", 4: "hint"}
_RANKS: Final[dict[Severity, int]] = {"error": 0, "warning": 1, "info": 2, "hint": 3}


@record
class Slot:
    """One set as it came: ``raw`` items, the document ``version`` that they belong to (``None`` = not said).

    ``received`` is the connection's message counter, ``at`` monotonic seconds, ``result_id`` what a pull gave to ask
    with next time.
    """

    raw: Sequence[Any]
    version: int | None
    received: int
    at: float
    result_id: str | None = None


@record
class ItemSet:
    """Items that were read: at most ``KEPT_ITEMS``, errors kept first. ``omitted`` more were left out for their number,
    ``broken`` could not be read."""

    items: tuple[DiagnosticItem, ...] = ()
    omitted: int = 0
    broken: int = 0


@record
class Known:
    """The last set that counted as an answer, and the digest of the text that it belongs to.

    ``told`` tells that somebody got it as a verdict; a late one was only shown.
    """

    items: tuple[DiagnosticItem, ...]
    digest: str
    told: bool = True


class DiagnosticStore:
    """What each server said of each path: raw slots while its process lives, and the last answer.

    A server is named by a key of its own for each root. Nothing of a process outlives it: see :meth:`drop_server`.
    """

    def __init__(self) -> None:
        self._slots: dict[tuple[str, Path], dict[str, Slot]] = {}
        self._known: dict[tuple[str, Path], Known] = {}

    def put(self, server: str, path: Path, source: str, slot: Slot) -> None:
        """Store the set that came by ``source``: ``PUSHED``, or ``pull:`` and the provider's identifier."""
        self._slots.setdefault((server, path), {})[source] = slot

    def slot(self, server: str, path: Path, source: str) -> Slot | None:
        """Return the set that came by ``source``."""
        return self._slots.get((server, path), {}).get(source)

    def slots(self, server: str, path: Path) -> Mapping[str, Slot]:
        """Return all sets of ``server`` for ``path``."""
        return self._slots.get((server, path), {})

    def remember(self, server: str, path: Path, known: Known) -> None:
        """Store the answer that was given."""
        self._known[server, path] = known

    def known(self, server: str, path: Path) -> Known | None:
        """Return the last answer."""
        return self._known.get((server, path))

    def drop(self, server: str, path: Path) -> None:
        """Forget ``path``: it was closed or is gone."""
        self._slots.pop((server, path), None)
        self._known.pop((server, path), None)

    def drop_server(self, server: str) -> None:
        """Forget everything of ``server``: its process ended."""
        for key in [key for key in self._slots if key[0] == server]:
            del self._slots[key]
        for key in [key for key in self._known if key[0] == server]:
            del self._known[key]


def read_items(
    raw: Sequence[Any], *, path: str, lines: Sequence[str], encoding: PositionEncoding, root: Path
) -> ItemSet:
    """Read the items of one file. ``lines`` are those of the very text that they belong to.

    ``path`` is the name given to the items; related places outside ``root`` get absolute ones. May take milliseconds
    for thousands of items.
    """
    items: list[DiagnosticItem] = []
    broken = 0
    for entry in raw[:READ_ITEMS]:
        if not isinstance(entry, dict):
            broken += 1
            continue
        items.append(_read_item(cast(dict[str, Any], entry), path, lines, encoding, root))
    kept = merge((items,))
    omitted = max(0, len(raw) - READ_ITEMS)
    if len(kept) > KEPT_ITEMS:
        omitted += len(kept) - KEPT_ITEMS
        kept = tuple(sorted(sorted(kept, key=_weight)[:KEPT_ITEMS], key=_place))
    return ItemSet(kept, omitted, broken)


def merge(sets: Iterable[Iterable[DiagnosticItem]]) -> tuple[DiagnosticItem, ...]:
    """Join sets: sorted by place, severity, source; the same message at the same place once."""
    unique: dict[tuple[Any, ...], DiagnosticItem] = {}
    for items in sets:
        for item in items:
            key = (item.path, item.line, item.column, item.end_line, item.end_column, " ".join(item.message.split()))
            other = unique.get(key)
            if other is None or _RANKS[item.severity] < _RANKS[other.severity]:
                unique[key] = item
    return tuple(sorted(unique.values(), key=_place))


def _place(item: DiagnosticItem) -> tuple[Any, ...]:
    return (item.path, item.line, item.column, _RANKS[item.severity], item.source or "", item.message)


def _weight(item: DiagnosticItem) -> tuple[Any, ...]:
    return (_RANKS[item.severity], item.line, item.column)


def _read_item(
    entry: dict[str, Any], path: str, lines: Sequence[str], encoding: PositionEncoding, root: Path
) -> DiagnosticItem:
    place = _mapping(entry.get("range"))
    line, column = _position(place.get("start"), lines, encoding)
    end_line, end_column = _position(place.get("end"), lines, encoding)
    if (end_line, end_column) < (line, column):
        end_line, end_column = line, column
    severity: object = entry.get("severity")
    number = severity if isinstance(severity, int) and not isinstance(severity, bool) else 0
    return DiagnosticItem(
        path=path,
        line=line,
        column=column,
        end_line=end_line,
        end_column=end_column,
        # Whatever is no known severity counts as the gravest: it must not get lost.
        severity=_SEVERITIES.get(number, "error"),
        message=_message(entry.get("message")),
        code=_code(entry.get("code")),
        source=_text(entry.get("source")),
        related=_related(entry.get("relatedInformation"), path, lines, encoding, root),
    )


def _position(value: object, lines: Sequence[str], encoding: PositionEncoding) -> tuple[int, int]:
    place = _mapping(value)
    line, character = _count(place.get("line")), _count(place.get("character"))
    if line >= len(lines):
        return len(lines), len(lines[-1]) + 1
    return line + 1, code_point_column(lines[line], character, encoding)


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
        return 0
    return int(min(max(value, 0), 2**31))


def _message(value: object) -> str:
    if isinstance(value, dict):  # MarkupContent, since 3.18
        value = cast(dict[str, Any], value).get("value")
    text = value if isinstance(value, str) else ""
    return cut_end(text.strip(), MESSAGE_CHARS) or "(no message)"


def _code(value: object) -> str | None:
    if isinstance(value, dict):
        value = cast(dict[str, Any], value).get("value")
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    return cut_end(str(value), 200) or None


def _text(value: object) -> str | None:
    return cut_end(value, 200) if isinstance(value, str) and value else None


def _related(
    value: object, path: str, lines: Sequence[str], encoding: PositionEncoding, root: Path
) -> tuple[RelatedPlace, ...] | None:
    if not isinstance(value, list):
        return None
    places: list[RelatedPlace] = []
    for entry in cast(list[Any], value)[:RELATED_PLACES]:
        fields = _mapping(entry)
        location = _mapping(fields.get("location"))
        uri: object = location.get("uri")
        target = from_uri(uri) if isinstance(uri, str) else None
        if target is None:
            continue
        name = target.relative_to(root).as_posix() if root in target.parents else str(target)
        start = _mapping(_mapping(location.get("range")).get("start"))
        if name == path:
            line, column = _position(start, lines, encoding)
        else:
            # The other file's text is not at hand: its columns are as the server counts them.
            line, column = _count(start.get("line")) + 1, _count(start.get("character")) + 1
        places.append(RelatedPlace(name, line, column, _message(fields.get("message"))))
    return tuple(places) or None


def _mapping(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
