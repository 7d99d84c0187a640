"""Changes in the text of a YAML file that leave every other byte as it is, or None where that cannot be done.

The usual changes (one value, one more rule, one more section) are made on the text itself; ``edit`` falls back on a
ruamel.yaml round trip for the rest, and checks the outcome of both by parsing it.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from harness_tui.core.errors import HarnessError

Keys = tuple[str, ...]

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_WORDS = ("true", "false", "yes", "no", "on", "off", "null", "y", "n")


def flow(value: Any) -> str:
    """Return ``value`` as one line of YAML."""
    match value:
        case str():
            plain = _PLAIN.fullmatch(value) and value.lower() not in _WORDS
            return value if plain else json.dumps(value, ensure_ascii=False)
        case dict():
            items = cast(dict[str, Any], value).items()
            return "{" + ", ".join(f"{flow(str(key))}: {flow(item)}" for key, item in items) + "}"
        case list() | tuple():
            return "[" + ", ".join(flow(item) for item in cast(Sequence[Any], value)) + "]"
        case _:
            return json.dumps(value)


def set_in_text(text: str, keys: Keys, value: Any) -> str | None:
    """Return ``text`` with the value at ``keys`` replaced or added; what is added stands on one line."""
    root = _compose(text)
    if root is None:
        return _add_at_end(text, _section(keys, value))
    node: Node = root
    for depth, key in enumerate(keys):
        child = _child(node, key)
        if child is None:
            if depth == 0:
                return _add_at_end(text, _section(keys, value)) if _is_block(root) else None
            return _insert(text, node, _line(keys[depth:], value))
        node = child
    flat = node.style not in ("|", ">") if isinstance(node, ScalarNode) else bool(getattr(node, "flow_style", False))
    start, end = _span(node)
    return text[:start] + flow(value) + text[end:] if flat and start != end else None


def remove_in_text(text: str, keys: Keys) -> str | None:
    """Return ``text`` without the lines of one entry that has brothers, comments above it kept."""
    root = _compose(text)
    parent: Node | None = root
    for key in keys[:-1]:
        parent = _child(parent, key)
    if not isinstance(parent, MappingNode) or parent.flow_style or len(parent.value) < 2:
        return None
    entry = next(((name, value) for name, value in parent.value if name.value == keys[-1]), None)
    last = _last_leaf(entry[1]) if entry else None
    if entry is None or last is None:
        return None
    lines = text.split("\n")
    return "\n".join([*lines[: entry[0].start_mark.line], *lines[last + 1 :]])


def append_in_text(text: str, key: str, item: Mapping[str, Any]) -> str | None:
    """Return ``text`` with ``item`` added at the end of the top-level list ``key``, which is added if it is missing."""
    root = _compose(text)
    if root is None:
        return _add_at_end(text, f"{key}:\n  - {flow(dict(item))}")
    node = _child(root, key)
    if node is None:
        return _add_at_end(text, f"{key}:\n  - {flow(dict(item))}") if _is_block(root) else None
    if not isinstance(node, SequenceNode) or node.flow_style or not node.value:
        return None
    first = node.value[0]
    before = text.split("\n")[first.start_mark.line][: first.start_mark.column]
    return _insert_line(text, node, " " * before.rindex("-") + f"- {flow(dict(item))}") if "-" in before else None


def insert_in_text(text: str, key: str, index: int, item: Mapping[str, Any]) -> str | None:
    """Return ``text`` with ``item`` put at ``index`` of the top-level list ``key``, above comments of what is there."""
    root = _compose(text)
    node = _child(root, key)
    if node is None or not isinstance(node, SequenceNode) or index >= len(node.value):
        return append_in_text(text, key, item)
    if node.flow_style:
        return None
    lines = text.split("\n")
    mark = node.value[index].start_mark
    before = lines[mark.line][: mark.column]
    if not re.fullmatch(r"[ ]*-[ ]+", before):
        return None
    at, first = mark.line, _line_of_key(root, key) + 1
    while at > first and lines[at - 1].lstrip().startswith("#"):
        at -= 1
    return "\n".join([*lines[:at], f"{' ' * before.index('-')}- {flow(dict(item))}", *lines[at:]])


def _line_of_key(root: Node | None, key: str) -> int:
    pairs: list[tuple[Node, Node]] = root.value if isinstance(root, MappingNode) else []
    return next((name.start_mark.line for name, _ in pairs if name.value == key), 0)


def round_trip(text: str, change: Callable[[Any], None], accept: Callable[[str], bool]) -> str:
    """Return ``text`` after ``change(data)``, through ruamel.yaml, which keeps comments, quotes and order.

    Tried with the indents of the text and with usual ones, because not every mix of them comes out right. Raises
    ``HarnessError`` when ``accept`` takes none.
    """
    for indents in (_indents(text), (2, 4, 2), (4, 6, 4), (2, 2, 0)):
        new = _dump(text, change, indents)
        if accept(new):
            return new
    raise HarnessError("the change cannot be made without changing more", mend="edit it by hand", code="edit")


def _dump(text: str, change: Callable[[Any], None], indents: tuple[int, int, int]) -> str:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    editor = YAML()
    editor.preserve_quotes = True
    editor.width = 1_000_000
    mapping, sequence, offset = indents
    editor.indent(mapping=mapping, sequence=sequence, offset=offset)
    try:
        data = editor.load(text)
        data = editor.map() if data is None else data
        change(data)
        out = io.StringIO()
        editor.dump(data, out)
    except YAMLError as error:
        message = str(error).splitlines()[0]
        raise HarnessError(f"the file cannot be edited: {message}", mend="mend it by hand", code="edit") from error
    return out.getvalue()


def _compose(text: str) -> Node | None:
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as error:
        raise HarnessError("the file is not valid YAML", mend="mend it by hand first", code="edit") from error


def _child(node: Node | None, key: str) -> Node | None:
    if not isinstance(node, MappingNode):
        return None
    pairs: list[tuple[Node, Node]] = node.value
    return next((value for name, value in pairs if name.value == key), None)


def _is_block(root: Node) -> bool:
    return isinstance(root, MappingNode) and not root.flow_style and root.start_mark.column == 0


def _add_at_end(text: str, lines: str) -> str | None:
    if re.search(r"^(\.\.\.|---\s*\S)", text, re.MULTILINE):
        return None
    return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{lines}\n"


def _section(keys: Keys, value: Any) -> str:
    """Return a new top-level section: its entry on a line of its own, so that the next one can be added beside it."""
    if len(keys) > 1:
        return f"{flow(keys[0])}:\n  {_line(keys[1:], value)}"
    return _line(keys, value)


def _line(keys: Keys, value: Any) -> str:
    for key in reversed(keys[1:]):
        value = {key: value}
    return f"{flow(keys[0])}: {flow(value)}"


def _insert(text: str, parent: Node, line: str) -> str | None:
    if not isinstance(parent, MappingNode) or parent.flow_style or not parent.value:
        return None
    return _insert_line(text, parent, " " * parent.value[0][0].start_mark.column + line)


def _insert_line(text: str, parent: Node, line: str) -> str | None:
    last = _last_leaf(parent)
    if last is None:
        return None
    lines = text.split("\n")
    return "\n".join([*lines[: last + 1], line, *lines[last + 1 :]])


def _span(node: Node) -> tuple[int, int]:
    return node.start_mark.index, node.end_mark.index


def _last_leaf(node: Node) -> int | None:
    """Return the last line (from 0) of a node's own text, comments after it left out."""
    if isinstance(node, SequenceNode | MappingNode) and not node.flow_style and node.value:
        children = list(_children(node))
        return _last_leaf(children[-1])
    if isinstance(node, ScalarNode) and (node.style in ("|", ">") or _span(node)[0] == _span(node)[1]):
        return None
    return node.end_mark.line


def _children(node: Node) -> Iterator[Node]:
    for item in node.value:
        if isinstance(item, tuple):
            yield from cast(tuple[Node, Node], item)
        else:
            yield item


def _indents(text: str) -> tuple[int, int, int]:
    """Return the indents of mappings, sequences and dashes as the text has them, two and no offset by default."""
    nested = re.search(r"^[^\s#-][^\n]*:[ \t]*(?:#[^\n]*)?\n+( +)[^\s#-]", text, re.MULTILINE)
    dashed = re.search(r"^([^\s#-][^\n]*:[ \t]*(?:#[^\n]*)?\n+)( *)-( +)", text, re.MULTILINE)
    mapping = len(nested[1]) if nested else 2
    offset = len(dashed[2]) if dashed else 2
    return mapping, offset + (1 + len(dashed[3]) if dashed else 2), offset
