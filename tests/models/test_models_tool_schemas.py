"""Tools on their way to a provider, and calls on their way back.

``server_schemas.json`` holds what real servers list (their names and versions are its keys), without descriptions.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from harness_tui.core.messages import ToolCall
from harness_tui.core.values import ToolSpec
from harness_tui.models.schema_rules import TABLES
from harness_tui.models.schema_walk import each_schema, target
from harness_tui.models.tool_schemas import AdaptedTool, ToolAdapter, adapt, wire_call

Schema = dict[str, Any]
SERVERS: dict[str, dict[str, Schema]] = json.loads(Path(__file__).with_name("server_schemas.json").read_text())
PROVIDERS = sorted(TABLES)
TOOLS = [(server, tool) for server, tools in SERVERS.items() for tool in tools]


def adapted(schema: Any, provider: str, name: str = "tool") -> AdaptedTool:
    return adapt(ToolSpec(name, "does it", schema), TABLES[provider])


# --- what a provider takes, said a second time -----------------------------------------------------------------------


@cache
def openai_types() -> tuple[TypeAdapter[Any], TypeAdapter[Any]]:
    from openai.types.chat import ChatCompletionToolParam
    from openai.types.responses import FunctionToolParam

    return TypeAdapter(FunctionToolParam), TypeAdapter(ChatCompletionToolParam)


@cache
def anthropic_type() -> TypeAdapter[Any]:
    from anthropic.types import ToolParam

    return TypeAdapter(ToolParam)


def check_openai(tool: AdaptedTool) -> None:
    responses, chat = openai_types()
    function = {"name": tool.name, "description": "does it", "parameters": tool.parameters}
    responses.validate_python({"type": "function", "strict": False, **function})
    chat.validate_python({"type": "function", "function": function})
    check_object(tool)
    for node in each_schema(tool.parameters):
        if node.get("type") == "array":
            assert "items" in node or "prefixItems" in node


def check_anthropic(tool: AdaptedTool) -> None:
    anthropic_type().validate_python({"name": tool.name, "description": "does it", "input_schema": tool.parameters})
    check_object(tool)
    for node in each_schema(tool.parameters):
        for name in node.get("properties", {}):
            assert re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name)


def check_google(tool: AdaptedTool) -> None:
    from google.genai.types import FunctionDeclaration, JSONSchema

    FunctionDeclaration(name=tool.name, description="does it", parameters_json_schema=tool.parameters)
    JSONSchema.model_validate(tool.parameters)  # refuses every keyword that it does not know
    assert re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}", tool.name)
    check_object(tool)


def check_object(tool: AdaptedTool) -> None:
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool.name)
    assert tool.parameters["type"] == "object"
    assert isinstance(tool.parameters["properties"], dict)
    assert not {"anyOf", "oneOf", "allOf", "enum", "not", "$ref"} & set(tool.parameters)
    assert not any("$schema" in node for node in each_schema(tool.parameters))
    Draft202012Validator.check_schema(tool.parameters)


CHECKS = {"openai": check_openai, "anthropic": check_anthropic, "google": check_google}


def facts(schema: Schema) -> set[tuple[str, str]]:
    """Every parameter by its path, with its types, its enum values and whether it is required; pointers followed."""
    found: set[tuple[str, str]] = set()

    def look(node: Any, path: str, within: tuple[str, ...]) -> None:
        if not isinstance(node, dict) or len(within) > 40:
            return
        if isinstance(pointer := node.get("$ref"), str) and pointer not in within:
            look(target(schema, pointer), path, (*within, pointer))
        kinds = node.get("type", [])
        found.update((path, f"type {kind}") for kind in ([kinds] if isinstance(kinds, str) else kinds))
        found.update((path, f"value {json.dumps(value)}") for value in node.get("enum", ()))
        if "const" in node:
            found.add((path, f"value {json.dumps(node['const'])}"))
        found.update((f"{path}.{name}", "required") for name in node.get("required", ()))
        for name, item in node.get("properties", {}).items():
            found.add((f"{path}.{name}", "there"))
            look(item, f"{path}.{name}", within)
        for key in ("anyOf", "oneOf", "allOf"):
            for item in node.get(key, ()):
                look(item, path, within)
        look(node.get("items"), f"{path}[]", within)

    look(schema, "", ())
    return found


# --- real servers ----------------------------------------------------------------------------------------------------


def test_there_are_tools_of_at_least_ten_servers() -> None:
    assert len(SERVERS) == 12
    assert len(TOOLS) == 134


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_tools_of_real_servers_fit_and_keep_every_parameter_type_enum_and_required_name(provider: str) -> None:
    for server, name in TOOLS:
        schema = SERVERS[server][name]
        tool = adapted(schema, provider, name)
        CHECKS[provider](tool)
        missing = facts(schema) - facts(tool.parameters)
        assert not missing, (server, name, sorted(missing)[:5])
        assert (tool.name, tool.wrapper, dict(tool.keys)) == (name, None, {})


def test_only_the_dialect_is_taken_from_what_anthropic_and_openai_get_of_real_servers() -> None:
    git = SERVERS["PyPI mcp-server-git 2026.10.19"]["git_diff"]
    assert adapted(git, "anthropic").parameters == git
    memory = SERVERS["npm @modelcontextprotocol/server-memory 2026.8.31"]["create_entities"]
    assert adapted(memory, "openai").parameters == {key: memory[key] for key in memory if key != "$schema"}


# --- rules, one by one -----------------------------------------------------------------------------------------------


def test_each_rule_names_its_source() -> None:
    for table in TABLES.values():
        sources = [rule.source for rule in table.rules] + [table.source, table.name_source, table.top_level_source]
        assert all(sources), table.provider
        assert bool(table.key) == bool(table.key_source)
        assert bool(table.keywords) == bool(table.keywords_source)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "schema",
    [{}, None, [], {"type": "object"}, {"type": None}, {"properties": []}, {"type": "object", "properties": None}],
)
def test_a_schema_that_says_nothing_is_an_object_without_parameters(provider: str, schema: Any) -> None:
    assert adapted(schema, provider).parameters == {"type": "object", "properties": {}}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_choice_at_the_top_stands_in_one_parameter_and_comes_back_without_it(provider: str) -> None:
    schema = {
        "oneOf": [
            {"type": "object", "properties": {"path": {"$ref": "#/$defs/path"}}, "required": ["path"]},
            {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]},
        ],
        "$defs": {"path": {"type": "string", "minLength": 1}},
    }
    tool = adapted(schema, provider)
    CHECKS[provider](tool)
    assert tool.wrapper == "arguments"
    assert tool.parameters["required"] == ["arguments"]
    assert tool.outgoing({"url": "x"}) == {"arguments": {"url": "x"}}
    assert tool.incoming({"arguments": {"url": "x"}}) == {"url": "x"}
    assert tool.incoming({"url": "x"}) == {"url": "x"}
    validator = Draft202012Validator(tool.parameters)
    assert validator.is_valid({"arguments": {"path": "a"}})
    assert not validator.is_valid({"arguments": {"path": ""}})


def test_a_parameter_that_is_called_like_the_wrapper_is_no_wrapper() -> None:
    schema = {"anyOf": [{"type": "object", "properties": {"arguments": {"type": "object"}}}]}
    tool = adapted(schema, "openai")
    assert tool.wrapper == "arguments_"
    assert tool.incoming(tool.outgoing({"arguments": {"a": 1}})) == {"arguments": {"a": 1}}


def test_pointers_to_the_whole_lead_to_where_it_stands() -> None:
    schema = {
        "anyOf": [
            {"type": "object", "properties": {"child": {"$ref": "#"}}},
            {"type": "object", "properties": {"other": {"$ref": "#/anyOf/0"}}},
        ]
    }
    tool = adapted(schema, "anthropic")
    first, second = tool.parameters["properties"]["arguments"]["anyOf"]
    assert first["properties"]["child"] == {"$ref": "#/properties/arguments"}
    assert second["properties"]["other"] == {"$ref": "#/properties/arguments/anyOf/0"}


def test_a_pointer_at_the_top_becomes_what_it_means() -> None:
    schema = {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object", "properties": {"x": {"type": "integer"}}}}}
    tool = adapted(schema, "openai")
    assert (tool.parameters["properties"], tool.wrapper) == ({"x": {"type": "integer"}}, None)


def test_older_drafts_are_written_as_the_present_one() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-03/schema#",
        "properties": {
            "n": {"type": "integer", "minimum": 1, "exclusiveMinimum": True, "required": True},
            "pair": {"type": "array", "items": [{"type": "string"}, {"type": "int"}], "additionalItems": False},
            "any": {"type": "any", "description": None},
            "list": {"type": "array"},
        },
    }
    assert adapted(schema, "openai").parameters == {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "exclusiveMinimum": 1},
            "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
            "any": {},
            "list": {"type": "array", "items": {}},
        },
        "required": ["n"],
    }


def test_parameters_whose_names_anthropic_refuses_are_renamed_and_named_back() -> None:
    schema = {
        "type": "object",
        "properties": {
            "$filter": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "object", "properties": {"a b": {"type": "integer"}}}},
            "x" * 65: {"type": "string"},
        },
        "required": ["$filter"],
    }
    tool = adapted(schema, "anthropic")
    check_anthropic(tool)
    (name,) = tool.parameters["required"]
    assert name.startswith("_filter_")
    arguments = {"$filter": "x", "tags": [{"a b": 1}], "x" * 65: "y", "other": 2}
    sent = tool.outgoing(arguments)
    assert sent[name] == "x"
    assert Draft202012Validator(tool.parameters).is_valid(sent)
    assert tool.incoming(sent) == arguments
    assert dict(adapted(schema, "openai").keys) == {}


def test_google_gets_definitions_in_place_and_keywords_that_it_knows() -> None:
    schema = {
        "type": "object",
        "properties": {
            "kind": {"const": "page"},
            "size": {"type": "integer", "exclusiveMinimum": 0, "description": "how large"},
            "rate": {"type": "number", "exclusiveMaximum": 1},
            "link": {"type": "string", "format": "uri"},
            "who": {"$ref": "#/definitions/who", "description": "the owner"},
            "note": {"type": "string", "nullable": True, "enum": ["a"]},
            "map": {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}},
        },
        "definitions": {"who": {"oneOf": [{"type": "string"}, {"type": "integer"}]}},
    }
    tool = adapted(schema, "google")
    check_google(tool)
    assert tool.parameters["properties"] == {
        "kind": {"enum": ["page"], "type": "string"},
        "size": {"type": "integer", "description": "how large", "minimum": 1},
        "rate": {"type": "number", "description": "(exclusiveMaximum: 1)"},
        "link": {"type": "string", "description": "(format: uri)"},
        "who": {"anyOf": [{"type": "string"}, {"type": "integer"}], "description": "the owner"},
        "note": {"type": ["string", "null"], "enum": ["a", None]},
        "map": {"type": "object", "description": '(propertyNames: {"pattern": "^[a-z]+$"})'},
    }
    assert "$defs" not in tool.parameters


def test_google_keeps_pointers_where_definitions_have_no_end() -> None:
    schema = {
        "type": "object",
        "properties": {"node": {"$ref": "#/definitions/node"}},
        "definitions": {"node": {"type": "object", "properties": {"next": {"$ref": "#/definitions/node"}}}},
    }
    tool = adapted(schema, "google")
    check_google(tool)
    assert tool.parameters["properties"] == {"node": {"$ref": "#/$defs/node"}}
    assert tool.parameters["$defs"]["node"]["properties"] == {"next": {"$ref": "#/$defs/node"}}


def test_a_schema_that_explodes_when_it_is_written_out_keeps_its_pointers() -> None:
    levels = {f"d{n}": {"type": "array", "prefixItems": [{"$ref": f"#/$defs/d{n + 1}"}] * 4} for n in range(12)}
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": levels | {"d12": {}}}
    tool = adapted(schema, "google")
    assert tool.parameters["properties"] == {"a": {"$ref": "#/$defs/d0"}}


def test_a_schema_nested_deeper_than_anyone_reads_is_any_object() -> None:
    schema: Schema = {"type": "object"}
    for _ in range(3_000):
        schema = {"type": "object", "properties": {"a": schema}}
    for provider in PROVIDERS:
        assert adapted(schema, provider).parameters == {"type": "object", "properties": {}}


def test_data_in_a_schema_is_not_taken_for_schemas() -> None:
    data = {"$schema": "x", "type": "any", "properties": []}
    schema = {"type": "object", "properties": {"a": {"default": data, "enum": [data]}, "$schema": {"type": "string"}}}
    assert adapted(schema, "openai").parameters["properties"] == schema["properties"]


def test_the_given_schema_is_not_changed() -> None:
    schema = {"$schema": "x", "oneOf": [{"properties": {"a b": {"const": 1}}}]}
    before = json.dumps(schema)
    for provider in PROVIDERS:
        adapted(schema, provider)
    assert json.dumps(schema) == before


# --- names and calls -------------------------------------------------------------------------------------------------


def test_names_are_kept_within_the_rule_and_mapped_back() -> None:
    specs = [ToolSpec(name, "", {}) for name in ("read", "3d_render", "täglich", "x" * 80, "a.b")]
    for table in TABLES.values():
        tools = ToolAdapter(table).use(specs)
        assert all(re.fullmatch(table.name, tool.name) for tool in tools.tools)
        back = [tools.incoming(ToolCall("c", tool.name, {"a": 1})).tool for tool in tools.tools]
        assert back == ["read", "3d_render", "täglich", "x" * 80, "a.b"]
    google = ToolAdapter(TABLES["google"]).use(specs)
    assert google.name("3d_render").startswith("_3d_render_")
    assert ToolAdapter(TABLES["openai"]).use(specs).name("3d_render") == "3d_render"


def test_a_call_of_another_provider_is_sent_as_if_this_one_had_made_it() -> None:
    tools = ToolAdapter(TABLES["anthropic"]).use([ToolSpec("list", "", {"type": "object", "properties": {"$top": {}}})])
    sent = tools.outgoing(ToolCall("functions.list:0", "list", {"$top": 3}))
    assert sent.call == wire_call("functions.list:0")
    assert re.fullmatch(r"call_[0-9a-f]{24}", sent.call)
    (key,) = sent.arguments
    assert key.startswith("_top_")
    assert tools.outgoing(ToolCall("c1", "gone.tool", {"a": 1})).tool.startswith("gone_tool_")
    assert tools.outgoing(ToolCall("c1", "list", {}, "{bad")).arguments == {"malformed_arguments": "{bad"}
    assert tools.incoming(ToolCall("c1", "never_offered", {"a": 1})) == ToolCall("c1", "never_offered", {"a": 1})


def test_what_was_adapted_once_is_used_again_until_it_changes() -> None:
    adapter = ToolAdapter(TABLES["google"])
    (first,) = adapter.use([ToolSpec("a", "", {"type": "object"})]).tools
    assert adapter.use([ToolSpec("a", "", {"type": "object"})]).tools[0] is first
    (changed,) = adapter.use([ToolSpec("a", "", {"type": "object", "properties": {"b": {}}})]).tools
    assert changed.parameters["properties"] == {"b": {}}


# --- random schemas --------------------------------------------------------------------------------------------------

KEYS = st.sampled_from(["a", "b", "arguments", "$top", "a b", "é", "", "x" * 70, "items", "properties"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
TYPE_NAMES = st.sampled_from(["object", "array", "string", "number", "integer", "boolean", "null"])


def schemas(odd: bool) -> st.SearchStrategy[Any]:
    """JSON Schemas of draft 2020-12; ``odd`` adds what servers send besides."""

    def compound(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        lists = st.lists(inner, min_size=1, max_size=3)
        parts: dict[str, st.SearchStrategy[Any]] = {
            "properties": st.dictionaries(KEYS, inner, max_size=3),
            "required": st.lists(KEYS, max_size=2, unique=True),
            "anyOf": lists,
            "oneOf": lists,
            "allOf": lists,
            "items": inner,
            "prefixItems": lists,
            "additionalProperties": inner,
            "not": inner,
            "$defs": st.dictionaries(st.sampled_from(["d", "e"]), inner, max_size=2),
            **SIMPLE,
        }
        if odd:
            parts |= ODD
        return st.fixed_dictionaries({}, optional=parts)

    leaves: st.SearchStrategy[Any] = st.booleans() | st.fixed_dictionaries({}, optional=SIMPLE)
    if odd:
        leaves |= VALUES
    return st.recursive(leaves, compound, max_leaves=8)


SIMPLE: dict[str, st.SearchStrategy[Any]] = {
    "type": TYPE_NAMES | st.lists(TYPE_NAMES, min_size=1, max_size=3, unique=True),
    "enum": st.lists(VALUES, min_size=1, max_size=3),
    "const": VALUES,
    "minimum": st.integers(-2, 2),
    "exclusiveMinimum": st.integers(-2, 2),
    "exclusiveMaximum": st.integers(-2, 2),
    "maxLength": st.integers(0, 2),
    "minItems": st.integers(0, 2),
    "description": st.just("text"),
    "format": st.sampled_from(["uri", "date-time"]),
}
ODD: dict[str, st.SearchStrategy[Any]] = {
    "$ref": st.sampled_from(["#", "#/$defs/d", "#/definitions/e", "#/properties/a", "#/nothing", "http://x/y"]),
    "$schema": st.just("http://json-schema.org/draft-07/schema#"),
    "$id": st.just("http://x/y"),
    "properties": VALUES,
    "required": st.booleans() | VALUES,
    "type": st.sampled_from(["any", "file", "float", "String"]) | VALUES,
    "definitions": VALUES,
    "exclusiveMinimum": st.booleans(),
    "additionalItems": st.booleans(),
    "nullable": st.booleans(),
    "description": st.none(),
    "enum": VALUES,
    "minLength": VALUES,
}
ARGUMENTS = st.dictionaries(KEYS, VALUES, max_size=4)
QUICK = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)


@pytest.mark.parametrize("provider", PROVIDERS)
@QUICK
@given(schema=schemas(odd=True), arguments=ARGUMENTS)
def test_any_schema_fits_and_any_call_comes_back_exactly(provider: str, schema: Any, arguments: Schema) -> None:
    tool = adapted(schema, provider)
    CHECKS[provider](tool)
    assert tool.incoming(tool.outgoing(arguments)) == arguments


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
@QUICK
@given(schema=schemas(odd=False), arguments=ARGUMENTS)
def test_an_adapted_schema_accepts_what_the_own_one_accepts_and_nothing_else(
    provider: str, schema: Any, arguments: Schema
) -> None:
    tool = adapted(schema, provider)
    own = valid(
        {"type": "object", **schema} if isinstance(schema, dict) and "type" not in schema else schema, arguments
    )
    assume(isinstance(schema, dict) and "object" in (schema.get("type", "object")))
    assert valid(tool.parameters, tool.outgoing(arguments)) == own


@QUICK
@given(schema=schemas(odd=False), arguments=ARGUMENTS)
def test_what_google_gets_never_refuses_what_the_tool_takes(schema: Any, arguments: Schema) -> None:
    assume(isinstance(schema, dict) and "object" in (schema.get("type", "object")))
    assume(valid(schema, arguments))
    tool = adapted(schema, "google")
    assert valid(tool.parameters, tool.outgoing(arguments))


def valid(schema: Any, data: Any) -> bool:
    return Draft202012Validator(schema).is_valid(data)
