"""The schema says exactly what the code writes and takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from harness_tui.contract.schema import DIALECT, protocol_schema, to_text
from harness_tui.core.envelope import envelope_from_json
from harness_tui.core.events import EVENTS
from harness_tui.core.intents import INTENTS, intent_from_json, intent_to_json

FIXTURES = Path(__file__).parents[2] / "protocol" / "fixtures"
SCHEMA = protocol_schema()
DEFS: dict[str, Any] = SCHEMA["$defs"]
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FIXTURES / name).read_text().splitlines()]


VALID = lines("valid.jsonl")
INVALID = lines("invalid.jsonl")


def test_the_schema_is_a_schema_of_its_dialect() -> None:
    assert SCHEMA["$schema"] == DIALECT
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_every_reference_leads_to_a_definition_and_every_definition_is_referred_to() -> None:
    text = to_text(SCHEMA)
    used = {part.split('"')[0] for part in text.split("#/$defs/")[1:]}
    assert used == set(DEFS)


def test_every_event_and_intent_is_one_of_the_alternatives() -> None:
    def constants(union: str, key: str) -> list[str]:
        names = [alternative["$ref"].rpartition("/")[2] for alternative in DEFS[union]["oneOf"]]
        return [DEFS[name]["properties"][key]["const"] for name in names]

    assert constants("Event", "type") == sorted(EVENTS)
    assert constants("Intent", "intent") == sorted(INTENTS)


def test_one_definition_read_by_hand() -> None:
    assert DEFS["ToolProgress"] == {
        "type": "object",
        "description": "A running call reports.",
        "properties": {
            "type": {"const": "tool_progress"},
            "seq": {
                "type": "integer",
                "minimum": 1,
                "description": "Grows by one per session; of a merged delta, the last.",
            },
            "time": {"type": "string", "format": "date-time", "description": "RFC 3339, UTC."},
            "session": {"type": "string"},
            "run": {"type": "string"},
            "call": {"type": "string"},
            "progress": {"type": "number"},
            "total": {"type": "number"},
            "message": {"type": "string"},
            "output_delta": {"type": "string"},
        },
        "required": ["call", "seq", "session", "time", "type"],
        "additionalProperties": False,
    }


def test_only_deltas_have_a_first_seq() -> None:
    assert sorted(name for name, definition in DEFS.items() if "first_seq" in definition.get("properties", {})) == [
        "ReasoningDelta",
        "TextDelta",
    ]


def test_the_content_of_attachments_is_taken_and_not_shown() -> None:
    assert "content" not in DEFS["Attachment"]["properties"]
    assert "content" in DEFS["AttachmentWithContent"]["properties"]
    assert DEFS["Submit"]["properties"]["attachments"]["items"] == {"$ref": "#/$defs/AttachmentWithContent"}
    assert "opaque" not in DEFS["AssistantMessage"]["properties"]


def test_the_file_is_the_same_every_time() -> None:
    assert to_text(protocol_schema()) == to_text(SCHEMA)
    assert to_text(SCHEMA).endswith("}\n")


def test_the_valid_lines_show_every_type() -> None:
    assert {line["type"] for line in VALID if "type" in line} == set(EVENTS)
    assert {line["intent"] for line in VALID if "intent" in line} == set(INTENTS)


@pytest.mark.parametrize("line", VALID, ids=lambda line: line.get("type") or line["intent"])
def test_a_valid_line_fits_the_schema_and_survives_the_code(line: dict[str, Any]) -> None:
    VALIDATOR.validate(line)
    if "type" in line:
        envelope = envelope_from_json(line)
        assert envelope is not None
        written = envelope.to_json()
    else:
        written = intent_to_json(intent_from_json(line))
    assert line.items() <= written.items()
    VALIDATOR.validate(written)


@pytest.mark.parametrize("case", INVALID, ids=lambda case: case["why"])
def test_an_invalid_line_is_refused(case: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid(case["line"])


@pytest.mark.parametrize("line", VALID, ids=lambda line: line.get("type") or line["intent"])
def test_a_field_of_another_record_is_refused(line: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid({**line, "of_another": 1})
