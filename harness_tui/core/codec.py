"""Dataclasses to JSON objects and back, driven by their annotations.

One codec for events, intents, messages and records. A field whose value is ``None`` is left out.
A field marked ``private()`` is kept in the store and never sent to a front end. Readers ignore
unknown fields; a missing or wrong one raises :class:`CodecError` with its path.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, Literal, TypeVar, Union, cast

from harness_tui.core.errors import HarnessError

T = TypeVar("T")

_PRIVATE: Final = "private"
_KINDS: Final[dict[type, str]] = {
    str: "text",
    int: "integer",
    float: "number",
    bool: "boolean",
    dict: "object",
    list: "list",
}


def private() -> dict[str, Any]:
    """Return field metadata: stored, never shown (``field(default=None, metadata=private())``)."""
    return {_PRIVATE: True}


class CodecError(HarnessError):
    """A value that does not fit its declared type. ``where`` is the path of the field."""


@dataclasses.dataclass(frozen=True, slots=True)
class FieldInfo:
    """One field of a record: its wire name, resolved annotation, and whether it may be absent."""

    name: str
    annotation: Any
    required: bool
    private: bool


@cache
def fields_of(cls: type[Any]) -> tuple[FieldInfo, ...]:
    """Return the fields of a dataclass with their annotations resolved."""
    hints = typing.get_type_hints(cls)
    return tuple(
        FieldInfo(
            name=field.name,
            annotation=hints[field.name],
            required=field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING,
            private=bool(field.metadata.get(_PRIVATE)),
        )
        for field in dataclasses.fields(cls)
    )


def encode(value: Any, *, with_private: bool = False) -> Any:
    """Return ``value`` as JSON data: dataclasses to objects, tuples to arrays."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        result: dict[str, Any] = {}
        for field in fields_of(type(value)):
            item = getattr(value, field.name)
            if item is None or (field.private and not with_private):
                continue
            result[field.name] = encode(item, with_private=with_private)
        return result
    if isinstance(value, Mapping):
        items = cast(Mapping[str, Any], value)
        return {key: encode(item, with_private=with_private) for key, item in items.items()}
    if isinstance(value, (list, tuple)):
        return [encode(item, with_private=with_private) for item in cast(list[Any], value)]
    return value


def decode(cls: type[T], data: Any, path: str = "") -> T:
    """Build a ``cls`` from JSON data. Raises :class:`CodecError`."""
    return cast(T, _decode(cls, data, path or cls.__name__))


def _decode(annotation: Any, data: Any, path: str) -> Any:
    if annotation is Any or annotation is object:
        return data
    origin = typing.get_origin(annotation)
    if origin in (Union, types.UnionType):
        return _decode_union(typing.get_args(annotation), data, path)
    if origin is Literal:
        if data not in typing.get_args(annotation):
            allowed = ", ".join(map(repr, typing.get_args(annotation)))
            raise CodecError(f"expected one of {allowed}, got {data!r}", where=path)
        return data
    if origin is tuple:
        if not isinstance(data, list | tuple):
            raise CodecError(f"expected a list, got {_kind(data)}", where=path)
        (item, *_) = typing.get_args(annotation)
        values = cast(list[Any], data)
        return tuple(_decode(item, value, f"{path}[{index}]") for index, value in enumerate(values))
    if origin in (dict, Mapping) or annotation is dict:
        if not isinstance(data, Mapping):
            raise CodecError(f"expected an object, got {_kind(data)}", where=path)
        args = typing.get_args(annotation)
        entries = cast(Mapping[str, Any], data)
        return {key: _decode(args[1] if args else Any, value, f"{path}.{key}") for key, value in entries.items()}
    if dataclasses.is_dataclass(annotation):
        return _decode_record(cast(type[Any], annotation), data, path)
    return _decode_scalar(annotation, data, path)


def _decode_scalar(annotation: Any, data: Any, path: str) -> Any:
    if annotation is types.NoneType:
        if data is None:
            return None
    elif annotation is float and isinstance(data, int) and not isinstance(data, bool):
        return float(data)
    elif isinstance(data, annotation) and not (annotation in (int, float) and isinstance(data, bool)):
        return data
    expected = _KINDS.get(annotation, getattr(annotation, "__name__", str(annotation)))
    raise CodecError(f"expected {expected}, got {_kind(data)}", where=path)


def _decode_record(cls: type[Any], data: Any, path: str) -> Any:
    if not isinstance(data, Mapping):
        raise CodecError(f"expected an object, got {_kind(data)}", where=path)
    entries = cast(Mapping[str, Any], data)
    values: dict[str, Any] = {}
    for field in fields_of(cls):
        if entries.get(field.name) is not None:
            values[field.name] = _decode(field.annotation, entries[field.name], f"{path}.{field.name}")
        elif field.required and not _optional(field.annotation):
            raise CodecError(f"{field.name} is missing", where=path)
        elif field.required:
            values[field.name] = None
    return cls(**values)


def _decode_union(options: tuple[Any, ...], data: Any, path: str) -> Any:
    if data is None and types.NoneType in options:
        return None
    errors: list[CodecError] = []
    for option in options:
        if option is types.NoneType:
            continue
        try:
            return _decode(option, data, path)
        except CodecError as error:
            errors.append(error)
    if len(errors) == 1:
        raise errors[0]
    raise CodecError(f"fits none of {len(errors)} forms: {errors[-1]}", where=path)


def _optional(annotation: Any) -> bool:
    return types.NoneType in typing.get_args(annotation) or annotation is Any


def _kind(data: Any) -> str:
    return "nothing" if data is None else _KINDS.get(type(data), type(data).__name__)
