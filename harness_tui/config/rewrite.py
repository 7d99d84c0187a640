"""Changes in the text of a YAML file that leave every other byte as it is, or None where that cannot be done.

The usual changes (one value, one more rule, one more section) are made on the text itself; ``edit`` falls back on a
ruamel.yaml round trip for the rest, and checks the outcome of both by parsing it.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
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
    """Return ``text`` with one scalar replaced, or a top-level key added at its end."""
    root = _compose(text)
    if root is None:
        return _add_at_end(text, f"{flow(keys[0])}: {flow(value)}") if len(keys) == 1 else None
    node: Node | None = root
    for depth, key in enumerate(keys):
        node = _child(node, key)
        if node is None:
            top = depth == 0 and len(keys) == 1 and _is_block(root)
            return _add_at_end(text, f"{flow(key)}: {flow(value)}") if top else None
    if not isinstance(node, ScalarNode) or node.style in ("|", ">") or isinstance(value, dict | list | tuple):
        return None
    start, end = _span(node)
    return None if start == end else text[:start] + flow(value) + text[end:]


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
    first, last = node.value[0], _last_leaf(node)
    if last is None or first.start_mark is None:
        return None
    lines = text.split("\n")
    before = lines[first.start_mark.line][: first.start_mark.column]
    if "-" not in before:
        return None
    indent = " " * before.rindex("-")
    at = last + 1
    return "\n".join([*lines[:at], f"{indent}- {flow(dict(item))}", *lines[at:]])


def round_trip(text: str, change: Any) -> str:
    """Return ``text`` after ``change(data)``, through ruamel.yaml, which keeps comments, quotes and order."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    editor = YAML()
    editor.preserve_quotes = True
    editor.width = 1_000_000
    mapping, sequence, offset = _indents(text)
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
