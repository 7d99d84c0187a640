"""What is done to single nodes of a JSON Schema so that a provider takes it: one function a rule.

``schema_rules`` says which provider wants which, and where it says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, cast

from harness_tui.models.schema_walk import LISTS, MAPS, SINGLE, Schema, note

TYPES: Final = ("object", "array", "string", "number", "integer", "boolean", "null")

# --- rules for everybody ---------------------------------------------------------------------------------------------


def well_formed(node: Schema) -> Schema:
    """Keywords whose value has the wrong shape say nothing: ``properties: []``, ``anyOf: []``, ``title: null``."""
    result: Schema = {}
    for key, value in node.items():
        if key in MAPS:
            if isinstance(value, dict):
                result[key] = {name: _schema(item) for name, item in cast(Schema, value).items()}
        elif key in LISTS:
            if isinstance(value, list) and value:
                result[key] = [_schema(item) for item in cast(list[Any], value)]
        elif key in SINGLE:
            if isinstance(value, dict | bool) or (key == "items" and isinstance(value, list)):
                result[key] = [_schema(item) for item in value] if isinstance(value, list) else value
        elif key in _SHAPES:
            if _SHAPES[key](value):
                result[key] = value
        else:
            result[key] = value
    return result


def _schema(value: Any) -> Schema:
    """``true`` is the schema of everything, ``false`` that of nothing; providers want objects."""
    if isinstance(value, dict):
        return cast(Schema, value)
    return {"not": {}} if value is False else {}


def no_dialect(node: Schema) -> Schema:
    """The dialect and the address of a schema are nothing that a model needs."""
    return {key: value for key, value in node.items() if key not in ("$schema", "$id", "id") or not _text(value)}


def _text(value: Any) -> bool:
    return isinstance(value, str)


def known_types(node: Schema) -> Schema:
    """``any``, ``file`` and other words that are no type are left out; ``float`` and ``int`` are spelled out."""
    if "type" not in node:
        return node
    kind = node["type"]
    spelled = {"float": "number", "double": "number", "int": "integer", "bool": "boolean", "str": "string"}
    given = cast(list[Any], kind) if isinstance(kind, list) else [kind]
    names = [spelled.get(str(name).lower(), str(name).lower()) for name in given if isinstance(name, str)]
    good = list(dict.fromkeys(name for name in names if name in TYPES))
    rest = {key: value for key, value in node.items() if key != "type"}
    if not good or len(good) < len(names):  # one of them is unknown: then it could be anything
        return rest
    return {"type": good[0] if len(good) == 1 else good} | rest


def numeric_bounds(node: Schema) -> Schema:
    """Draft 4 wrote ``minimum: 1, exclusiveMinimum: true``; since draft 6 the bound itself is ``exclusiveMinimum``."""
    result = dict(node)
    for plain, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        flag = result.get(exclusive)
        if isinstance(flag, bool):
            del result[exclusive]
            if flag and _number(result.get(plain)):
                result[exclusive] = result.pop(plain)
    return result


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _count(value: Any) -> bool:
    return _number(value) and value >= 0 and float(value).is_integer()


def _bound(value: Any) -> bool:
    return _number(value) or isinstance(value, bool)


def _values(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


_SHAPES: Final[dict[str, Callable[[Any], bool]]] = {
    **dict.fromkeys(("title", "description", "format", "pattern", "$ref", "$anchor", "$comment"), _text),
    **dict.fromkeys(("minimum", "maximum"), _number),
    **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), _bound),
    **dict.fromkeys(
        ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains"), _count
    ),
    "multipleOf": lambda value: _number(value) and value > 0,
    "uniqueItems": lambda value: isinstance(value, bool),
    "enum": _values,
}


def tuples_as_prefix_items(node: Schema) -> Schema:
    """A list of ``items`` became ``prefixItems`` with draft 2020-12, ``additionalItems`` became ``items``."""
    if not isinstance(node.get("items"), list):
        return node
    result = {key: value for key, value in node.items() if key not in ("items", "additionalItems")}
    if node["items"]:
        result["prefixItems"] = node["items"]
    if "additionalItems" in node:
        result["items"] = node["additionalItems"]
    return result


def required_names(node: Schema) -> Schema:
    """``required`` is a list of names; draft 3 wrote ``required: true`` into the parameter itself.

    That of a node itself is left for the one above it, and taken out at the end.
    """
    result = dict(node)
    names = node.get("required")
    wanted = [name for name in cast(list[Any], names) if _text(name)] if isinstance(names, list) else []
    properties = cast(Schema, node.get("properties", {}))
    own = [name for name, value in properties.items() if isinstance(value, dict) and value.get("required") is True]
    if properties:
        result["properties"] = {name: without_flag(value) for name, value in properties.items()}
    if every := list(dict.fromkeys([*wanted, *own])):
        result["required"] = every
    elif not isinstance(names, bool):
        result.pop("required", None)
    return result


def without_flag(value: Any) -> Any:
    """Take ``required: true`` out of a schema, for the schema above has it by now."""
    if isinstance(value, dict) and isinstance(value.get("required"), bool):
        return {key: item for key, item in cast(Schema, value).items() if key != "required"}
    return value


def array_items(node: Schema) -> Schema:
    """An array says what its items are, be it anything."""
    kind = node.get("type")
    is_array = kind == "array" or (isinstance(kind, list) and "array" in kind)
    return node | {"items": {}} if is_array and "items" not in node and "prefixItems" not in node else node


# --- Google ----------------------------------------------------------------------------------------------------------


def items_as_object(node: Schema) -> Schema:
    """``items: true`` is everything; ``items: false`` ends a list, which only words can say."""
    match node.get("items"):
        case True:
            return node | {"items": {}}
        case False:
            return note({key: value for key, value in node.items() if key != "items"}, "no further items")
        case _:
            return node


def const_as_enum(node: Schema) -> Schema:
    """A constant is an enum of one value."""
    if "const" not in node:
        return node
    value = node["const"]
    result = {key: item for key, item in node.items() if key != "const"}
    result.setdefault("enum", [value])
    if "type" not in result and (kind := _type_of(value)) is not None:
        result["type"] = kind
    return result


def _type_of(value: Any) -> str | None:
    match value:
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case _:
            return None


def one_of_as_any_of(node: Schema) -> Schema:
    """``oneOf`` is sent as ``anyOf``, which is how it would be read."""
    if "oneOf" not in node or "anyOf" in node:
        return node
    return {("anyOf" if key == "oneOf" else key): value for key, value in node.items()}


def all_of_joined(node: Schema) -> Schema:
    """Join the parts of ``allOf`` where they say nothing different; else they are told in words."""
    parts = node.get("allOf")
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in cast(list[Any], parts)):
        return node
    result = {key: value for key, value in node.items() if key != "allOf"}
    for part in cast(list[Schema], parts):
        joined = _join(result, part)
        if joined is None:
            return node
        result = joined
    return result


def _join(left: Schema, right: Schema) -> Schema | None:
    result = dict(left)
    for key, value in right.items():
        old = result.get(key)
        if old is None or old == value:
            result[key] = value
        elif key == "properties" and not (set(old) & set(value)):
            result[key] = old | value
        elif key == "required":
            result[key] = list(dict.fromkeys([*old, *value]))
        elif key in ("title", "description"):
            result[key] = f"{old} {value}"
        else:
            return None
    return result


def inclusive_bounds(node: Schema) -> Schema:
    """For whole numbers an exclusive bound is the next inclusive one."""
    result = dict(node)
    for exclusive, plain, step in (("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)):
        bound = result.get(exclusive)
        whole = result.get("type") == "integer" and _number(bound) and float(cast(float, bound)).is_integer()
        if whole and plain not in result:
            result[plain] = int(cast(float, result.pop(exclusive))) + step
    return result


_FORMATS: Final = frozenset({"enum", "date-time", "float", "double", "int32", "int64"})


def known_formats(node: Schema) -> Schema:
    """A format that is not known is told in words."""
    format_ = node.get("format")
    if not _text(format_) or format_ in _FORMATS:
        return node
    return note({key: value for key, value in node.items() if key != "format"}, f"format: {format_}")


def definitions_as_defs(node: Schema) -> Schema:
    """Definitions stand in ``$defs``."""
    if "definitions" not in node:
        return node
    own, old = node.get("$defs"), node["definitions"]
    if not isinstance(old, dict) or (own is not None and not isinstance(own, dict)):
        return {key: value for key, value in node.items() if key != "definitions"}
    rest = {key: value for key, value in node.items() if key not in ("definitions", "$defs")}
    return rest | {"$defs": cast(Schema, old) | cast(Schema, own or {})}


def pointers_alone(node: Schema) -> Schema:
    """A pointer stands alone; what stood beside it is only annotation where definitions could not be put in place."""
    pointer = node.get("$ref")
    if not isinstance(pointer, str):
        return node
    kept = {key: value for key, value in node.items() if key.startswith("$")}
    return kept | {"$ref": pointer.replace("#/definitions/", "#/$defs/", 1)}


def nullable_as_type(node: Schema) -> Schema:
    """``nullable`` is the type ``null`` beside the own one."""
    kind = node.get("type")
    if node.get("nullable") is not True or not isinstance(kind, str) or kind == "null":
        return node
    values = node.get("enum")
    enum = {"enum": [*values, None]} if isinstance(values, list) and None not in values else {}
    return node | {"type": [kind, "null"]} | enum


def known_only(node: Schema, keywords: frozenset[str]) -> Schema:
    """Leave out what the provider has no word for, and say it in the description."""
    kept = {key: value for key, value in node.items() if key in keywords}
    for key, value in node.items():
        if key not in keywords and not key.startswith(("$", "x-", "_")) and key not in _SAYS_NOTHING:
            kept = note(kept, f"{key}: {_short(value)}")
    return kept


_SAYS_NOTHING: Final = frozenset(
    {"definitions", "discriminator", "examples", "example", "readOnly", "writeOnly", "deprecated", "nullable"}
)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 300 else f"{text[:297]}..."
