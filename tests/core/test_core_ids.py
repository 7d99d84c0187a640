"""Identifiers sort by time and fit file names; moments and errors read as they should."""

from __future__ import annotations

import re
import time
from datetime import datetime, timedelta, timezone

import pytest

from harness_tui.core.clock import SystemClock, rfc3339
from harness_tui.core.errors import HarnessError, RefusedError, StalePreviewError, ToolError, UsageError
from harness_tui.core.ids import new_id


def test_an_identifier_has_its_prefix_and_seventeen_safe_characters() -> None:
    assert re.fullmatch(r"ses_[0-9a-hjkmnp-tv-z]{17}", new_id("ses"))


def test_later_identifiers_sort_after_earlier_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = [1, 31, 32, 1_000, 32**8, 1_700_000_000_000, 1_700_000_000_001, 32**9 - 1]
    made: list[str] = []
    for moment in moments:
        monkeypatch.setattr(time, "time_ns", lambda moment=moment: moment * 1_000_000)
        made.append(new_id("run"))
    assert made == sorted(made)
    assert made[1][4:13] == "00000000z"
    assert made[2][4:13] == "000000010"


def test_identifiers_of_one_moment_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1)
    assert len({new_id("x") for _ in range(1_000)}) == 1_000


def test_a_moment_is_written_in_utc_with_milliseconds() -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, 678_999, tzinfo=timezone(timedelta(hours=2)))
    assert rfc3339(moment) == "2026-01-02T01:04:05.678Z"
    assert rfc3339(SystemClock().now()).endswith("Z")
    assert SystemClock().monotonic() <= SystemClock().monotonic()


def test_an_error_says_where_what_and_how_to_mend_it() -> None:
    error = UsageError("unknown key 'modle'", where="config.yaml:3", mend="did you mean model?", code="unknown-key")
    assert str(error) == "config.yaml:3: unknown key 'modle' (did you mean model?)"
    assert str(HarnessError("it failed")) == "it failed"
    assert error.code == "unknown-key"


@pytest.mark.parametrize("kind", [UsageError, RefusedError, ToolError, StalePreviewError])
def test_every_error_is_one_of_ours(kind: type[HarnessError]) -> None:
    assert issubclass(kind, HarnessError)
