"""The id of the present trace, with the interface of OpenTelemetry and without it."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from harness_tui.core.tracing import current_trace
from harness_tui.core.tracing import traced as tracing


def traced(number: int, *, valid: bool) -> SimpleNamespace:
    context = SimpleNamespace(trace_id=number, is_valid=valid)
    span = SimpleNamespace(get_span_context=lambda: context)
    return SimpleNamespace(get_current_span=lambda: span)


def test_a_trace_is_told_by_its_32_digits_and_only_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "opentelemetry.trace", raising=False)
    assert current_trace() is None
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", traced(0xABC, valid=True))
    assert current_trace() == "0" * 29 + "abc"
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", traced(0, valid=False))
    assert current_trace() is None


def test_what_is_done_within_one_trace_has_its_id_and_nothing_else_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "opentelemetry.trace", raising=False)
    with tracing() as one:
        assert (len(one), int(one, 16) > 0, current_trace()) == (32, True, one)
        with tracing() as inner:
            assert inner == one
    with tracing() as other:
        assert other != one
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", traced(0xABC, valid=True))
    with tracing() as exported:
        assert exported == "0" * 29 + "abc"
