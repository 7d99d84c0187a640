"""Questions and forms as a row of steps: each asks one thing, checks the answer, and goes on. No widget here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, cast

from harness_tui.core.events import QuestionAsked
from harness_tui.core.intents import Answer
from harness_tui.core.text import clean_for_display

_FOLLOWED: Final = 8
"""How many references of a schema are followed one after the other."""
_WORDS: Final = {"any": "JSON value"}


@dataclass(frozen=True, slots=True)
class Option:
    """One answer to choose; ``value`` is what is sent."""

    label: str
    value: Any
    description: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that is asked. ``free`` allows a typed answer, ``kind`` is the JSON type that it is read as."""

    name: str
    text: str
    options: tuple[Option, ...] = ()
    multiple: bool = False
    free: bool = True
    required: bool = True
    kind: str = "string"
    default: Any = None


class FormError(ValueError):
    """An answer that does not fit; the text tells a person why."""


def steps_of(event: QuestionAsked) -> list[Step]:
    """Return the steps of a question; none for a page to open."""
    if event.questions is not None:
        return [
            Step(
                question.id,
                _line(question.text),
                tuple(Option(_line(o.label), o.label, _line(o.description or "")) for o in question.options),
                multiple=question.multiple,
                free=question.custom or not question.options,
            )
            for question in event.questions
        ]
    return steps_of_schema(event.schema or {})


def steps_of_schema(schema: Mapping[str, Any]) -> list[Step]:
    """Return a step for each property of an object's JSON Schema; objects in it are asked for as JSON."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return []
    required = schema.get("required")
    needed = cast(list[Any], required) if isinstance(required, list) else []
    fields = cast(Mapping[str, Any], properties)
    return [
        _step_of(name, _resolved(field, schema), name in needed)
        for name, field in fields.items()
        if isinstance(field, Mapping)
    ]


def _resolved(field: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow references within the schema, and take what may also be null for what it is else."""
    for _ in range(_FOLLOWED):
        choices = field.get("anyOf") or field.get("oneOf")
        target: Any = None
        if isinstance(reference := field.get("$ref"), str) and reference.startswith("#/"):
            target = schema
            for part in reference[2:].split("/"):
                name = part.replace("~1", "/").replace("~0", "~")
                target = cast(Mapping[str, Any], target).get(name) if isinstance(target, Mapping) else None
        elif isinstance(choices, list):
            others = [item for item in cast(list[Any], choices) if isinstance(item, Mapping)]
            kept = [item for item in cast(list[Mapping[str, Any]], others) if item.get("type") != "null"]
            target = kept[0] if len(kept) == 1 else None
        if not isinstance(target, Mapping):
            return field
        own = {key: value for key, value in field.items() if key not in ("$ref", "anyOf", "oneOf")}
        field = {**cast(Mapping[str, Any], target), **own}
    return field


def _kind_of(field: Mapping[str, Any]) -> str:
    """Return the JSON type of a field; ``any`` where several would do, so that JSON has to be written."""
    kind = field.get("type")
    if isinstance(kind, list):
        kinds = [str(item) for item in cast(list[Any], kind) if item != "null"]
        kind = kinds[0] if len(kinds) == 1 else None if kinds else "string"
    if kind is None and (isinstance(field.get("properties"), Mapping)):
        return "object"
    mixed = any(isinstance(field.get(key), list) for key in ("anyOf", "oneOf", "type"))
    return str(kind or ("any" if mixed else "string"))


def _step_of(name: str, field: Mapping[str, Any], required: bool) -> Step:
    title = str(field.get("title") or name)
    about = str(field.get("description") or "")
    text = _line(f"{title}: {about}" if about else title)
    kind, default = _kind_of(field), field.get("default")
    if "const" in field:
        return Step(name, text, (Option(_line(str(field["const"])), field["const"]),), False, False, required, kind)
    if kind == "boolean":
        options = (Option("Yes", True), Option("No", False))
        return Step(name, text, _marked(options, default), False, False, required, kind, default)
    if kind == "array":
        items = field.get("items")
        item = cast(Mapping[str, Any], items) if isinstance(items, Mapping) else {}
        options = _enum_of(item)
        kind = f"array of {_kind_of(item)}" if not options and item.get("type") else "array"
        if not options and kind in ("array of object", "array of array"):
            text = f"{text} (JSON: a list)"
        return Step(name, text, options, bool(options), not options, required, kind, default)
    options = _enum_of(field)
    free = not options
    if free and kind in ("object", "any"):
        text = f"{text} (JSON{_named(field)})"
    if free and kind == "string" and isinstance(examples := field.get("examples"), list):
        said = [example for example in cast(list[Any], examples) if isinstance(example, str)]
        options = tuple(Option(_line(example), example) for example in said)
    return Step(name, text, _marked(options, default), False, free, required, kind, default)


