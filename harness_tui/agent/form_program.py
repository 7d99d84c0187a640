"""Checks a value against a JSON Schema; as a program it does so in a process that can be ended.

Patterns of a schema are matched by Python's ``re``, which may try for ever and holds the whole interpreter meanwhile.
The program reads ``{"schema", "value"}`` as JSON from standard input and writes ``{"problems": [...]}``. It needs
nothing of this package.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any, Final

_SHOWN: Final = 5
_PROBLEM_CHARS: Final = 300


def validator_of(schema: dict[str, Any]) -> Any:
    """Return what checks values. Raises ``jsonschema.SchemaError`` for a schema that is none, ``RecursionError``."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for
    from referencing import Registry

    kind: Any = validator_for(schema, default=Draft202012Validator)
    kind.check_schema(schema)
    # An empty registry of our own: the default one would fetch what a ``$ref`` names.
    registry: Any = Registry()
    return kind(schema, registry=registry, format_checker=kind.FORMAT_CHECKER)


def problems_of(validator: Any, value: Any) -> list[str]:
    """Return where and why ``value`` does not fit, a few places at most; empty when it fits."""
    from referencing.exceptions import Unresolvable

    try:
        errors = sorted(validator.iter_errors(value), key=lambda error: error.json_path)
    except Unresolvable as error:
        return [f"the schema refers to what is not in it: {error}"]
    except (RecursionError, re.error) as error:
        return [f"the schema cannot be followed: {error}"]
    shown = [f"{error.json_path}: {cut(error.message)}" for error in errors[:_SHOWN]]
    return [*shown, f"and {len(errors) - _SHOWN} more"] if len(errors) > _SHOWN else shown


def cut(text: str) -> str:
    """Return ``text`` within the length of one problem."""
    return text if len(text) <= _PROBLEM_CHARS else text[: _PROBLEM_CHARS - 1] + "…"


def main() -> None:
    """Check what standard input gives."""
    given = json.loads(sys.stdin.buffer.read())
    found = problems_of(validator_of(given["schema"]), given["value"])
    sys.stdout.buffer.write(json.dumps({"problems": found}).encode())


if __name__ == "__main__":
    main()
