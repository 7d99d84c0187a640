"""Tools as a provider takes them, and its calls as the tools take them: the way out and the exact way back.

Three things can differ on the wire: a tool's name, names of parameters, and arguments that stand one level deeper
because a provider wants an object where the schema is a choice. All three are undone here, nowhere else.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final, cast

from harness_tui.core.messages import ToolCall
from harness_tui.core.record import record
from harness_tui.core.values import ToolSpec
from harness_tui.models.schema_rules import Schema, Table, apply_rules
from harness_tui.models.schema_walk import each_schema, inlined, moved, target, walk

WRAPPER: Final = "arguments"
_CALL_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_DIGITS: Final = 8


@record
class AdaptedTool:
    """A tool for one provider. ``wrapper`` is the parameter that the arguments stand in, ``keys`` maps names of
    parameters on the wire to their own."""

    spec: ToolSpec
    name: str
    parameters: Schema
    wrapper: str | None = None
    keys: Mapping[str, str] = field(default_factory=dict[str, str])

    def outgoing(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return ``arguments`` as the provider would have sent them."""
        if self.keys:
            arguments = _renamed(arguments, {own: wire for wire, own in self.keys.items()})
        return {self.wrapper: arguments} if self.wrapper else arguments

    def incoming(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return what the provider sent as the tool takes it; a model that left the wrapper out is understood."""
        inner = arguments.get(self.wrapper) if self.wrapper and len(arguments) == 1 else None
        found = cast(dict[str, Any], inner) if isinstance(inner, dict) else arguments
        return _renamed(found, self.keys) if self.keys else found


class ToolAdapter:
    """Adapts to one table; remembers what it made, since the same tools come with every request."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._made: dict[str, AdaptedTool] = {}

    def use(self, specs: Sequence[ToolSpec]) -> AdaptedTools:
        """Return the tools of one request."""
        made: dict[str, AdaptedTool] = {}
        used: set[str] = set()
        for spec in specs:
            known = self._made.get(spec.name)
            tool = known if known is not None and known.spec == spec else adapt(spec, self._table)
            if tool.name in used:
                tool = replace(tool, name=_shortened(f"{spec.name}-", tool.name))
            used.add(tool.name)
            made[spec.name] = tool
        self._made = made
        return AdaptedTools(self._table, tuple(made.values()))


class AdaptedTools:
    """The tools of one request, by either name."""

    def __init__(self, table: Table, tools: tuple[AdaptedTool, ...]) -> None:
        self.tools = tools
        self._table = table
        self._own = {tool.spec.name: tool for tool in tools}
        self._wire = {tool.name: tool for tool in tools}

    def outgoing(self, call: ToolCall) -> ToolCall:
        """Return a call of the history as the provider would have made it, whoever made it."""
        tool = self._own.get(call.tool)
        name = tool.name if tool is not None else wire_name(call.tool, self._table)
        arguments = {"malformed_arguments": call.raw} if call.raw is not None else call.arguments
        if tool is not None and call.raw is None:
            arguments = tool.outgoing(arguments)
        return ToolCall(wire_call(call.call), name, arguments)

    def name(self, tool: str) -> str:
        """Return the name of ``tool`` on the wire, offered or not."""
        found = self._own.get(tool)
        return found.name if found is not None else wire_name(tool, self._table)

    def incoming(self, call: ToolCall) -> ToolCall:
        """Return a call of the provider as the tool takes it; a name that was never offered stays as it is."""
        tool = self._wire.get(call.tool)
        if tool is None:
            return call
        arguments = call.arguments if call.raw is not None else tool.incoming(call.arguments)
        return ToolCall(call.call, tool.spec.name, arguments, call.raw)


def adapt(spec: ToolSpec, table: Table) -> AdaptedTool:
    """Return ``spec`` for the provider of ``table``."""
    try:
        parameters, wrapper = _parameters(spec.parameters, table)
        keys = _wire_keys(parameters, table)
    except RecursionError:  # nested deeper than any provider reads: any object will do
        parameters, wrapper, keys = {"type": "object", "properties": {}}, None, dict[str, str]()
    if keys:
        parameters = _with_keys(parameters, {own: wire for wire, own in keys.items()})
    return AdaptedTool(spec, wire_name(spec.name, table), parameters, wrapper, keys)


def wire_name(name: str, table: Table) -> str:
    """Return a tool's name within what the provider takes: itself, or its beginning with a hash of the whole."""
    return name if re.fullmatch(table.name, name) else _shortened(name, re.sub(r"[^A-Za-z0-9_-]", "_", name), table)


def wire_call(call: str) -> str:
    """Return the id of a call within what every provider takes; another one may have given it."""
    return call if _CALL_ID.fullmatch(call) else f"call_{hashlib.sha256(call.encode()).hexdigest()[:24]}"


# --- parts -----------------------------------------------------------------------------------------------------------


def _shortened(whole: str, shown: str, table: Table | None = None) -> str:
    digits = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    name = f"{shown[: 63 - _DIGITS]}_{digits}"
    if table is not None and not re.fullmatch(table.name, name):
        name = f"_{shown[: 62 - _DIGITS]}_{digits}"
    return name


def _parameters(given: Any, table: Table) -> tuple[Schema, str | None]:
    root = cast(Schema, given) if isinstance(given, dict) else {}
    root = _own_pointers(root)
    root = apply_rules(table, inlined(root) if table.inline else root)
    root = _followed(root)
    kind = root.get("type", "object")
    is_object = kind == "object" or (isinstance(kind, list) and "object" in kind)
    if is_object and not table.top_level & set(root):
        return {"type": "object", "properties": root.get("properties", {})} | root | {"type": "object"}, None
    names = {name for node in each_schema(root) for name in node.get("properties", {})}
    wrapper = WRAPPER
    while wrapper in names:
        wrapper = f"{wrapper}_"
    shared = {key: root[key] for key in ("$defs", "definitions") if key in root}
    inner = moved({key: value for key, value in root.items() if key not in shared}, f"/properties/{wrapper}")
    if "type" not in inner and "$ref" not in inner:
        inner = {"type": "object"} | inner
    return {"type": "object", "properties": {wrapper: inner}, "required": [wrapper], **shared}, wrapper


def _own_pointers(root: Schema) -> Schema:
    """Pointers that name the document by its own ``$id`` are local ones."""
    own = root.get("$id", root.get("id"))
    if not isinstance(own, str) or not own:
        return root
    base = own.rstrip("#")

    def visit(node: Schema) -> Schema:
        pointer = node.get("$ref")
        if isinstance(pointer, str) and pointer.startswith(f"{base}#"):
            return node | {"$ref": pointer[len(base) :]}
        return node

    return walk(root, visit)


def _followed(root: Schema) -> Schema:
    """A schema that is only a pointer to one of its definitions becomes that definition."""
    seen: set[str] = set()
    while isinstance(pointer := root.get("$ref"), str) and pointer not in seen:
        seen.add(pointer)
        found = target(root, pointer)
        if not isinstance(found, dict) or pointer == "#":
            break
        root = cast(Schema, found) | {key: value for key, value in root.items() if key != "$ref"}
    return root


def _wire_keys(schema: Schema, table: Table) -> dict[str, str]:
    if table.key is None:
        return {}
    names = {name for node in each_schema(schema) for name in node.get("properties", {})}
    keys: dict[str, str] = {}
    for name in sorted(names):
        if not re.fullmatch(table.key, name):
            wire = _shortened(name, re.sub(r"[^A-Za-z0-9_.-]", "_", name))
            while wire in names or wire in keys:
                wire = _shortened(f"{wire}-", wire)
            keys[wire] = name
    return keys


def _with_keys(schema: Schema, names: Mapping[str, str]) -> Schema:
    def visit(node: Schema) -> Schema:
        result = dict(node)
        for key in ("properties", "dependentSchemas", "dependentRequired"):
            if isinstance(node.get(key), dict):
                result[key] = {names.get(name, name): value for name, value in node[key].items()}
        if isinstance(node.get("required"), list):
            result["required"] = [names.get(name, name) for name in node["required"]]
        if isinstance(pointer := node.get("$ref"), str) and pointer.startswith("#"):
            result["$ref"] = _renamed_pointer(pointer, names)
        return result

    return walk(schema, visit)


def _renamed_pointer(pointer: str, names: Mapping[str, str]) -> str:
    steps = pointer.split("/")
    for index in range(1, len(steps)):
        name = steps[index].replace("~1", "/").replace("~0", "~")
        if steps[index - 1] == "properties" and name in names:
            steps[index] = names[name]
    return "/".join(steps)


def _renamed(data: Any, names: Mapping[str, str]) -> Any:
    if isinstance(data, dict):
        return {names.get(key, key): _renamed(value, names) for key, value in cast(dict[str, Any], data).items()}
    if isinstance(data, list):
        return [_renamed(item, names) for item in cast(list[Any], data)]
    return data
