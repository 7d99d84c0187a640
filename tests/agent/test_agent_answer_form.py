"""An answer of a given form: read from what the model said, or refused with the place of what does not fit."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from harness_tui.agent import answer_form
from harness_tui.agent.answer_form import AnswerForm, FormError, end_in_form, load_form
from harness_tui.children.registry import ChildRegistry
from harness_tui.core.errors import UsageError

PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "ages": {"type": "array", "items": {"type": "integer"}}},
    "required": ["name"],
    "additionalProperties": False,
}


def form_of(tmp_path: Path, schema: Any) -> AnswerForm:
    path = tmp_path / "schema.json"
    path.write_text(schema if isinstance(schema, str) else json.dumps(schema))
    return load_form(path)


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "x"}',
        ' \n{"name": "x"}\n',
        '```json\n{"name": "x"}\n```',
        '```\n{"name": "x"}\n```\n',
    ],
)
def test_a_value_is_read_with_or_without_a_fence_around_it(tmp_path: Path, text: str) -> None:
    assert form_of(tmp_path, PERSON).read(text) == {"name": "x"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "it is empty"),
        ("Here it is: {}", "it is not JSON"),
        ('{"name": NaN}', "NaN is not JSON"),
        ("{}", "$: 'name' is a required property"),
        ('{"name": 3}', "$.name: 3 is not of type 'string'"),
        ('{"name": "x", "ages": [1, "2"]}', "$.ages[1]: '2' is not of type 'integer'"),
        ("[" * 100_000, "it is not JSON"),
    ],
)
def test_what_does_not_fit_says_where_and_why(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(FormError) as raised:
        form_of(tmp_path, PERSON).read(text)
    assert told in str(raised.value)


def test_many_faults_are_told_in_part(tmp_path: Path) -> None:
    with pytest.raises(FormError) as raised:
        form_of(tmp_path, {"items": {"type": "integer"}}).read(json.dumps(["x" * 1000] * 9))
    assert str(raised.value).endswith("; and 4 more")
    assert len(str(raised.value)) < 2000


@pytest.fixture
async def children(tmp_path: Path) -> AsyncIterator[ChildRegistry]:
    made = ChildRegistry(tmp_path / "state")
    yield made
    await made.close()


async def test_an_end_is_completed_with_the_value_or_failed_with_the_reason(
    tmp_path: Path, children: ChildRegistry
) -> None:
    form = form_of(tmp_path, {"type": ["null", "integer"]})
    assert (await end_in_form(form, "7", children, tmp_path)).output == 7
    end = await end_in_form(form, "null", children, tmp_path)
    assert (end.reason, end.output) == ("completed", None)
    failed = await end_in_form(form, '"x"', children, tmp_path)
    assert failed.error is not None
    assert (failed.reason, failed.error.kind) == ("failed", "output-schema")


async def test_a_pattern_that_never_ends_fails_the_answer_and_holds_nothing_up(
    tmp_path: Path, children: ChildRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = form_of(tmp_path, {"patternProperties": {"^id": {"pattern": "^(a+)+$"}}})
    assert (await end_in_form(form, '{"id": "aa"}', children, tmp_path)).output == {"id": "aa"}
    wrong = await end_in_form(form, '{"id": "b"}', children, tmp_path)
    assert wrong.error is not None
    assert wrong.error.message.endswith("$.id: 'b' does not match '^(a+)+$'")
    monkeypatch.setattr(answer_form, "CHECK_S", 0.5)
    endless = json.dumps({"id": "a" * 60 + "!"})
    ended = await end_in_form(form, endless, children, tmp_path)
    assert ended.error is not None
    assert "a pattern tries too many ways" in ended.error.message
    assert not children.list()


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ("{", "schema.json:1: the schema is not JSON"),
        ("[]", "the schema is not an object"),
        ({"type": "strin"}, "this is no JSON Schema"),
        ({"properties": []}, "$.properties"),
        ('{"a": ' * 5000, "not JSON"),
    ],
)
def test_a_schema_that_is_none_is_refused_with_its_place(tmp_path: Path, schema: Any, told: str) -> None:
    with pytest.raises(UsageError) as raised:
        form_of(tmp_path, schema)
    assert told in str(raised.value)


def test_a_missing_schema_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_form(tmp_path / "none.json")


def test_nothing_is_fetched_for_a_reference(tmp_path: Path) -> None:
    form = form_of(tmp_path, {"$ref": "http://127.0.0.1:9/schema.json"})
    with pytest.raises(FormError, match="refers to what is not in it"):
        form.read("1")


def test_a_schema_that_refers_to_itself_for_ever_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(FormError, match="cannot be followed"):
        form_of(tmp_path, {"$ref": "#"}).read("1")
