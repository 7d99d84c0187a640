"""The form that a run's answer must have (``run --output-schema``): a JSON Schema, how it is asked for and checked.

The schema is put to the model in words, and to providers that know schemas in their own way once no tool is offered any
more. An answer that does not fit is sent back with the reason, twice at most.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sys
from pathlib import Path
from typing import Any, Final, cast

from harness_tui.agent.form_program import cut, problems_of, validator_of
from harness_tui.agent.run_end import RunEnd
from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.event_parts import RunError
from harness_tui.core.late_pattern import late_pattern
from harness_tui.core.limits import MIB
from harness_tui.core.paths import read_regular
from harness_tui.core.record import record
from harness_tui.core.seams import Child, ProcessSpawner

ROUNDS: Final = 2
"""How often an answer that does not fit is sent back."""

SCHEMA_BYTES: Final = MIB
CHECK_S: Final = 10.0
"""How long the patterns of a schema may be tried."""

PROGRAM: Final = Path(__file__).with_name("form_program.py")
_PATTERN_WORDS: Final = frozenset({"pattern", "patternProperties"})
_FENCED: Final = late_pattern(r"```[A-Za-z0-9_-]*[ \t]*\n(.*)\n[ \t]*```", re.DOTALL)


class FormError(Exception):
    """An answer that does not fit; the text says where and why."""


@record
class AnswerForm:
    """A checked schema. Make one with :func:`load_form`."""

    schema: dict[str, Any]
    validator: Any
    has_patterns: bool = False

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
        """Return the checked value of an answer. Raises ``FormError``. May take long: call it in a thread."""
        value = self.parse(text)
        problems = problems_of(self.validator, value)
        if problems:
            raise FormError("; ".join(problems))
        return value

    def parse(self, text: str) -> Any:
        """Return the JSON value of an answer, unchecked. Raises ``FormError``.

        A code fence around the whole answer is taken off.
        """
        text = text.strip()
        fenced = _FENCED.fullmatch(text)
        try:
            return json.loads(fenced[1] if fenced else text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise FormError(f"it is not JSON: {error}" if text else "it is empty") from error


async def end_in_form(form: AnswerForm, text: str, spawner: ProcessSpawner, folder: Path) -> RunEnd:
    """Return the end of a run with this answer: completed with its value, or failed with why it does not fit."""
    try:
        if form.has_patterns:
            value = await _read_in_child(form, text, spawner, folder)
        else:
            value = await asyncio.to_thread(form.read, text)
    except FormError as error:
        return RunEnd("failed", RunError("output-schema", f"the answer does not fit the schema: {error}"))
    return RunEnd("completed", output=value)


async def _read_in_child(form: AnswerForm, text: str, spawner: ProcessSpawner, folder: Path) -> Any:
    """Check in a process of its own: matching a pattern may take for ever, and nothing else runs meanwhile."""
    value = await asyncio.to_thread(form.parse, text)
    try:
        data = json.dumps({"schema": form.schema, "value": value}).encode("ascii")
        child = await spawner.spawn(
            [sys.executable, "-I", str(PROGRAM)], owner="output-schema", cwd=folder, stdin="pipe"
        )
    except RecursionError as error:
        raise FormError("it is nested too deeply") from error
    except HarnessError as error:
        raise FormError(f"it could not be checked: {error.what}") from error
    try:
        async with asyncio.timeout(CHECK_S):
            out = await _exchange(child, data)
            await child.wait()
    except TimeoutError as error:
        raise FormError(f"it could not be checked within {CHECK_S:.0f} s: a pattern tries too many ways") from error
    finally:
        await asyncio.shield(child.stop())
    try:
        problems = [str(problem) for problem in json.loads(out)["problems"]]
    except (ValueError, KeyError, TypeError) as error:
        raise FormError(f"it could not be checked: {child.stderr_tail() or 'the check said nothing'}") from error
    if problems:
        raise FormError("; ".join(problems))
    return value


async def _exchange(child: Child, data: bytes) -> bytes:
    assert child.stdin is not None
    assert child.stdout is not None
    with contextlib.suppress(OSError):
        child.stdin.write(data)
        await child.stdin.drain()
    child.stdin.close()
    return await child.stdout.read()


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
    validator = _validator(schema, path)
    return AnswerForm(cast(dict[str, Any], schema), validator, _has_patterns(schema))


def _validator(schema: Any, path: Path) -> Any:
    from jsonschema import SchemaError

    if not isinstance(schema, dict):
        raise UsageError("the schema is not an object", where=str(path))
    try:
        return validator_of(cast(dict[str, Any], schema))
    except SchemaError as error:
        raise UsageError(f"this is no JSON Schema: {error.json_path}: {cut(error.message)}", where=str(path)) from error
    except RecursionError as error:
        raise UsageError("the schema is nested too deeply", where=str(path)) from error


def _has_patterns(schema: Any) -> bool:
    """Tell whether something in ``schema`` may be a pattern."""
    left = [schema]
    while left:
        match left.pop():
            case dict() as items:
                if _PATTERN_WORDS & items.keys():
                    return True
                left += items.values()
            case list() as items:
                left += items
            case _:
                pass
    return False


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
