"""Repair of results: bad parts are mended or left out with their reason, good ones are untouched."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_types.methods import validate_server_result

from harness_tui.mcp.repair import Repairs

LEGACY, MODERN = "2025-11-25", "2026-07-28"


def repairs(protocol: str = LEGACY) -> Repairs:
    made = Repairs(validate_server_result)
    made.protocol = protocol
    return made


def listed(*tools: Any, protocol: str = LEGACY) -> tuple[dict[str, Any], Repairs]:
    made = repairs(protocol)
    result: dict[str, Any] = {"tools": list(tools)}
    made.mend("tools/list", result)
    validate_server_result("tools/list", protocol, result)
    return result, made


@pytest.mark.parametrize("protocol", [LEGACY, MODERN])
def test_a_good_tool_passes_untouched(protocol: str) -> None:
    tool = {"name": "a", "description": "A", "inputSchema": {"type": "object", "$defs": {"x": {"oneOf": []}}}}
    result, made = listed(dict(tool), protocol=protocol)
    assert result["tools"] == [tool]
    assert made.quarantined == {}


def test_an_empty_schema_becomes_that_of_an_object() -> None:
    result, made = listed({"name": "a", "inputSchema": {}})
    assert result["tools"] == [{"name": "a", "inputSchema": {"type": "object"}}]
    assert made.quarantined == {}


@pytest.mark.parametrize(
    ("tool", "reason"),
    [
        ({"name": "a"}, "its inputSchema must be an object, there is none"),
        ({"name": "a", "inputSchema": "object"}, "its inputSchema must be an object, there is str"),
        ({"name": "a", "inputSchema": {"type": "array"}}, "its inputSchema is of type 'array', not object"),
    ],
)
def test_a_bad_tool_is_left_out_with_its_reason_and_its_neighbour_stays(tool: dict[str, Any], reason: str) -> None:
    good = {"name": "good", "inputSchema": {"type": "object"}}
    result, made = listed(tool, good)
    assert result["tools"] == [good]
    assert made.quarantined == {"a": reason}


def test_what_is_no_tool_at_all_is_named_by_its_place() -> None:
    _, made = listed("text", {"inputSchema": {"type": "object"}})
    assert made.quarantined == {"tool 1": "is not an object", "tool 2": "has no name"}


def test_a_tool_that_the_protocol_refuses_is_left_out_with_the_place_of_the_fault() -> None:
    _, made = listed({"name": "a", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": "perhaps"}})
    assert made.quarantined["a"].startswith("tools.0.annotations.readOnlyHint: ")


def test_an_output_schema_is_withheld_and_remembered() -> None:
    result, made = listed({"name": "a", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object"}})
    assert "outputSchema" not in result["tools"][0]
    assert made.structured == {"a"}


def test_a_modern_answer_without_its_cache_fields_gets_them() -> None:
    result, _ = listed({"name": "a", "inputSchema": {"type": "object"}}, protocol=MODERN)
    assert (result["resultType"], result["ttlMs"], result["cacheScope"]) == ("complete", 0, "private")


def called(result: dict[str, Any], protocol: str = LEGACY) -> dict[str, Any]:
    repairs(protocol).mend("tools/call", result)
    validate_server_result("tools/call", protocol, result)
    return result


@pytest.mark.parametrize("protocol", [LEGACY, MODERN])
def test_a_block_of_an_unknown_kind_becomes_text_beside_the_readable_one(protocol: str) -> None:
    content = called({"content": [{"type": "text", "text": "fine"}, {"type": "hologram", "x": 1}]}, protocol)["content"]
    assert content == [
        {"type": "text", "text": "fine"},
        {"type": "text", "text": '[content of unknown form: {"type": "hologram", "x": 1}]'},
    ]


def test_a_block_with_wrong_annotations_loses_only_these() -> None:
    block = {"type": "text", "text": "fine", "annotations": {"priority": 7}}
    assert called({"content": [block]})["content"] == [{"type": "text", "text": "fine"}]


def test_missing_content_is_no_content() -> None:
    assert called({})["content"] == []


def test_structured_content_that_the_revision_does_not_allow_is_kept_as_text_when_there_is_no_other() -> None:
    result = called({"content": [], "structuredContent": [1, 2]})
    assert result["content"] == [{"type": "text", "text": "[1, 2]"}]
    assert "structuredContent" not in result


def test_a_request_for_input_is_not_taken_for_an_answer() -> None:
    result: dict[str, Any] = {"resultType": "input_required", "inputRequests": {}}
    repairs(MODERN).mend("tools/call", result)
    assert "content" not in result


def test_without_repair_everything_passes_as_it_came() -> None:
    made = Repairs(validate_server_result, enabled=False)
    made.protocol = MODERN
    result: dict[str, Any] = {"tools": [{"name": "a", "inputSchema": {}, "outputSchema": {"type": "object"}}, 7]}
    before = repr(result)
    made.mend("tools/list", result)
    assert (repr(result), made.quarantined, made.passed, made.structured) == (before, {}, [], {"a"})
    called = {"content": "bare"}
    made.mend("tools/call", called)
    assert called == {"content": "bare"}
