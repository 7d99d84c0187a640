"""The form that a run's answer must have (``run --output-schema``): a JSON Schema, how it is asked for and checked.

The schema is put to the model in words, and to providers that know schemas in their own way once no tool is offered any
more. An answer that does not fit is sent back with the reason, twice at most.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final, cast

from harness_tui.agent.run_end import RunEnd
from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.event_parts import RunError
from harness_tui.core.limits import MIB
from harness_tui.core.paths import read_regular
from harness_tui.core.record import record

ROUNDS: Final = 2
"""How often an answer that does not fit is sent back."""

SCHEMA_BYTES: Final = MIB
_SHOWN: Final = 5
_PROBLEM_CHARS: Final = 300
_FENCED: Final = re.compile(r"```[A-Za-z0-9_-]*[ \t]*\n(.*)\n[ \t]*```", re.DOTALL)


class FormError(Exception):
    """An answer that does not fit; the text says where and why."""


@record
class AnswerForm:
    """A checked schema. Make one with :func:`load_form`."""

    schema: dict[str, Any]
    validator: Any

    @property
    def instruction(self) -> str:
        """What the system prompt says."""
        text = json.dumps(self.schema, ensure_ascii=False)
        return (
            "Your final answer must be one JSON value that is valid for the JSON Schema below, and nothing else: no"
            f" words before or after it, no code fence.\n\n{text}"
        )

    @staticmethod
    def mending(problem: str) -> str:
        """What the model is told of an answer that does not fit."""
        return f"Of your answer: {problem}\n\nAnswer again with the whole JSON value, and nothing else."

    def read(self, text: str) -> Any:
        """Return the value of an answer. Raises ``FormError``. May take long for an odd schema: call it in a thread.

        A code fence around the whole answer is taken off.
        """
        text = text.strip()
        fenced = _FENCED.fullmatch(text)
        try:
            value = json.loads(fenced[1] if fenced else text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise FormError(f"it is not JSON: {error}" if text else "it is empty") from error
        problems = self._problems(value)
        if problems:
            raise FormError("; ".join(problems))
        return value

    def _problems(self, value: Any) -> list[str]:
        from referencing.exceptions import Unresolvable

        try:
            errors = sorted(self.validator.iter_errors(value), key=lambda error: error.json_path)
        except Unresolvable as error:
            raise FormError(f"the schema refers to what is not in it: {error}") from error
        except (RecursionError, re.error) as error:
            raise FormError(f"the schema cannot be followed: {error}") from error
        shown = [f"{error.json_path}: {_cut(error.message)}" for error in errors[:_SHOWN]]
        return [*shown, f"and {len(errors) - _SHOWN} more"] if len(errors) > _SHOWN else shown


def end_in_form(form: AnswerForm, text: str) -> RunEnd:
    """Return the end of a run with this answer: completed with its value, or failed with why it does not fit."""
    try:
        return RunEnd("completed", output=form.read(text))
    except FormError as error:
        return RunEnd("failed", RunError("output-schema", f"the answer does not fit the schema: {error}"))


def load_form(path: Path) -> AnswerForm:
    """Read a schema. Raises ``UsageError`` with the place of what is wrong. Nothing is ever fetched for a ``$ref``."""
    try:
        data = read_regular(path, max_bytes=SCHEMA_BYTES)
        schema: Any = json.loads(data.decode("utf-8-sig"))
    except HarnessError as error:
        raise UsageError(f"the schema cannot be read: {error.what}", where=str(path)) from error
    except json.JSONDecodeError as error:
        raise UsageError(f"the schema is not JSON: {error.msg}", where=f"{path}:{error.lineno}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the schema is not JSON: {error}", where=str(path)) from error
    return AnswerForm(cast(dict[str, Any], schema), _validator(schema, path))


def _validator(schema: Any, path: Path) -> Any:
    from jsonschema import Draft202012Validator, SchemaError
    from jsonschema.validators import validator_for
    from referencing import Registry
    from referencing.jsonschema import SchemaRegistry

    if not isinstance(schema, dict):
        raise UsageError("the schema is not an object", where=str(path))
    given = cast(Any, schema)
    kind: Any = validator_for(given, default=Draft202012Validator)
    try:
        kind.check_schema(given)
    except SchemaError as error:
        raise UsageError(
            f"this is no JSON Schema: {error.json_path}: {_cut(error.message)}", where=str(path)
        ) from error
    except RecursionError as error:
        raise UsageError("the schema is nested too deeply", where=str(path)) from error
    # An empty registry of our own: the default one would fetch what a ``$ref`` names.
    registry: SchemaRegistry = Registry()
    return kind(given, registry=registry, format_checker=kind.FORMAT_CHECKER)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _cut(text: str) -> str:
    return text if len(text) <= _PROBLEM_CHARS else text[: _PROBLEM_CHARS - 1] + "…"
