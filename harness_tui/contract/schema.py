"""The JSON Schema (draft 2020-12) of events and intents, made from the core's dataclasses.

It says exactly what this version writes: objects are closed, so a field of another event is refused. Readers ignore
fields that they do not know; adding one is no break, and shows up here as a change of the file.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import types
import typing
from collections.abc import Mapping
from typing import Any, Final, Literal, Union, cast

from harness_tui.core.codec import fields_of
from harness_tui.core.events import DELTAS, EVENTS, Event
from harness_tui.core.intents import INTENTS, Intent

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
IDENTIFIER: Final = "urn:harness-tui:protocol"

_SCALARS: Final[dict[Any, dict[str, Any]]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    dict: {"type": "object"},
    Any: {},
    object: {},
}

_ENVELOPE: Final[dict[str, dict[str, Any]]] = {
    "seq": {"type": "integer", "minimum": 1, "description": "Grows by one per session; of a merged delta, the last."},
    "time": {"type": "string", "format": "date-time", "description": "RFC 3339, UTC."},
    "session": {"type": "string"},
    "run": {"type": "string"},
}
_FIRST_SEQ: Final[dict[str, Any]] = {
    "type": "integer",
    "minimum": 1,
    "description": "On merged deltas: the number of the first part.",
}

JsonObject = dict[str, Any]


def protocol_schema() -> JsonObject:
    """Return the whole schema: ``$defs`` holds every record by class name; ``Event`` and ``Intent`` are ``oneOf``."""
    builder = _Builder()
    events = [builder.event(EVENTS[name]) for name in sorted(EVENTS)]
    intents = [builder.intent(INTENTS[name]) for name in sorted(INTENTS)]
    defs = builder.defs
    defs["Event"] = {"description": "One line of a session's stream.", "oneOf": events}
    defs["Intent"] = {"description": "One line of what a session takes.", "oneOf": intents}
    return {
        "$schema": DIALECT,
        "$id": IDENTIFIER,
        "title": "Harness events and intents",
        "oneOf": [_ref("Event"), _ref("Intent")],
        "$defs": defs,
    }


def to_text(schema: Mapping[str, Any]) -> str:
    """Return ``schema`` as the file holds it: sorted keys, two blanks, a line end."""
    return json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


class _Builder:
    def __init__(self) -> None:
        self.defs: dict[str, JsonObject] = {}
        self._owners: dict[str, tuple[type[Any], bool]] = {}

    def event(self, cls: type[Event]) -> JsonObject:
        head: dict[str, JsonObject] = {"type": {"const": cls.type}, **_ENVELOPE}
        if cls in DELTAS:
            head["first_seq"] = _FIRST_SEQ
        return self._record(cls, head, ("type", "seq", "time", "session"), with_private=False)

    def intent(self, cls: type[Intent]) -> JsonObject:
        return self._record(cls, {"intent": {"const": cls.intent}}, ("intent",), with_private=True)

    def _record(
        self, cls: type[Any], head: Mapping[str, JsonObject], required: tuple[str, ...], *, with_private: bool
    ) -> JsonObject:
        # A record with private fields has two forms: shown to front ends without them, taken from front ends with them.
        two_forms = with_private and not head and _has_private(cls)
        name = f"{cls.__name__}WithContent" if two_forms else cls.__name__
        owner = self._owners.setdefault(name, (cls, with_private))
        if owner[0] is not cls:
            raise TypeError(f"two records are called {name}: {owner[0]} and {cls}")
        if name in self.defs:
            return _ref(name)
        definition: JsonObject = {"type": "object", "description": _description(cls)}
        self.defs[name] = definition
        properties: dict[str, JsonObject] = dict(head)
        needed = list(required)
        for field in fields_of(cls):
            if field.private and not with_private:
                continue
            annotation = _without_none(field.annotation)
            described = self._type(annotation, with_private=with_private)
            # ``undo_applied`` is about a run and belongs to it, as ``redo_applied``: one field says both.
            if properties.setdefault(field.name, described) != described:
                raise TypeError(f"{cls.__name__}.{field.name} hides a field of the envelope")
            if "const" in properties[field.name] or (field.required and annotation is field.annotation):
                needed.append(field.name)
        definition |= {"properties": properties, "required": sorted(needed), "additionalProperties": False}
        return _ref(name)

    def _type(self, annotation: Any, *, with_private: bool) -> JsonObject:
        if annotation in _SCALARS:
            return dict(_SCALARS[annotation])
        if dataclasses.is_dataclass(annotation):
            return self._record(cast(type[Any], annotation), {}, (), with_private=with_private)
        origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
        if origin is Literal:
            return {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
        if origin is tuple and len(arguments) == 2 and arguments[1] is ...:
            return {"type": "array", "items": self._type(arguments[0], with_private=with_private)}
        if origin in (dict, Mapping):
            values = self._type(arguments[1], with_private=with_private)
            return {"type": "object"} | ({"additionalProperties": values} if values else {})
        if origin in (Union, types.UnionType):
            return {"oneOf": [self._type(argument, with_private=with_private) for argument in arguments]}
        raise TypeError(f"no schema is known for {annotation!r}")


def _ref(name: str) -> JsonObject:
    return {"$ref": f"#/$defs/{name}"}


def _description(cls: type[Any]) -> str:
    return " ".join(inspect.cleandoc(cls.__doc__ or "").split())


def _without_none(annotation: Any) -> Any:
    """Return ``annotation`` without ``None``: what is ``None`` is left out on the wire."""
    if typing.get_origin(annotation) not in (Union, types.UnionType):
        return annotation
    kept = tuple(argument for argument in typing.get_args(annotation) if argument is not types.NoneType)
    return annotation if len(kept) == len(typing.get_args(annotation)) else Union[kept]  # noqa: UP007 - made from a tuple


def _has_private(cls: type[Any]) -> bool:
    """Tell whether ``cls``, or a record in it, has a field that front ends are not sent."""
    return any(field.private or any(map(_has_private, _records_in(field.annotation))) for field in fields_of(cls))


def _records_in(annotation: Any) -> list[type[Any]]:
    if dataclasses.is_dataclass(annotation):
        return [cast(type[Any], annotation)]
    return [record for argument in typing.get_args(annotation) for record in _records_in(argument)]
