"""The one boundary for foreign text, and the one way to cut text that is too long.

Text of a model, a tool, a server, a file, git or a file name passes :func:`clean_for_display`
before it reaches a widget, a title or a terminal.
"""

from __future__ import annotations

import re
from typing import Final

from harness_tui.core.late_pattern import late_pattern
from harness_tui.core.record import record

_OSC: Final = r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"
_STRING: Final = r"\x1b[PX^_][^\x1b]*(?:\x1b\\)?"
_CSI: Final = r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
_ESCAPE: Final = r"\x1b[ -/]*[0-~]?"
_SEQUENCES: Final = late_pattern(f"{_OSC}|{_STRING}|{_CSI}|{_ESCAPE}")

# Bidirectional overrides and isolates, invisible operators, tags, byte order mark: they change
# what a person sees without being seen. Zero width joiner stays, emoji need it.
_INVISIBLE: Final = late_pattern("[\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
_CONTROL: Final = late_pattern("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def _name_of(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)  # the control picture
    if code == 0x7F:
        return "\u2421"
    return "\ufffd"


def clean_for_display(text: str, *, one_line: bool = False, show_invisible: bool = False) -> str:
    """Return ``text`` without anything that a terminal would obey.

    Escape sequences are removed, other control characters become their visible pictures, carriage
    returns become line ends, invisible and direction-changing characters are removed, or written
    as ``<U+202E>`` with ``show_invisible``. With ``one_line`` every line end and tab becomes a blank.
    """
    text = _SEQUENCES.sub("", text)
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    text = _CONTROL.sub(_name_of, text)
    if show_invisible:
        text = _INVISIBLE.sub(lambda match: f"<U+{ord(match.group()):04X}>", text)
    else:
        text = _INVISIBLE.sub("", text)
    if one_line:
        text = " ".join(text.split())
    return text


@record
class Cut:
    """Text within limits. ``omitted`` is the number of bytes left out, 0 when nothing was."""

    text: str
    omitted: int


def fits(text: str, *, max_bytes: int, max_lines: int) -> bool:
    """Tell whether ``text`` is within both limits; bytes are those of UTF-8."""
    return len(text.encode("utf-8", "surrogatepass")) <= max_bytes and len(text.splitlines()) <= max_lines


def cut_middle(text: str, *, max_bytes: int, max_lines: int, note: str = "", after: str = "") -> Cut:
    """Keep the head and the tail of ``text``, and say between them how much is missing.

    ``after`` follows the text on lines of its own, ``note`` comes before it where the text was cut. The limits count
    UTF-8 bytes and lines of all that is returned, the line that tells what was left out included. Cuts fall on line
    ends where there is one near, never inside a character. Limits that have no room for these notes are exceeded by
    them.
    """
    told = followed_by(text, after)
    if fits(told, max_bytes=max_bytes, max_lines=max_lines):
        return Cut(told, 0)
    note = followed_by(note, after)
    size = len(text.encode("utf-8", "surrogatepass"))
    room, rows = _room(size, max_bytes, max_lines, note)
    lines = text.splitlines(keepends=True)
    head_lines, tail_lines = _shares(rows)
    head = _take("".join(lines[:head_lines]), room - room // 3)
    rest = "".join(lines[max(head_lines, len(lines) - tail_lines) :]) if len(lines) > head_lines else text[len(head) :]
    return _joined(head, _take_end(rest, room // 3), size, note)


def cut_ends(start: str, end: str, size: int, *, max_bytes: int, max_lines: int, note: str = "") -> Cut:
    """Cut a text of ``size`` bytes as :func:`cut_middle` does, with only its start and its end at hand.

    Each must be longer than ``max_bytes``, and they must not overlap.
    """
    room, rows = _room(size, max_bytes, max_lines, note)
    head_lines, tail_lines = _shares(rows)
    last = end.splitlines(keepends=True)
    head = _take("".join(start.splitlines(keepends=True)[:head_lines]), room - room // 3)
    tail = _take_end("".join(last[max(0, len(last) - tail_lines) :]), room // 3)
    return _joined(head, tail, size, note)


def _shares(lines: int) -> tuple[int, int]:
    """Return how many lines the head and the tail may have."""
    tail = (lines + 1) // 3
    return lines - tail, tail


def _room(size: int, max_bytes: int, max_lines: int, note: str) -> tuple[int, int]:
    """Return the bytes and lines that are left for the text itself."""
    added = f"\n{_left_out(size)}\n" + (f"\n{note}" if note else "")
    added_lines = 1 + len(note.splitlines())
    return max(0, max_bytes - len(added.encode("utf-8", "surrogatepass"))), max(0, max_lines - added_lines)


def _left_out(omitted: int) -> str:
    return f"[... {omitted} bytes left out ...]"


def _joined(head: str, tail: str, size: int, note: str) -> Cut:
    if not head.endswith("\n") and len(f"{head}.".splitlines()) > len(head.splitlines()):
        head = head[:-1]  # another end of a line, such as a form feed: with the one that follows there were two
    omitted = size - len(head.encode("utf-8", "surrogatepass")) - len(tail.encode("utf-8", "surrogatepass"))
    return Cut(followed_by(f"{followed_by(head, _left_out(omitted))}\n{tail}", note), omitted)


def followed_by(text: str, note: str) -> str:
    """Return ``text`` with ``note`` on lines of its own after it; an empty one adds nothing."""
    joint = "\n" if note and text and not text.endswith("\n") else ""
    return f"{text}{joint}{note}"


def cut_end(text: str, max_chars: int, *, mark: str = "\u2026") -> str:
    """Return ``text`` cut to ``max_chars`` characters, the last of them ``mark`` when it was cut."""
    return text if len(text) <= max_chars else text[: max(0, max_chars - len(mark))] + mark


def _take(text: str, max_bytes: int) -> str:
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= max_bytes:
        return text
    part = data[:max_bytes].decode("utf-8", "ignore")
    line_end = part.rfind("\n")
    return part[: line_end + 1] if line_end > len(part) // 2 else part


def _take_end(text: str, max_bytes: int) -> str:
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= max_bytes:
        return text
    part = data[len(data) - max_bytes :].decode("utf-8", "ignore")
    line_end = part.find("\n")
    return part[line_end + 1 :] if 0 <= line_end < len(part) // 2 else part
