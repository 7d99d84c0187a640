"""The committed contract is what the code makes, and a difference names the file and its remedy."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from harness_tui.contract.drift import SCHEMA_FILE, artifacts, check, generate
from harness_tui.core.errors import HarnessError

PROTOCOL = Path(__file__).parents[2] / "protocol"


def test_the_committed_files_are_what_the_code_makes() -> None:
    assert check(PROTOCOL) == []


def test_generating_writes_once_and_then_changes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "protocol"
    assert generate(folder) == [folder / SCHEMA_FILE]
    assert generate(folder) == []
    assert check(folder) == []
    assert json.loads((folder / SCHEMA_FILE).read_text())["$defs"]["Redo"]["required"] == ["intent"]


def test_a_change_by_hand_is_named_with_its_line_and_the_command_that_mends_it(tmp_path: Path) -> None:
    generate(tmp_path)
    path = tmp_path / SCHEMA_FILE
    lines = path.read_text().splitlines(keepends=True)
    lines[1] = lines[1].replace("$defs", "$definitions")
    path.write_text("".join(lines))
    (problem,) = check(tmp_path)
    assert problem == (
        f'{path}:2: differs from the code: "$definitions": {{ instead of "$defs": {{; run harness protocol generate'
    )


@pytest.mark.parametrize(
    "damage", [lambda text: text[:-1], lambda text: text.replace("  ", "\t"), lambda text: text + "\n"]
)
def test_a_difference_of_blanks_is_a_difference(tmp_path: Path, damage) -> None:
    generate(tmp_path)
    path = tmp_path / SCHEMA_FILE
    path.write_text(damage(path.read_text()))
    assert len(check(tmp_path)) == 1


def test_a_missing_file_a_folder_and_a_fifo_are_named(tmp_path: Path) -> None:
    path = tmp_path / SCHEMA_FILE
    assert check(tmp_path) == [f"{path}: No such file or directory; run harness protocol generate"]
    path.mkdir()
    assert check(tmp_path) == [f"{path}: this is a folder, not a regular file; run harness protocol generate"]
    path.rmdir()
    os.mkfifo(path)
    assert check(tmp_path) == [f"{path}: this is a FIFO, not a regular file; run harness protocol generate"]


def test_bytes_that_are_no_text_are_a_difference(tmp_path: Path) -> None:
    (tmp_path / SCHEMA_FILE).write_bytes(b"\xff\xfe\x00")
    assert len(check(tmp_path)) == 1


def test_a_folder_that_cannot_be_written_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HarnessError, match="cannot be written"):
        generate(tmp_path / "file" / "protocol")


def test_a_field_that_the_code_gains_shows_up_as_drift(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generate(tmp_path)
    text = artifacts()[SCHEMA_FILE].replace('"output_delta"', '"output_part"')
    monkeypatch.setattr("harness_tui.contract.drift.artifacts", lambda: {SCHEMA_FILE: text})
    (problem,) = check(tmp_path)
    assert '"output_delta": { instead of "output_part": {' in problem
