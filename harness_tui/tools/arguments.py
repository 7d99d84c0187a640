"""One checker of arguments against a tool's own JSON Schema, so that every tool complains in the same words.

It knows what the built-in schemas use: ``type``, ``required``, ``enum``, ``properties``, ``items``, ``minimum``,
``minItems``. An argument that a schema does not name is an error that lists those that it does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from harness_tui.core.errors import ToolError

_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (dict,),
}


def check_arguments(tool: str, schema: Mapping[str, Any], arguments: Any) -> dict[str, Any]:
    """Return ``arguments`` without those that are ``null``; raises ``ToolError`` that names what does not fit."""
    return _object(tool, schema, arguments, "")


def fail(tool: str, what: str) -> ToolError:
    """Return the error for arguments that do not fit."""
    return ToolError(what, where=tool, code="invalid-arguments")


def _value(tool: str, schema: Mapping[str, Any], value: Any, path: str) -> Any:
    expected = cast("str | None", schema.get("type"))
    if expected is not None and not _fits(expected, value):
        raise fail(tool, f"{path} must be {_article(expected)}, got {_kind(value)}")
    if "enum" in schema and value not in schema["enum"]:
        raise fail(tool, f"{path} must be one of {', '.join(map(str, schema['enum']))}, got {value!r}")
    if "minimum" in schema and value < schema["minimum"]:
        raise fail(tool, f"{path} must be at least {schema['minimum']}, got {value}")
    if expected == "array":
        return _array(tool, schema, value, path)
    return _object(tool, schema, value, path) if expected == "object" else value


def _array(tool: str, schema: Mapping[str, Any], value: list[Any], path: str) -> list[Any]:
    if len(value) < schema.get("minItems", 0):
        raise fail(tool, f"{path} must not be empty")
    return [_value(tool, schema.get("items", {}), item, f"{path}[{index}]") for index, item in enumerate(value)]


def _object(tool: str, schema: Mapping[str, Any], value: Any, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise fail(tool, f"{path or 'arguments'} must be an object, got {_kind(value)}")
    entries = cast(dict[str, Any], value)
    known = cast(dict[str, Mapping[str, Any]], schema.get("properties", {}))
    unknown = [name for name in entries if name not in known]
    within = f" in {path}" if path else ""
    if unknown:
        names = ", ".join(map(repr, unknown))
        plural = "s" if len(unknown) > 1 else ""
        raise fail(tool, f"unknown argument{plural} {names}{within}; known are {', '.join(known) or 'none'}")
    missing = [name for name in schema.get("required", ()) if entries.get(name) is None]
    if missing:
        raise fail(tool, f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing{within}")
    return {
        name: _value(tool, known[name], item, f"{path}.{name}" if path else name)
        for name, item in entries.items()
        if item is not None
    }


def _fits(expected: str, value: Any) -> bool:
    if isinstance(value, bool):
        return expected == "boolean"
    return isinstance(value, _TYPES[expected])


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aio" else f"a {kind}"


def _kind(value: Any) -> str:
    if value is None:
        return "nothing"
    return next((_article(name) for name in _TYPES if _fits(name, value)), type(value).__name__)
