"""Arguments held against a tool's input schema, before a person's call is sent.

The server is the judge; this only spares a person the way there. What could take long is left out: patterns, and
whatever the schema fetches from elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from harness_tui.core.text import clean_for_display, cut_end

_FAULTS: Final = 3
_LINE_CHARS: Final = 200
_SLOW: Final = frozenset({"pattern", "patternProperties", "format", "uniqueItems", "$schema", "$id", "id", "$anchor"})
_DEPTH: Final = 30
_CHARS: Final = 200_000


def faults_of(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    """Say what of ``arguments`` does not fit ``schema``, empty when all does. Slow: call it in a thread."""
    import jsonschema
    from jsonschema.exceptions import UnknownType
    from referencing.exceptions import Unresolvable

    if len(json.dumps([schema, arguments], default=str)) > _CHARS:
        return ""
    try:
        validator = jsonschema.Draft202012Validator(_plain(schema, 0))
        faults = sorted(validator.iter_errors(dict(arguments)), key=lambda fault: list(map(str, fault.absolute_path)))
    except (jsonschema.SchemaError, UnknownType, Unresolvable, RecursionError, TypeError, ValueError):
        return ""  # a schema that is none binds nobody
    return "; ".join(
        _line(f"{'.'.join(map(str, fault.absolute_path))}: {fault.message}".strip(": ")) for fault in faults[:_FAULTS]
    )


def _plain(value: Any, depth: int) -> Any:
    """Return a schema without its slow parts; names of properties are no keywords."""
    if depth > _DEPTH:
        return {}
    if isinstance(value, list):
        return [_plain(item, depth + 1) for item in cast(list[Any], value)]
    if not isinstance(value, Mapping):
        return value
    found: dict[str, Any] = {}
    for key, item in cast(Mapping[str, Any], value).items():
        if key in ("properties", "$defs", "definitions") and isinstance(item, Mapping):
            named = cast(Mapping[str, Any], item)
            found[key] = {name: _plain(part, depth + 1) for name, part in named.items()}
        elif key in ("enum", "const", "default", "examples", "required"):
            found[key] = item
        elif key not in _SLOW:
            found[key] = _plain(item, depth + 1)
    return found


def _line(text: str) -> str:
    return cut_end(clean_for_display(text, one_line=True), _LINE_CHARS)
