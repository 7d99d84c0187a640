"""Records behave as frozen slotted dataclasses do."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError, dataclass, field

import pytest

from harness_tui.core.record import record


@record
class Point:
    """A place."""

    x: int
    y: int = 2
    tags: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Standard:
    """The same, made by the standard library."""

    x: int
    y: int = 2
    tags: list[str] = field(default_factory=list[str])


def test_fields_defaults_and_text_are_those_of_a_dataclass() -> None:
    assert [(item.name, item.type) for item in dataclasses.fields(Point)] == [
        (item.name, item.type) for item in dataclasses.fields(Standard)
    ]
    assert repr(Point(1)) == repr(Standard(1)).replace("Standard", "Point")
    assert Point(1, tags=["a"]).tags == ["a"]
    assert Point(1).tags is not Point(1).tags


def test_nothing_can_be_assigned_deleted_or_added() -> None:
    point = Point(1)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        point.x = 5  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
        del point.x
    with pytest.raises(FrozenInstanceError):
        point.z = 1  # type: ignore[attr-defined]
    assert not hasattr(point, "__dict__")


def test_equality_is_by_class_and_value() -> None:
    assert Point(1) == Point(1, 2)
    assert Point(1) != Point(1, 3)
    assert Point(1) != Standard(1)


def test_records_of_hashable_values_are_hashable() -> None:
    @record
    class Pair:
        """Two."""

        a: int
        b: str

    assert {Pair(1, "x"): "found"}[Pair(1, "x")] == "found"
    with pytest.raises(TypeError):
        hash(Point(1))


def test_replace_match_copy_and_pickle_work() -> None:
    point = Point(1, 2, ["t"])
    assert dataclasses.replace(point, x=9) == Point(9, 2, ["t"])
    match point:
        case Point(x, y):
            assert (x, y) == (1, 2)
    assert copy.copy(point) == point
    assert copy.deepcopy(point) == point
    assert pickle.loads(pickle.dumps(point)) == point


def test_wrong_arguments_are_told_as_by_any_function() -> None:
    with pytest.raises(TypeError, match=r"Point.__init__\(\) missing 1 required positional argument: 'x'"):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'q'"):
        Point(1, q=2)  # type: ignore[call-arg]


def test_a_field_may_be_left_out_of_comparison_and_text() -> None:
    @record
    class Tagged:
        name: str
        tag: int = field(default=0, compare=False, repr=False)

    assert Tagged("a", 1) == Tagged("a", 2)
    assert hash(Tagged("a", 1)) == hash(Tagged("a", 2))
    assert repr(Tagged("a", 1)).endswith("Tagged(name='a')")
