"""YAML files to plain values with line numbers, by PyYAML's safe rules.

Parsing goes event by event with a stack of our own, so that deep nesting, anchors that multiply and duplicate keys are
caught, and so that the part before a syntax error can be saved: a file that was cut in half keeps its deny rules.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from harness_tui.config.document import Document, KeyPath, broken_document
from harness_tui.config.problems import Problem
from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import CONFIG_BYTES
from harness_tui.core.paths import read_regular

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

MAX_NODES: Final = 50_000
MAX_DEPTH: Final = 50
_SAVED_DEPTH: Final = 2
"""Collections nested deeper than this (the file, a section) are dropped when they are cut off in the middle."""
_MERGE: Final = "tag:yaml.org,2002:merge"
_MAP: Final = "tag:yaml.org,2002:map"
_SEQ: Final = "tag:yaml.org,2002:seq"


class _Fault(Exception):
    """Ends parsing: a message with the line (from 1) it belongs to."""

    def __init__(self, code: str, message: str, line: int, mend: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.line, self.mend = code, message, line, mend


def read_text(path: Path, *, max_bytes: int = CONFIG_BYTES) -> str | Document:
    """Return the text of a file, or the broken document that says why there is none."""
    try:
        data = read_regular(path, max_bytes=max_bytes)
    except HarnessError as error:
        return broken_document(path, error.code, f"the file cannot be read: {error.what}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return broken_document(path, "not-utf8", "the file is not UTF-8", "save it as UTF-8", line=line)
    if "\x00" in text:
        line = text.count("\n", 0, text.index("\x00")) + 1
        return broken_document(path, "binary", "the file holds a NUL byte", line=line)
    return text


def read_yaml(path: Path, *, max_bytes: int = CONFIG_BYTES) -> Document:
    """Read and parse a YAML file; a fault is a problem of the document, never an exception."""
    text = read_text(path, max_bytes=max_bytes)
    return text if isinstance(text, Document) else parse_yaml(text, path)


def parse_yaml(text: str, path: Path, *, first_line: int = 1) -> Document:
    """Parse YAML ``text`` whose first line is line ``first_line`` of ``path``. An empty text has an empty mapping."""
    builder = _Builder(first_line)
    fault: _Fault | None = None
    try:
        builder.feed(text)
    except yaml.YAMLError as error:
        fault = _from_yaml(error, first_line)
    except _Fault as error:
        fault = error
    walker = _Walker(path, first_line, builder.resolver)
    values: Any = {}
    try:
        root = builder.root()
        if root is not None:
            values = walker.value(root, ())
    except _Fault as error:
        fault = fault or error
        values = {}
    problems = walker.problems
    if fault is not None:
        problems.append(Problem(f"{path}:{fault.line}", fault.code, fault.message, fault.mend))
    return Document(path, {} if values is None else values, walker.lines, tuple(problems), broken=fault is not None)


def _from_yaml(error: yaml.YAMLError, first_line: int) -> _Fault:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error).splitlines()[0]
    context = getattr(error, "context", None)
    text = f"{context}: {problem}" if context else str(problem)
    return _Fault("yaml", f"not valid YAML: {text}", (mark.line if mark else 0) + first_line)


class _Builder:
    """Builds the tree of nodes from events; :meth:`root` also gives what was complete before an error."""

    def __init__(self, first_line: int) -> None:
        self._first_line = first_line
        self._stack: list[tuple[Node, list[Any], str | None]] = []
        self._anchors: dict[str, Node] = {}
        self._root: Node | None = None
        self._count = 0
        self.resolver: Any = _Loader("")

    def feed(self, text: str) -> None:
        loader = _Loader(text)
        documents = 0
        try:
            while loader.check_event():
                event = loader.get_event()
                if isinstance(event, DocumentStartEvent):
                    documents += 1
                    if documents > 1:
                        raise _Fault("documents", "the file holds more than one document", self._line(event))
                self._take(event)
        finally:
            loader.dispose()

    def _line(self, event: Any) -> int:
        return event.start_mark.line + self._first_line

    def _take(self, event: Any) -> None:
        match event:
            case ScalarEvent():
                self._add(self._scalar(event), event.anchor)
            case AliasEvent():
                node = self._anchors.get(str(event.anchor))
                if node is None:
                    raise _Fault("anchor", f"*{event.anchor} names nothing", self._line(event))
                self._add(node, None)
            case MappingStartEvent() | SequenceStartEvent():
                self._open(event)
            case MappingEndEvent() | SequenceEndEvent():
                self._close()
            case _:
                pass

    def _scalar(self, event: Any) -> ScalarNode:
        tag = event.tag
        if tag is None or tag == "!":
            tag = str(self.resolver.resolve(ScalarNode, event.value, event.implicit))
        return ScalarNode(tag, event.value, event.start_mark, event.end_mark, style=event.style)

    def _open(self, event: Any) -> None:
        if len(self._stack) >= MAX_DEPTH:
            raise _Fault("too-deep", f"nested deeper than {MAX_DEPTH} levels", self._line(event))
        is_map = isinstance(event, MappingStartEvent)
        kind: Any = MappingNode if is_map else SequenceNode
        default = _MAP if is_map else _SEQ
        if event.tag not in (None, "!", default):
            raise _Fault("tag", f"the tag {event.tag} is not known", self._line(event))
        items: list[Any] = []
        marks: Any = event
        node: Node = kind(default, items, marks.start_mark, marks.end_mark)
        self._stack.append((node, items, event.anchor))

    def _close(self) -> None:
        node, items, anchor = self._stack.pop()
        if isinstance(node, MappingNode):
            node.value = list(zip(items[::2], items[1::2], strict=False))
        self._add(node, anchor)

    def _add(self, node: Node, anchor: str | None) -> None:
        self._count += 1
        if self._count > MAX_NODES:
            line = (node.start_mark.line if node.start_mark else 0) + self._first_line
            raise _Fault("too-large", f"more than {MAX_NODES} values", line)
        if anchor:
            self._anchors[anchor] = node
        if self._stack:
            self._stack[-1][1].append(node)
        else:
            self._root = node

    def root(self) -> Node | None:
        """Return the root; open collections are closed, those cut off inside an entry are left out."""
        while self._stack:
            if len(self._stack) > _SAVED_DEPTH:
                self._stack.pop()
            else:
                self._close()
        return self._root


class _Walker:
    """Expands nodes to fresh plain values, with a budget, because one anchor may stand for very many."""

    def __init__(self, path: Path, first_line: int, constructor: Any) -> None:
        self._path = path
        self._first_line = first_line
        self._constructor = constructor
        self._budget = MAX_NODES
        self.lines: dict[KeyPath, int] = {}
        self.problems: list[Problem] = []

    def _line(self, node: Node) -> int:
        return (node.start_mark.line if node.start_mark else 0) + self._first_line

    def value(self, node: Node, keys: KeyPath) -> Any:
        self._budget -= 1
        if self._budget < 0 or len(keys) > MAX_DEPTH:
            raise _Fault("too-large", "the anchors of this file stand for too much", self._line(node))
        self.lines.setdefault(keys, self._line(node))
        if isinstance(node, MappingNode):
            return self._mapping(node, keys)
        if isinstance(node, SequenceNode):
            items: list[Node] = node.value
            return [self.value(item, (*keys, index)) for index, item in enumerate(items)]
        return self._scalar_value(node)

    def _scalar_value(self, node: Node) -> Any:
        try:
            value = self._constructor.construct_object(node)
        except yaml.YAMLError as error:
            message = f"this value cannot be understood: {error}".splitlines()[0]
            where = f"{self._path}:{self._line(node)}"
            self.problems.append(Problem(where, "yaml", message, "write it as plain text in quotes"))
            return node.value
        except (ValueError, OverflowError):  # looks like a date or a number and is none
            return node.value
        # Dates and binary data have no place in configuration: what was written counts.
        return value if value is None or isinstance(value, str | int | float) else node.value

    def _mapping(self, node: MappingNode, keys: KeyPath) -> dict[str, Any]:
        result: dict[str, Any] = {}
        merged: list[Node] = []
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE:
                merged.append(value_node)
                continue
            if not isinstance(key_node, ScalarNode):
                raise _Fault("key", "a key must be plain text", self._line(key_node))
            key = str(key_node.value)  # as written: `on` and `8080` are names here, not values
            if key in result:
                where = f"{self._path}:{self._line(key_node)}"
                first = self.lines[(*keys, key)]
                message = f"{key!r} is here twice, first in line {first}; the last one counts"
                self.problems.append(Problem(where, "duplicate-key", message, "remove one", "warning"))
                self._forget((*keys, key))
            self.lines[(*keys, key)] = self._line(key_node)
            result[key] = self.value(value_node, (*keys, key))
        for value_node in merged:
            self._merge(value_node, keys, result)
        return result

    def _merge(self, node: Node, keys: KeyPath, result: dict[str, Any]) -> None:
        sources: list[Node] = node.value if isinstance(node, SequenceNode) else [node]
        for source in sources:
            if not isinstance(source, MappingNode):
                raise _Fault("merge", "<< needs a mapping", self._line(node))
            # A throw-away path: the lines of keys that are already there must stay.
            lines, self.lines = self.lines, {}
            try:
                values = self.value(source, keys)
            finally:
                lines, self.lines = self.lines, lines
            for key, value in values.items():
                if key in result:
                    continue
                result[key] = value
                prefix = (*keys, key)
                self.lines.update({path: line for path, line in lines.items() if path[: len(prefix)] == prefix})

    def _forget(self, prefix: KeyPath) -> None:
        for path in [path for path in self.lines if path[: len(prefix)] == prefix]:
            del self.lines[path]
