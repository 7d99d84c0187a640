"""Every event and intent survives the wire, and what does not fit is named by its path."""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, Union

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness_tui.core.codec import CodecError, decode, encode, fields_of
from harness_tui.core.envelope import Envelope, envelope_from_json
from harness_tui.core.events import EVENTS, Event, RedoApplied, UndoApplied
from harness_tui.core.intents import INTENTS, Intent, intent_from_json, intent_to_json
from harness_tui.core.messages import AssistantMessage, Attachment, UserMessage

TEXT = st.text(max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT,
    int: st.integers(0, 10_000),
    float: st.floats(0, 1e6),
    bool: st.booleans(),
    types.NoneType: st.none(),
    Any: JSON,
}


def strategy(annotation: Any) -> st.SearchStrategy[Any]:
    """Return values of ``annotation``, made from the same annotations that the codec reads."""
    if annotation in SCALARS:
        return SCALARS[annotation]
    if dataclasses.is_dataclass(annotation):
        return record(annotation)
    arguments = typing.get_args(annotation)
    match typing.get_origin(annotation):
        case origin if origin is Literal:
            return st.sampled_from(arguments)
        case origin if origin is tuple:
            return st.lists(strategy(arguments[0]), max_size=2).map(tuple)
        case origin if origin in (dict, Mapping):
            return st.dictionaries(TEXT, strategy(arguments[1]), max_size=2)
        case origin if origin in (Union, types.UnionType):
            return st.one_of([strategy(argument) for argument in arguments])
        case _:
            raise AssertionError(f"no strategy for {annotation!r}")


def record(cls: Any) -> st.SearchStrategy[Any]:
    return st.builds(cls, **{field.name: strategy(field.annotation) for field in fields_of(cls)})


def wire(data: Any) -> Any:
    return json.loads(json.dumps(data))


def shown(value: Any) -> Any:
    """Return ``value`` as a front end gets it: without the fields it is not sent."""
    return decode(type(value), encode(value))


@pytest.mark.parametrize("name", sorted(EVENTS))
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_every_event_survives_the_wire_in_its_envelope(name: str, data: st.DataObject) -> None:
    event: Event = data.draw(record(EVENTS[name]))
    run = data.draw(st.none() | TEXT)
    if isinstance(event, UndoApplied | RedoApplied):
        run = event.run  # on the wire one field says both
    first = data.draw(st.none() | st.integers(1, 9))
    sent = Envelope(9, "2026-01-02T03:04:05.006Z", "ses_1", event, run, first)
    got = envelope_from_json(wire(sent.to_json()))
    assert got == dataclasses.replace(sent, event=shown(event))
    stored = decode(type(event), wire(encode(event, with_private=True)))
    assert stored == event


@pytest.mark.parametrize("name", sorted(INTENTS))
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_every_intent_survives_the_wire(name: str, data: st.DataObject) -> None:
    intent: Intent = data.draw(record(INTENTS[name]))
    assert intent_from_json(wire(intent_to_json(intent))) == intent


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_an_event_is_frozen_has_no_dict_and_carries_its_type(name: str) -> None:
    cls = EVENTS[name]
    assert cls.type == name
    assert "__dict__" not in dir(cls)
    assert cls.__dataclass_params__.frozen  # pyright: ignore[reportAttributeAccessIssue]


def test_the_registries_hold_the_whole_contract() -> None:
    assert sorted(EVENTS) == [
        "context_compacted",
        "context_reported",
        "diagnostics_reported",
        "file_changed",
        "message_added",
        "model_retried",
        "notice",
        "permission_requested",
        "permission_resolved",
        "question_answered",
        "question_asked",
        "queue_changed",
        "reasoning_delta",
        "reasoning_finished",
        "redo_applied",
        "run_finished",
        "run_started",
        "server_changed",
        "session_changed",
        "session_started",
        "step_finished",
        "text_delta",
        "text_finished",
        "todo_updated",
        "tool_finished",
        "tool_progress",
        "tool_started",
        "undo_applied",
        "usage_updated",
    ]
    assert sorted(INTENTS) == [
        "answer",
        "call",
        "cancel",
        "compact",
        "context",
        "edit_queue",
        "hand_over",
        "redo",
        "set",
        "shell",
        "submit",
        "undo",
    ]


