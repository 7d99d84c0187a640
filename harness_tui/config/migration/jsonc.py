"""JSON as people keep it in settings: comments, commas at the end, a mark in front; with the line of every key."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

from harness_tui.config.document import Document, KeyPath, broken_document
from harness_tui.config.yaml_source import read_text

_BLANK: Final = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"', re.DOTALL)
_WORD: Final = re.compile(r"true|false|null|-?(?:0|[1-9]\d{0,30})(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?(?![\w.])")
_DEPTH: Final = 60


class _Fault(Exception):
    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.message = message
        self.position = position


def read_jsonc(path: Path) -> Document:
    """Read a file; one that is not valid is a broken document, whose problem has the line."""
    text = read_text(path)
    return text if isinstance(text, Document) else parse_jsonc(text, path)


def parse_jsonc(text: str, path: Path) -> Document:
    """Return the values of ``text`` with the line of every key and item; an empty text is an empty mapping."""
    reader = _Reader(text)
    try:
        values = reader.document()
    except _Fault as fault:
        line = text.count("\n", 0, fault.position) + 1
        return broken_document(path, "json", f"not valid JSON: {fault.message}", line=line)
    return Document(path, values, reader.lines)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._counted, self._line = 0, 1
        self.lines: dict[KeyPath, int] = {(): 1}

    def document(self) -> Any:
        self._blank()
        if self._at == len(self._text):
            return {}
        value = self._value(())
        self._blank()
        if self._at < len(self._text):
            raise _Fault("something follows the end", self._at)
        return value

    def _blank(self) -> str:
        """Pass over blanks and comments, and return the next character, empty at the end."""
        match = _BLANK.match(self._text, self._at)
        self._at = match.end() if match else self._at
        if self._text.startswith("/*", self._at):
            raise _Fault("a comment is never closed", self._at)
        return self._text[self._at : self._at + 1]

    def _line_here(self) -> int:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def _value(self, keys: KeyPath) -> Any:
        if len(keys) > _DEPTH:
            raise _Fault("nested too deeply", self._at)
        match self._blank():
            case "{":
                return self._object(keys)
            case "[":
                return self._array(keys)
            case '"':
                return self._string()
            case _:
                word = _WORD.match(self._text, self._at)
                if word is None:
                    raise _Fault("expected a value", self._at)
                self._at = word.end()
                return json.loads(word.group())

    def _string(self) -> str:
        match = _STRING.match(self._text, self._at)
        if match is None:
            raise _Fault("a text is not closed on its line", self._at)
        try:
            value: str = json.loads(match.group(), strict=False)
            value.encode()
        except ValueError:  # half of a pair of characters, too, which no file can hold
            raise _Fault("a text holds a wrong escape", self._at) from None
        self._at = match.end()
        return value

    def _object(self, keys: KeyPath) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self._at += 1
        while self._blank() != "}":
            if self._text[self._at : self._at + 1] != '"':
                raise _Fault("expected a key in double quotes, or }", self._at)
            line = self._line_here()
            key = self._string()
            self.lines[(*keys, key)] = line
            if self._blank() != ":":
                raise _Fault("expected : behind a key", self._at)
            self._at += 1
            found[key] = self._value((*keys, key))
            self._comma("}")
        self._at += 1
        return found

    def _array(self, keys: KeyPath) -> list[Any]:
        found: list[Any] = []
        self._at += 1
        while self._blank() != "]":
            self.lines[(*keys, len(found))] = self._line_here()
            found.append(self._value((*keys, len(found))))
            self._comma("]")
        self._at += 1
        return found

    def _comma(self, close: str) -> None:
        sign = self._blank()
        if sign == ",":
            self._at += 1
        elif sign != close:
            raise _Fault(f"expected , or {close}", self._at)
