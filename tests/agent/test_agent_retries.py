"""Which failures are tried again, and how long after."""

from __future__ import annotations

import pytest

from harness_tui.agent.retries import ATTEMPTS, tried_again, wait_after
from harness_tui.core.seams import ModelError


@pytest.mark.parametrize(("attempt", "seconds"), [(1, 0.5), (2, 1.0), (3, 2.0)])
def test_each_wait_is_twice_as_long_where_nobody_says_how_long(attempt: int, seconds: float) -> None:
    assert wait_after(ModelError("server", "gone"), attempt) == seconds


@pytest.mark.parametrize("seconds", [0.0, 7.5, 300.0])
def test_what_the_provider_asks_for_is_waited_whole(seconds: float) -> None:
    error = ModelError("rate_limit", "slow down", retry_after=seconds)
    assert wait_after(error, 1) == seconds
    assert tried_again(error, 1)


def test_an_hour_is_not_waited_for() -> None:
    assert not tried_again(ModelError("rate_limit", "slow down", retry_after=3600.0), 1)


@pytest.mark.parametrize("kind", ["auth", "permission", "content_filter", "request", "context"])
def test_what_cannot_get_better_is_not_tried_again(kind: str) -> None:
    assert not tried_again(ModelError(kind, "no"), 1)  # type: ignore[arg-type]


def test_the_last_attempt_is_the_last() -> None:
    assert tried_again(ModelError("cut", "gone"), ATTEMPTS - 1)
    assert not tried_again(ModelError("cut", "gone"), ATTEMPTS)