def test_an_envelope_is_one_flat_object_without_empty_fields() -> None:
    line = {"type": "notice", "seq": 3, "time": "t", "session": "s", "level": "info", "source": "a", "text": "b"}
    got = envelope_from_json(line)
    assert got is not None
    assert got.to_json() == line


def test_an_unknown_type_is_none_and_an_unknown_field_is_ignored() -> None:
    head = {"seq": 1, "time": "t", "session": "s"}
    assert envelope_from_json({"type": "of_tomorrow", **head}) is None
    got = envelope_from_json({"type": "text_delta", "text": "a", "mood": "good", **head})
    assert got is not None
    assert got.to_json() == {"type": "text_delta", "text": "a", **head}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({}, "event: type is missing"),
        ({"type": 3}, "event: type is missing"),
        ({"type": "text_delta", "time": "t", "session": "s", "text": "a"}, "text_delta: seq is missing"),
        (
            {"type": "text_delta", "seq": "1", "time": "t", "session": "s", "text": "a"},
            "text_delta.seq: expected integer",
        ),
        (
            {"type": "text_delta", "seq": True, "time": "t", "session": "s", "text": "a"},
            "text_delta.seq: expected integer",
        ),
        ({"type": "text_delta", "seq": 1, "time": "t", "session": "s"}, "text_delta: text is missing"),
        (
            {
                "type": "todo_updated",
                "seq": 1,
                "time": "t",
                "session": "s",
                "items": [{"id": "1", "text": "a", "state": "x"}],
            },
            "todo_updated.items[0].state: expected one of 'pending', 'active', 'done', got 'x'",
        ),
        (
            {"type": "todo_updated", "seq": 1, "time": "t", "session": "s", "items": {}},
            "todo_updated.items: expected a list, got object",
        ),
        (
            {"type": "run_finished", "seq": 1, "time": "t", "session": "s", "reason": "failed", "error": {"kind": "a"}},
            "run_finished.error: message is missing",
        ),
    ],
)
def test_what_does_not_fit_is_named_by_its_path(line: dict[str, Any], message: str) -> None:
    with pytest.raises(CodecError) as caught:
        envelope_from_json(line)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("submit", "intent: an intent is a JSON object"),
        ({"intent": "stop"}, "intent: unknown intent 'stop', known are answer, call,"),
        ({"intent": ["submit"]}, "intent: unknown intent"),
        ({"intent": "submit"}, "submit: text is missing"),
        ({"intent": "answer", "request": "r", "action": "yes"}, "answer.action: expected one of"),
        ({"intent": "answer", "request": "r", "action": "allow", "parts": ["0"]}, "answer.parts[0]: expected integer"),
    ],
)
def test_an_intent_that_does_not_fit_is_named_by_its_path(line: Any, message: str) -> None:
    with pytest.raises(CodecError) as caught:
        intent_from_json(line)
    assert str(caught.value).startswith(message)


def test_private_fields_are_stored_and_not_shown() -> None:
    message = UserMessage("a", (Attachment("text", "text/plain", 1, content="x"),))
    assert encode(message)["attachments"] == [{"kind": "text", "mime": "text/plain", "bytes": 1}]
    assert encode(message, with_private=True)["attachments"][0]["content"] == "x"
    assert "opaque" not in encode(AssistantMessage(opaque={"provider": "p"}))


def test_a_null_counts_as_absent() -> None:
    assert decode(AssistantMessage, {"text": "a", "cut": None}) == AssistantMessage("a")


def test_a_whole_number_is_a_number_and_a_truth_value_is_none() -> None:
    retried = EVENTS["model_retried"]
    fields = {"kind": "a", "message": "b", "attempt": 1}
    assert decode(retried, {**fields, "wait_s": 2}).wait_s == 2.0  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(CodecError, match="wait_s: expected number, got boolean"):
        decode(retried, {**fields, "wait_s": True})