def _named(field: Mapping[str, Any]) -> str:
    properties = field.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        return ""
    names = ", ".join(_line(str(name)) for name in list(cast(Mapping[str, Any], properties))[:8])
    return f": an object with {names}"


def _marked(options: tuple[Option, ...], default: Any) -> tuple[Option, ...]:
    """Return ``options`` with the one that counts where nothing is said marked as such."""
    return tuple(
        replace(option, description=option.description or "the default")
        if default is not None and option.value == default and type(option.value) is type(default)
        else option
        for option in options
    )


def _enum_of(field: Mapping[str, Any]) -> tuple[Option, ...]:
    if isinstance(values := field.get("enum"), list):
        names = field.get("enumNames")
        labels = cast(list[Any], names) if isinstance(names, list) and len(names) == len(values) else values
        return tuple(Option(_line(str(label)), value) for label, value in zip(labels, values, strict=True))
    choices = field.get("oneOf") or field.get("anyOf")
    if isinstance(choices, list):
        rows = [item for item in cast(list[Any], choices) if isinstance(item, Mapping) and "const" in item]
        return tuple(Option(_line(str(item.get("title") or item["const"])), item["const"]) for item in rows)
    return ()


def read_answer(step: Step, text: str) -> Any:
    """Read a typed answer. Raises :class:`FormError`; an empty one is ``None`` where nothing is required."""
    text = text.strip()
    if not text:
        if step.default is not None:
            return step.default
        if step.required:
            raise FormError("an answer is needed here (Esc leaves without one)")
        return None
    try:
        return _read(step.kind, text)
    except (ValueError, RecursionError) as error:
        raise FormError(f"{text!r} is no {_WORDS.get(step.kind, step.kind)}") from error


def _read(kind: str, text: str) -> Any:
    match kind:
        case "integer":
            return int(text)
        case "number":
            return _number(text)
        case "boolean":
            return _of(json.loads(text.lower()), bool)
        case "object":
            return _of(json.loads(text), dict)
        case "any":
            return json.loads(text) if text[:1] in '[{"-0123456789' or text in ("true", "false", "null") else text
        case _ if kind.startswith("array"):
            if text.startswith("["):
                return _of(json.loads(text), list)
            part = kind.removeprefix("array").removeprefix(" of ") or "string"
            return [_read(part, item.strip()) for item in text.split(",") if item.strip()]
        case _:
            return text


def _number(text: str) -> float:
    if text.removeprefix("-").isdecimal():
        return int(text)
    value = float(text)
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError("JSON has no such number")
    return value


def _of(value: Any, kind: type[Any]) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"not of type {kind.__name__}")
    return value


class FormRun:
    """Goes through the steps of one request and collects the content."""

    def __init__(self, event: QuestionAsked) -> None:
        self.event = event
        self.steps = steps_of(event)
        self.content: dict[str, Any] = {}
        self.place = 0

    @property
    def step(self) -> Step | None:
        """The present step, ``None`` when all are answered."""
        return self.steps[self.place] if self.place < len(self.steps) else None

    @property
    def title(self) -> str:
        """What is filled in, and how far it is."""
        many = len(self.steps) > 1 and self.step is not None
        return _line(self.event.title) + (f" ({self.place + 1} of {len(self.steps)})" if many else "")

    @property
    def head(self) -> str:
        """Who asks, and how far it is."""
        return f"{_line(self.event.source)} asks: {self.title}"

    def give(self, value: Any) -> None:
        """Answer the present step; ``None`` leaves it out."""
        step = self.step
        if step is None:
            return
        if value is not None:
            self.content[step.name] = value
        self.place += 1

    def back(self) -> bool:
        """Go back one step; false at the first."""
        if self.place == 0:
            return False
        self.place -= 1
        return True

    def answer(self, action: Literal["accept", "decline", "cancel"]) -> Answer:
        """Return the intent."""
        return Answer(self.event.request, action, content=self.content if action == "accept" else None)


def _line(text: str) -> str:
    return clean_for_display(text, one_line=True)
