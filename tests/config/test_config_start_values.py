"""The small file of what was last chosen of the screen: losing it loses nothing that matters."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness_tui.config.start_values import keep_start_values, read_start_values


def test_values_are_kept_beside_those_that_are_there(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "start.json"
    keep_start_values(path, {"theme": "dark"})
    keep_start_values(path, {"panel_columns": 50})
    assert read_start_values(path) == {"theme": "dark", "panel_columns": 50}
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "text",
    ["", "[1]", "{", "\xff", "{}" + " " * 70_000 + "x", "[" * 10_000],
    ids=["empty", "list", "open", "bytes", "long", "deep"],
)
def test_a_file_that_is_not_what_it_should_be_counts_as_empty_and_is_written_anew(tmp_path: Path, text: str) -> None:
    path = tmp_path / "start.json"
    path.write_text(text, encoding="latin-1")
    assert read_start_values(path) == {}
    keep_start_values(path, {"a": 1})
    assert read_start_values(path) == {"a": 1}


def test_a_file_that_cannot_be_written_is_left(tmp_path: Path) -> None:
    (tmp_path / "start.json").mkdir()
    keep_start_values(tmp_path / "start.json", {"a": 1})
    assert read_start_values(tmp_path / "start.json") == {}
