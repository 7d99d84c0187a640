"""Questions and forms as a row of steps: each asks one thing, checks the answer, and goes on. No widget here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from harness_tui.core import events as ev
from harness_tui.core.intents import Answer
from harness_tui.core.text import clean_for_display


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


def steps_of(event: ev.QuestionAsked) -> list[Step]:
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
    schema = event.schema or {}
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return []
    required = schema.get("required") or ()
    fields = cast(Mapping[str, Any], properties)
    return [_step_of(name, field, name in required) for name, field in fields.items() if isinstance(field, Mapping)]


def _step_of(name: str, field: Mapping[str, Any], required: bool) -> Step:
    title = str(field.get("title") or name)
    about = str(field.get("description") or "")
    text = _line(f"{title}: {about}" if about else title)
    kind = str(field.get("type") or "string")
    default = field.get("default")
    if kind == "boolean":
        options = (Option("Yes", True), Option("No", False))
        return Step(name, text, options, free=False, required=required, kind=kind, default=default)
    if kind == "array":
        items = field.get("items")
        options = _enum_of(items) if isinstance(items, Mapping) else ()
        return Step(name, text, options, True, not options, required, kind, default)
    options = _enum_of(field)
    return Step(name, text, options, free=not options, required=required, kind=kind, default=default)


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
        match step.kind:
            case "integer":
                return int(text)
            case "number":
                return float(text)
            case "array":
                return [part.strip() for part in text.split(",") if part.strip()]
            case "object":
                return json.loads(text)
            case _:
                return text
    except ValueError as error:
        raise FormError(f"{text!r} is no {step.kind}") from error


class FormRun:
    """Goes through the steps of one request and collects the content."""

    def __init__(self, event: ev.QuestionAsked) -> None:
        self.event = event
        self.steps = steps_of(event)
        self.content: dict[str, Any] = {}
        self.place = 0

    @property
    def step(self) -> Step | None:
        """The present step, ``None`` when all are answered."""
        return self.steps[self.place] if self.place < len(self.steps) else None

    @property
    def head(self) -> str:
        """Who asks, and how far it is."""
        place = f" ({self.place + 1} of {len(self.steps)})" if len(self.steps) > 1 else ""
        return f"{_line(self.event.source)} asks: {_line(self.event.title)}{place}"

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
