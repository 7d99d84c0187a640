"""Ways through a JSON Schema: which of its values are schemas again, and which are data that nobody may touch."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias, cast

Schema: TypeAlias = dict[str, Any]

MAPS: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
SINGLE: Final = (
    "items",
    "additionalItems",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contains",
    "contentSchema",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
)
"""Keywords whose value is a map of schemas, a list of them, or one; ``items`` was a list in older drafts."""

INLINE_NODES: Final = 4_000
"""So many nodes a schema may have once its definitions stand where they are used."""


def walk(schema: Schema, visit: Callable[[Schema], Schema]) -> Schema:
    """Return ``schema`` with ``visit`` applied to every schema in it, the innermost first."""
    result: Schema = {}
    for key, value in schema.items():
        if key in MAPS and isinstance(value, dict):
            result[key] = {name: _inner(item, visit) for name, item in cast(Schema, value).items()}
        elif (key in LISTS or key == "items") and isinstance(value, list):
            result[key] = [_inner(item, visit) for item in cast(list[Any], value)]
        elif key in SINGLE:
            result[key] = _inner(value, visit)
        else:
            result[key] = copy.deepcopy(value)
    return visit(result)


def _inner(value: Any, visit: Callable[[Schema], Schema]) -> Any:
    return walk(cast(Schema, value), visit) if isinstance(value, dict) else value


def each_schema(schema: Any) -> Iterator[Schema]:
    """Yield every schema in ``schema``, itself first."""
    if not isinstance(schema, dict):
        return
    node = cast(Schema, schema)
    yield node
    for key, value in node.items():
        if key in MAPS and isinstance(value, dict):
            inner = list(cast(Schema, value).values())
        elif (key in LISTS or key == "items") and isinstance(value, list):
            inner = cast(list[Any], value)
        elif key in SINGLE:
            inner = [value]
        else:
            continue
        for item in inner:
            yield from each_schema(item)


def note(schema: Schema, text: str) -> Schema:
    """Return ``schema`` with ``text`` in brackets after its description."""
    old = schema.get("description")
    return schema | {"description": f"{old} ({text})" if isinstance(old, str) and old else f"({text})"}


def target(root: Schema, pointer: str) -> Any:
    """Return what a local pointer (``#/$defs/x``) means, ``None`` where it means nothing here."""
    if not pointer.startswith("#"):
        return None
    value: Any = root
    for step in pointer[1:].split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~").replace("%25", "%")
        if isinstance(value, dict):
            value = cast(Schema, value).get(name)
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(cast(list[Any], value)):
            value = cast(list[Any], value)[int(name)]
        else:
            return None
    return value


def inlined(root: Schema) -> Schema:
    """Return ``root`` with each definition where it is used; as it is where that has no end or gets too large."""
    budget = [INLINE_NODES]

    def expand(value: Any, within: frozenset[str]) -> Any:
        if isinstance(value, list):
            return [expand(item, within) for item in cast(list[Any], value)]
        if not isinstance(value, dict):
            return value
        budget[0] -= 1
        if budget[0] < 0:
            raise _TooLargeError
        node = cast(Schema, value)
        pointer = node.get("$ref")
        if isinstance(pointer, str):
            found = target(root, pointer)
            if pointer in within or not isinstance(found, dict):
                raise _TooLargeError
            rest = {key: item for key, item in node.items() if key != "$ref"}
            return expand(cast(Schema, found) | rest, within | {pointer})
        return {key: _expanded(key, item, within) for key, item in node.items() if key not in ("$defs", "definitions")}

    def _expanded(key: str, value: Any, within: frozenset[str]) -> Any:
        if key in MAPS and isinstance(value, dict):
            return {name: expand(item, within) for name, item in cast(Schema, value).items()}
        return expand(value, within) if key in LISTS or key in SINGLE else value

    try:
        return expand(root, frozenset())
    except _TooLargeError:
        return root


class _TooLargeError(Exception):
    """The definitions of a schema cannot all be put where they are used."""


def moved(schema: Schema, prefix: str) -> Schema:
    """Return ``schema`` for a place below: its local pointers, but those to definitions, lead through ``prefix``."""

    def visit(node: Schema) -> Schema:
        pointer = node.get("$ref")
        if not isinstance(pointer, str) or not pointer.startswith("#"):
            return node
        if pointer.startswith(("#/$defs/", "#/definitions/")):
            return node
        return node | {"$ref": f"#{prefix}{pointer[1:]}"}

    return walk(schema, visit)
