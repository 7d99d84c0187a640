"""The bench: its budgets are those of the documentation, and nothing that is missed or not seen passes."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import bench
import model_server
from measure import Place, settled
from table import BUDGETS, Row
from watched import ScreenError

ROW = re.compile(r"^\| (?P<name>[^|]+?) \|(?:[^|]+\|){3} (?P<budget>[^|]+?) \|", re.MULTILINE)


def holding(runs: int) -> Iterator[Row]:
    yield Row("version", 19.0, 10.0)


def missed(runs: int) -> Iterator[Row]:
    yield Row("version", 21.0, 10.0)


def unseen(runs: int) -> Iterator[Row]:
    yield Row("version", 19.0, 10.0)
    raise ScreenError("the last block is not on the screen")


def test_the_documented_table_has_every_row_with_its_budget(root: Path) -> None:
    text = (root / "docs" / "benchmarks.md").read_text()
    documented = {row["name"]: row["budget"] for row in ROW.finditer(text) if row["name"] not in ("what", "---")}
    assert documented == {budget.name: budget.words for budget in BUDGETS.values()}


def test_every_bench_has_budgets_and_every_budget_a_bench() -> None:
    assert list(dict.fromkeys(budget.bench for budget in BUDGETS.values())) == list(bench.BENCHES)


@pytest.mark.parametrize(
    ("row", "measure", "holds"),
    [
        (Row("version", 20.0, 10.0), 2.0, True),
        (Row("version", 20.1, 10.0), 2.01, False),
        (Row("version", 20.0, 0.0), float("inf"), False),
        (Row("mcp", 1.5, 1.0), 0.5, True),
        (Row("mcp", 1.6, 1.0), 0.6, False),
        (Row("mcp", 0.4), float("inf"), False),
        (Row("growth", 25.0), 25.0, True),
        (Row("left", 1.0), 1.0, False),
        (Row("growth", float("nan")), float("nan"), False),
    ],
)
def test_a_budget_is_a_ratio_a_difference_or_a_limit(row: Row, measure: float, holds: bool) -> None:
    assert row.measure == pytest.approx(measure, nan_ok=True)
    assert row.holds is holds


def test_a_budget_that_holds_exits_0_and_is_written_down(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["--json", str(tmp_path / "rows.json")], {"version": holding}) == 0
    assert "1.90 x       2 x  holds" in capsys.readouterr().out
    [row] = json.loads((tmp_path / "rows.json").read_text())
    assert (row["key"], row["figure"], row["measure"], row["budget"], row["holds"]) == ("version", 19.0, 1.9, 2.0, True)


def test_a_missed_budget_exits_1_and_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main([], {"version": missed}) == 1
    assert "missed: --version" in capsys.readouterr().out


def test_a_screen_without_the_last_block_exits_1_and_the_other_benches_still_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert bench.main([], {"long": unseen, "version": holding}) == 1
    printed = capsys.readouterr().out
    assert "not measured: long" in printed
    assert printed.count("holds") == 2


def test_a_bench_that_is_not_asked_for_does_not_run() -> None:
    assert bench.main(["--only", "version"], {"long": unseen, "version": holding}) == 0


def test_a_program_that_does_not_show_the_last_block_is_no_measurement(tmp_path: Path) -> None:
    place = Place(tmp_path, tmp_path, {"PATH": "/usr/bin:/bin"})
    program = [sys.executable, "-c", "import time; print('block 41', flush=True); time.sleep(60)"]
    with settled(place, program, "block 41") as terminal:
        assert terminal.shows("block 41")
    with (
        pytest.raises(ScreenError, match="'block 42' did not come"),
        settled(place, program, "block 42", patience=0.5),
    ):
        pass


def test_an_answer_of_the_scripted_model_is_the_same_each_time_and_ends_with_its_mark() -> None:
    tokens = model_server.tokens_of(5_000, "m001")
    assert tokens == model_server.tokens_of(5_000, "m001")
    assert len(tokens) == 5_000
    assert max(len(token.strip()) for token in tokens[:-2]) <= 5
    assert tokens[-1] == "endm001"
    assert "".join(tokens).count("```") % 2 == 0
