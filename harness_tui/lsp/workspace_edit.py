"""Reads the edit of a workspace that a server proposes, strictly.

Of diagnostics one bad item may be left out; of an edit nothing may: half of a rename breaks the program. So whatever
has no known shape, overlaps, or is of a kind that is not taken refuses the whole, by its name.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any, Final, cast

from harness_tui.core.errors import HarnessError
from harness_tui.core.record import record
from harness_tui.core.seams import TextChange
from harness_tui.lsp.report import one_line
from harness_tui.lsp.text import PositionEncoding
from harness_tui.lsp.uris import from_uri

EDITS: Final = 100_000
TEXT_CHARS: Final = 20 * 1024 * 1024
"""At most so many edits, and characters in all of them together."""


@record
class PlacedText:
    """Text for a place, 0-based in the server's units."""

    start: tuple[int, int]
    end: tuple[int, int]
    text: str


@dataclass(slots=True)
class EditedFile:
    """What is to become of a file. ``version`` is the one that the server counted in, where it says so.

    ``created``: it is not there yet; ``may_exist``: it is no error if it is. ``moved_to`` is the path that it gets.
    """

    path: Path
    edits: list[PlacedText] = field(default_factory=list[PlacedText])
    version: int | None = None
    created: bool = False
    may_exist: bool = False
    moved_to: Path | None = None


def refused(what: str, where: str | None = None) -> HarnessError:
    """Return the error for an edit that is not made."""
    return HarnessError(f"the server's edit was refused: {what}", where=where, code="workspace-edit")


def read_workspace_edit(raw: Any) -> list[EditedFile]:
    """Return the files of a ``WorkspaceEdit``, in its order; empty for an edit of nothing.

    Raises ``HarnessError`` of the code ``workspace-edit``.
    """
    if raw is None:
        return []
    if not isinstance(raw, dict):
        raise refused("it is no object")
    fields = cast(dict[str, Any], raw)
    reader = _Reader()
    entries = fields.get("documentChanges")
    if isinstance(entries, list):
        for entry in cast(list[Any], entries):
            reader.take(entry)
    elif entries is not None:
        raise refused("documentChanges is no list")
    else:
        changes = fields.get("changes")
        if changes is not None and not isinstance(changes, dict):
            raise refused("changes is no object")
        for uri, edits in cast(dict[str, Any], changes or {}).items():
            reader.take({"textDocument": {"uri": uri, "version": None}, "edits": edits})
    return [file for file in reader.files if file.edits or file.created or file.moved_to is not None]


class _Reader:
    """Takes the entries one after the other. A file that was created or moved is meant by its new path from then on."""

    def __init__(self) -> None:
        self.files: list[EditedFile] = []
        self._by_path: dict[Path, EditedFile] = {}
        self._count = 0
        self._chars = 0

    def take(self, entry: Any) -> None:
        if not isinstance(entry, dict):
            raise refused("an entry is no object")
        fields = cast(dict[str, Any], entry)
        match fields.get("kind"):
            case None:
                self._take_text(fields)
            case "create":
                self._create(_path(fields.get("uri")), _options(fields))
            case "rename":
                self._move(_path(fields.get("oldUri")), _path(fields.get("newUri")))
            case kind:
                raise refused(f"it would {one_line(str(kind), 40)} a file", one_line(str(fields.get("uri")), 200))

    def _take_text(self, fields: dict[str, Any]) -> None:
        document = cast(dict[str, Any], fields["textDocument"]) if isinstance(fields.get("textDocument"), dict) else {}
        path, version, edits = _path(document.get("uri")), document.get("version"), fields.get("edits")
        if not isinstance(edits, list):
            raise refused("edits is no list", str(path))
        file = self._by_path.get(path)
        if file is None:
            file = self._add(EditedFile(path))
        if isinstance(version, int) and not isinstance(version, bool):
            file.version = version
        for edit in cast(list[Any], edits):
            placed = _placed(edit, path)
            self._count += 1
            self._chars += len(placed.text)
            if self._count > EDITS or self._chars > TEXT_CHARS:
                raise refused(f"it has more than {EDITS} parts, or {TEXT_CHARS} characters")
            file.edits.append(placed)

    def _create(self, path: Path, options: dict[str, Any]) -> None:
        if path in self._by_path:
            raise refused("it creates a file that it has named before", str(path))
        self._add(EditedFile(path, created=True, may_exist=options.get("ignoreIfExists") is True))

    def _move(self, old: Path, new: Path) -> None:
        file = self._by_path.pop(old, None) or EditedFile(old)
        if new in self._by_path or file.created:
            raise refused("it moves a file that it creates, or onto one that it has named before", str(new))
        if file not in self.files:
            self.files.append(file)
        file.moved_to = new
        self._by_path[new] = file

    def _add(self, file: EditedFile) -> EditedFile:
        self.files.append(file)
        self._by_path[file.path] = file
        return file


