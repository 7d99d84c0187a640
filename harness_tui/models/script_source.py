"""YAML of a replay script as plain data that remembers its lines.

Scalars in text fields are taken as they are written (``text: 42`` is the text ``42``), so the source of each is kept.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection
from pathlib import Path
from typing import Any, Final, NoReturn, TypeAlias

from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.limits import MIB
from harness_tui.core.paths import read_regular
from harness_tui.core.record import record

_SCRIPT_BYTES: Final = 32 * MIB
_DEPTH: Final = 100
_NODES: Final = 500_000


@record
class Scalar:
    """A value: ``text`` as it is written, ``value`` as YAML reads it (a date stays text)."""

    text: str
    value: str | int | float | bool | None
    line: int


@record
class Sequence:
    """A list."""

    items: tuple[Node, ...]
    line: int


@record
class Mapping:
    """An object; keys are text."""

    entries: dict[str, Node]
    line: int


Node: TypeAlias = Scalar | Sequence | Mapping


class Source:
    """Reads one file, and names its lines in errors."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._count = 0

    def fail(self, line: int, what: str, mend: str | None = None) -> NoReturn:
        """Raise ``UsageError`` for a line (from 1)."""
        raise UsageError(what, where=f"{self.path}:{line}", mend=mend, code="script")

    def read(self) -> Node:
        """Return the file's one document. Raises ``UsageError``."""
        import yaml

        try:
            data = read_regular(self.path, max_bytes=_SCRIPT_BYTES)
        except HarnessError as error:
            raise UsageError(
                f"the replay script cannot be read: {error.what}", where=str(self.path), code="script"
            ) from error
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(data.decode("utf-8-sig", "replace"))
        try:
            root = loader.get_single_node()
            if root is None:
                self.fail(1, "the script is empty", "it needs 'turns:'")
            return self._convert(loader, root, 0)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            self.fail(mark.line + 1 if mark else 1, f"not valid YAML: {error.problem or error.context}")
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            self.fail(1, f"not valid YAML: {str(error).splitlines()[0] if str(error) else 'too deep'}")
        finally:
            loader.dispose()

    def _convert(self, loader: Any, node: Any, depth: int) -> Node:
        import yaml

        line = node.start_mark.line + 1
        self._count += 1
        if depth > _DEPTH or self._count > _NODES:
            self.fail(line, "the script is nested too deeply or too large")
        if isinstance(node, yaml.SequenceNode):
            return Sequence(tuple(self._convert(loader, item, depth + 1) for item in node.value), line)
        if isinstance(node, yaml.MappingNode):
            loader.flatten_mapping(node)
            return Mapping(self._entries(loader, node, depth), line)
        value = loader.construct_object(node)
        if not isinstance(value, str | int | float | bool) and value is not None:
            value = node.value
        return Scalar(node.value, value, line)

    def _entries(self, loader: Any, node: Any, depth: int) -> dict[str, Node]:
        import yaml

        entries: dict[str, Node] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                self.fail(line, "a key must be text")
            name = str(key.value)
            if name in entries:
                self.fail(line, f"{name!r} is given twice")
            entries[name] = self._convert(loader, value, depth + 1)
        return entries

    # --- what a field may be -----------------------------------------------------------------------

    def mapping(self, node: Node, what: str, known: Collection[str]) -> dict[str, Node]:
        """Return the entries of an object whose keys are all ``known``; entries without a value are left out."""
        if not isinstance(node, Mapping):
            self.fail(node.line, f"{what} must be an object, got {kind(node)}")
        for name, value in node.entries.items():
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                mend = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
                self.fail(value.line, f"unknown key {name!r} in {what}", mend)
        return {name: value for name, value in node.entries.items() if not is_empty(value)}

    def items(self, node: Node, what: str) -> tuple[Node, ...]:
        """Return the items of a list."""
        if not isinstance(node, Sequence):
            self.fail(node.line, f"{what} must be a list, got {kind(node)}")
        return node.items

    def text(self, node: Node, what: str) -> str:
        """Return a scalar as it is written."""
        if not isinstance(node, Scalar):
            self.fail(node.line, f"{what} must be text, got {kind(node)}")
        return node.text

    def number(self, node: Node, what: str) -> float:
        """Return a number that is not negative."""
        value = node.value if isinstance(node, Scalar) else None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
            self.fail(node.line, f"{what} must be a number that is not negative")
        return value

    def count(self, node: Node, what: str) -> int:
        """Return a whole number that is not negative."""
        value = self.number(node, what)
        if value != int(value):
            self.fail(node.line, f"{what} must be a whole number")
        return int(value)

    def flag(self, node: Node, what: str) -> bool:
        """Return true or false."""
        value = node.value if isinstance(node, Scalar) else None
        if not isinstance(value, bool):
            self.fail(node.line, f"{what} must be true or false")
        return value

    def word(self, node: Node, what: str, allowed: Collection[str]) -> str:
        """Return one of the ``allowed`` words."""
        value = self.text(node, what)
        if value not in allowed:
            self.fail(node.line, f"{what} must be one of {', '.join(allowed)}, got {value!r}")
        return value

    def json_object(self, node: Node, what: str) -> dict[str, Any]:
        """Return an object of any JSON values."""
        if not isinstance(node, Mapping):
            self.fail(node.line, f"{what} must be an object, got {kind(node)}")
        return {name: _plain(value) for name, value in node.entries.items()}


def is_empty(node: Node) -> bool:
    """Tell whether a key was given no value."""
    return isinstance(node, Scalar) and node.value is None


def kind(node: Node) -> str:
    """Return what a node is, for people."""
    match node:
        case Mapping():
            return "an object"
        case Sequence():
            return "a list"
        case Scalar(value=None):
            return "nothing"
        case Scalar(text=text):
            return repr(text[:40])


def _plain(node: Node) -> Any:
    match node:
        case Mapping(entries=entries):
            return {name: _plain(value) for name, value in entries.items()}
        case Sequence(items=items):
            return [_plain(item) for item in items]
        case Scalar(value=value):
            return value
