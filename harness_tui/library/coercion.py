"""Front matter values as the types that their keys want: text stays text, whatever YAML would make of it."""

from __future__ import annotations

from typing import Final

from harness_tui.library.diagnostics import Findings
from harness_tui.library.front_matter import Document, Entry
from harness_tui.library.yaml_loader import Mapping, Scalar, Sequence

_TRUE: Final = frozenset({"true", "yes", "on", "1"})
_FALSE: Final = frozenset({"false", "no", "off", "0"})


class Reader:
    """Reads the known keys of one document and reports what did not fit."""

    def __init__(self, document: Document, findings: Findings) -> None:
        self._entries = document.entries or {}
        self._findings = findings

    def _entry(self, key: str) -> Entry | None:
        entry = self._entries.get(key)
        if entry is None or (isinstance(entry.value, Scalar) and entry.value.absent):
            return None
        return entry

    def line(self, key: str) -> int:
        """Return the line of ``key``, 1 when it is not there."""
        entry = self._entries.get(key)
        return entry.line if entry is not None else 1

    def has(self, key: str) -> bool:
        """Tell whether ``key`` has a value."""
        return self._entry(key) is not None

    def text(self, key: str) -> str | None:
        """Return the text of ``key``: bracketed forms as written, a list of texts joined, a map dropped."""
        entry = self._entry(key)
        match entry:
            case None:
                return None
            case Entry(value=Scalar(text=text)):
                return text
            case Entry(value=Sequence(flow=True, source=source) | Mapping(flow=True, source=source)):
                self._findings.warn(entry.line, "type", f"{key} should be a string: kept as written, {source}")
                return source
            case Entry(value=Sequence(items=items)) if all(isinstance(item, Scalar) for item in items):
                self._findings.warn(entry.line, "type", f"{key} should be a string, not a list: its items are joined")
                return ", ".join(item.text for item in items if isinstance(item, Scalar))
            case Entry(value=value):
                form = "map" if isinstance(value, Mapping) else "list"
                self._findings.warn(entry.line, "type", f"{key} should be a string, not a {form}: left out")
                return None

    def flag(self, key: str, *, default: bool = False) -> bool:
        """Return the boolean of ``key``; ``yes no on off 1 0`` count, in any case."""
        entry = self._entry(key)
        if entry is None:
            return default
        word = entry.value.text.strip().lower() if isinstance(entry.value, Scalar) else ""
        if word in _TRUE:
            return True
        if word in _FALSE:
            return False
        taken = "true" if default else "false"
        self._findings.warn(entry.line, "type", f"{key} should be a boolean, true or false: {taken} is used")
        return default

    def number(self, key: str, *, low: float, high: float) -> float | None:
        """Return the number of ``key`` within ``low`` and ``high``, ``None`` when it has none."""
        entry = self._entry(key)
        if entry is None:
            return None
        try:
            value = float(entry.value.text) if isinstance(entry.value, Scalar) else float("nan")
        except ValueError:
            value = float("nan")
        if value != value:
            self._findings.warn(entry.line, "type", f"{key} should be a number from {low:g} to {high:g}: left out")
            return None
        if not low <= value <= high:
            self._findings.warn(entry.line, "range", f"{key} should be from {low:g} to {high:g}: the limit is used")
        return min(max(value, low), high)

    def words(self, key: str) -> tuple[str, ...]:
        """Return the words of ``key``: a list, or text split on commas and blanks. An item that is no text is empty."""
        entry = self._entry(key)
        match entry:
            case None:
                return ()
            case Entry(value=Scalar(text=text)):
                return tuple(text.replace(",", " ").split())
            case Entry(value=Sequence(items=items)):
                if not all(isinstance(item, Scalar) for item in items):
                    self._findings.warn(entry.line, "type", f"each item of {key} should be a string: others left out")
                return tuple(item.text.strip() if isinstance(item, Scalar) else "" for item in items)
            case Entry(value=Mapping()):
                self._findings.warn(entry.line, "type", f"{key} should be a string or a list, not a map: left out")
                return ()
            case _:
                return ()

    def tools(self, key: str) -> tuple[str, ...]:
        """Return tool names: a list, or text split on commas and blanks outside parentheses."""
        entry = self._entry(key)
        match entry:
            case Entry(value=Scalar(text=text)):
                return split_tools(text)
            case Entry(value=Sequence(items=items)):
                return tuple(name for item in items if isinstance(item, Scalar) for name in split_tools(item.text))
            case Entry(value=Mapping()):
                self._findings.warn(entry.line, "type", f"{key} should be a string or a list, not a map: left out")
                return ()
            case _:
                return ()


def split_tools(text: str) -> tuple[str, ...]:
    """Split ``Bash(git add:*), Read Edit`` into names, keeping what is inside parentheses together."""
    names: list[str] = []
    name: list[str] = []
    depth = 0
    for character in text:
        if depth == 0 and (character == "," or character.isspace()):
            names.append("".join(name))
            name.clear()
            continue
        depth = max(0, depth + (character == "(") - (character == ")"))
        name.append(character)
    names.append("".join(name))
    return tuple(name for name in names if name not in ("", "-"))