def _placed(edit: Any, path: Path) -> PlacedText:
    fields = cast(dict[str, Any], edit) if isinstance(edit, dict) else {}
    text, span = fields.get("newText"), fields.get("range")
    if "snippet" in fields or fields.get("insertTextFormat") not in (None, 1):
        raise refused("it holds a snippet", str(path))
    if not isinstance(text, str) or not isinstance(span, dict):
        raise refused("a part has no range, or no text", str(path))
    start, end = (_position(cast(dict[str, Any], span).get(name), path) for name in ("start", "end"))
    if end < start:
        raise refused("a part ends before it starts", str(path))
    return PlacedText(start, end, text)


def _position(value: object, path: Path) -> tuple[int, int]:
    fields = cast(dict[str, Any], value) if isinstance(value, dict) else {}
    line, character = fields.get("line"), fields.get("character")
    for number in (line, character):
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise refused(f"a part has no place: {one_line(repr(value), 80)}", str(path))
    return cast(int, line), cast(int, character)


def _path(uri: object) -> Path:
    path = from_uri(uri) if isinstance(uri, str) else None
    if path is None:
        raise refused(f"it names something that is no file: {one_line(str(uri), 200)}")
    return path


def _options(fields: dict[str, Any]) -> dict[str, Any]:
    options = fields.get("options")
    return cast(dict[str, Any], options) if isinstance(options, dict) else {}


def text_changes(
    edits: Sequence[PlacedText], lines: Sequence[str], encoding: PositionEncoding, where: str
) -> tuple[TextChange, ...]:
    """Return ``edits`` of a text with ``lines`` as places in it. Beyond a line is its end, beyond the last the text's.

    Raises ``HarnessError`` for a place inside a character, and for parts that overlap. May take milliseconds.
    """
    offsets = _Offsets(lines, encoding, where)
    changes = [TextChange(offsets.of(edit.start), offsets.of(edit.end), edit.text) for edit in edits]
    last = 0
    for change in sorted(changes, key=lambda change: (change.start, change.end)):
        if change.start < last:
            raise refused("two of its parts overlap", where)
        last = change.end
    return tuple(changes)


class _Offsets:
    """Code points from the start of a text, each line end counted as one."""

    def __init__(self, lines: Sequence[str], encoding: PositionEncoding, where: str) -> None:
        self._lines = lines
        self._encoding = encoding
        self._where = where
        self._starts = [0, *accumulate(len(line) + 1 for line in lines)]
        self._units: dict[int, list[int]] = {}

    def of(self, place: tuple[int, int]) -> int:
        """Return the offset of a 0-based line and character."""
        line, character = place
        if line >= len(self._lines):
            return self._starts[-1] - 1
        text = self._lines[line]
        if self._encoding == "utf-32" or text.isascii():
            return self._starts[line] + min(character, len(text))
        units = self._units.get(line)
        if units is None:
            units = self._units[line] = [0, *accumulate(map(self._width, text))]
        if character >= units[-1]:
            return self._starts[line] + len(text)
        column = bisect_left(units, character)
        if units[column] != character:
            raise refused("a part begins or ends inside a character", f"{self._where}:{line + 1}")
        return self._starts[line] + column

    def _width(self, letter: str) -> int:
        if self._encoding == "utf-8":
            return len(letter.encode("utf-8", "replace"))
        return 2 if ord(letter) > 0xFFFF else 1
