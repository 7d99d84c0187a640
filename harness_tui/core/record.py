"""Frozen slotted dataclasses that are quick to define.

Python writes and compiles six methods for every frozen dataclass, about a third of a millisecond each time a program
starts; the contract has a hundred of them. :func:`record` has one method compiled, ``__init__``, and shares the others.
What it makes is a dataclass to ``dataclasses.fields``, ``replace`` and ``match`` alike.
"""

from __future__ import annotations

import dataclasses
from dataclasses import MISSING, FrozenInstanceError, dataclass, field
from functools import cache
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


def _names(value: Any) -> tuple[str, ...]:
    return tuple(type(value).__dataclass_fields__)


@cache
def _shown(cls: Any) -> tuple[str, ...]:
    return tuple(name for name, item in cls.__dataclass_fields__.items() if item.repr)


@cache
def _compared(cls: Any) -> tuple[str, ...]:
    return tuple(name for name, item in cls.__dataclass_fields__.items() if item.compare)


def _repr(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in _shown(type(self)))
    return f"{type(self).__qualname__}({shown})"


def _eq(self: Any, other: object) -> Any:
    if type(self) is not type(other):
        return NotImplemented
    return all(getattr(self, name) == getattr(other, name) for name in _compared(type(self)))


def _hash(self: Any) -> int:
    return hash((type(self), *(getattr(self, name) for name in _compared(type(self)))))


def _refuse_set(self: Any, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in _names(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for name, value in zip(_names(self), state, strict=True):
        object.__setattr__(self, name, value)


_SHARED = {
    "__repr__": _repr,
    "__eq__": _eq,
    "__hash__": _hash,
    "__setattr__": _refuse_set,
    "__delattr__": _refuse_delete,
    "__getstate__": _get_state,
    "__setstate__": _set_state,
}


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Make ``cls`` a frozen slotted dataclass, as ``@dataclass(frozen=True, slots=True)`` does."""
    made = dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    for name, function in _SHARED.items():
        if name not in cls.__dict__:
            setattr(made, name, function)
    made.__init__ = _init_of(made)  # type: ignore[method-assign]
    parameters = made.__dict__["__dataclass_params__"]
    for name in ("init", "repr", "eq", "frozen"):  # what it has after all
        setattr(parameters, name, True)
    return made


def _init_of(cls: Any) -> Any:
    scope: dict[str, Any] = {"_set": object.__setattr__, "_missing": MISSING}
    parameters, body = ["self"], list[str]()
    for item in dataclasses.fields(cls):
        name = item.name
        if item.default is not MISSING:
            scope[f"_default_{name}"] = item.default
            parameters.append(f"{name}=_default_{name}")
        elif item.default_factory is not MISSING:
            scope[f"_make_{name}"] = item.default_factory
            parameters.append(f"{name}=_missing")
            body.append(f"    if {name} is _missing: {name} = _make_{name}()")
        else:
            parameters.append(name)
        body.append(f"    _set(self, {name!r}, {name})")
    if hasattr(cls, "__post_init__"):
        body.append("    self.__post_init__()")
    text = f"def __init__({', '.join(parameters)}):\n" + ("\n".join(body) or "    pass")
    exec(text, scope)  # the names come from the class itself, as in the standard library
    made = scope["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__annotations__ = {item.name: item.type for item in dataclasses.fields(cls)}
    return made
