"""What a tool's schema may look like for each provider: one table a provider, and nothing else changes a schema.

Servers send any JSON Schema of any draft; providers take a part of it, and refuse the whole request for one tool
that is outside. Each rule names where the provider says so. A rule never takes a parameter, an enum or a name away:
what a provider has no keyword for is told in the description.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from harness_tui.core.record import record
from harness_tui.models import schema_nodes as nodes
from harness_tui.models.schema_walk import Schema, walk

NodeRule: TypeAlias = Callable[[Schema], Schema]


@record
class Rule:
    """A change of single nodes of a schema. ``source`` is where the provider asks for it."""

    name: str
    source: str
    apply: NodeRule


@record
class Table:
    """What one provider takes.

    ``name`` is the pattern of tool names, ``key`` that of parameter names where there is one. ``top_level`` are
    keywords that must not stand beside the ``type`` of the whole, ``keywords`` all that are known where others are
    refused, ``inline`` puts definitions where they are used as long as the schema stays small.
    """

    provider: str
    name: str
    name_source: str
    top_level: frozenset[str]
    top_level_source: str
    rules: tuple[Rule, ...] = ()
    key: str | None = None
    key_source: str = ""
    keywords: frozenset[str] | None = None
    keywords_source: str = ""
    inline: bool = False
    source: str = ""


def apply_rules(table: Table, schema: Schema) -> Schema:
    """Return ``schema`` with every rule of ``table`` applied to each of its nodes, the innermost first.

    Before that each keyword gets the shape of the meta-schema (https://json-schema.org/draft/2020-12/schema).
    """

    def visit(node: Schema) -> Schema:
        for rule in table.rules:
            node = rule.apply(node)
        return node if table.keywords is None else nodes.known_only(node, table.keywords)

    shaped = walk(schema, nodes.well_formed)
    return walk(walk(shaped, visit), nodes.without_flag)


_CORE: Final = "https://json-schema.org/draft/2020-12/json-schema-core"
_VALIDATION: Final = "https://json-schema.org/draft/2020-12/json-schema-validation"
_EVERYBODY: Final = (
    Rule("no $schema, no $id", f"{_CORE}#section-8.1.1: Gemini refuses it, nobody needs it", nodes.no_dialect),
    Rule("types that exist", f"{_VALIDATION}#section-6.1.1", nodes.known_types),
    Rule("numeric exclusive bounds", f"{_VALIDATION}#section-6.2.3", nodes.numeric_bounds),
    Rule("tuples as prefixItems", f"{_CORE}#section-10.3.1.1", nodes.tuples_as_prefix_items),
    Rule("required as a list of names", f"{_VALIDATION}#section-6.5.3", nodes.required_names),
)

_GOOGLE: Final = "https://ai.google.dev/api/caching#FunctionDeclaration"
_GOOGLE_SCHEMA: Final = "https://ai.google.dev/gemini-api/docs/structured-output#json-schema-support"
_GOOGLE_SDK: Final = "google.genai.types.JSONSchema, whose fields are all that there is"
_GOOGLE_RULES: Final = (
    Rule("items is an object", _GOOGLE_SDK, nodes.items_as_object),
    Rule("definitions are $defs", _GOOGLE_SCHEMA, nodes.definitions_as_defs),
    Rule("pointers to $defs", _GOOGLE_SCHEMA, nodes.pointers_alone),
    Rule("nullable is a type", _GOOGLE_SCHEMA, nodes.nullable_as_type),
    Rule("const is an enum of one", _GOOGLE_SDK, nodes.const_as_enum),
    Rule("oneOf is read as anyOf", _GOOGLE_SCHEMA, nodes.one_of_as_any_of),
    Rule("allOf is joined", _GOOGLE_SDK, nodes.all_of_joined),
    Rule("inclusive bounds", _GOOGLE_SDK, nodes.inclusive_bounds),
    Rule("formats", "https://ai.google.dev/api/caching#Schema", nodes.known_formats),
)
_GOOGLE_KEYWORDS: Final = frozenset(
    {
        "type",
        "format",
        "title",
        "description",
        "default",
        "items",
        "minItems",
        "maxItems",
        "enum",
        "properties",
        "required",
        "minProperties",
        "maxProperties",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "pattern",
        "additionalProperties",
        "anyOf",
        "uniqueItems",
        "$ref",
        "$defs",
    }
)

# --- the tables ------------------------------------------------------------------------------------------------------

_UNIONS: Final = frozenset({"anyOf", "oneOf", "allOf", "not", "enum", "const", "if", "$ref", "dependentSchemas"})
_OPENAI: Final = "https://platform.openai.com/docs/guides/function-calling"
_OPENAI_ERROR: Final = (
    "the API's own error: schema must have type 'object' and not have 'oneOf', 'anyOf', 'allOf', 'enum' or 'not' at "
    "the top level"
)
_ITEMS: Final = Rule("arrays have items", "the API's own error: array schema missing items", nodes.array_items)
_SNAKE: Final = r"[A-Za-z0-9_-]{1,64}"

TABLES: Final = {
    "openai": Table(
        "openai",
        name=_SNAKE,
        name_source="https://platform.openai.com/docs/api-reference/chat/create#chat-create-tools",
        top_level=_UNIONS,
        top_level_source=_OPENAI_ERROR,
        rules=(*_EVERYBODY, _ITEMS),
        source=_OPENAI,
    ),
    "anthropic": Table(
        "anthropic",
        name=_SNAKE,
        name_source="https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use#specifying-client-tools",
        top_level=_UNIONS,
        top_level_source="the API's own error: input_schema does not support oneOf, allOf, or anyOf at the top level",
        rules=_EVERYBODY,
        key=r"[A-Za-z0-9_.-]{1,64}",
        key_source="the API's own error: property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'",
        source="https://docs.anthropic.com/en/api/messages#body-tools",
    ),
    "google": Table(
        "google",
        name=r"[A-Za-z_][A-Za-z0-9_-]{0,63}",
        name_source=_GOOGLE,
        top_level=_UNIONS,
        top_level_source=f"{_GOOGLE}: parametersJsonSchema must describe an object",
        rules=(*_EVERYBODY, *_GOOGLE_RULES, _ITEMS),
        keywords=_GOOGLE_KEYWORDS,
        keywords_source=_GOOGLE_SDK,
        inline=True,
        source=_GOOGLE_SCHEMA,
    ),
}
"""Names and schemas of each provider; ``openai`` is that of every server that speaks its protocols."""
