"""``harness protocol`` writes and checks the contract's files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness_tui.cli.app import run_verb
from harness_tui.contract.drift import SCHEMA_FILE


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = run_verb(["protocol", *words])
    return code, capsys.readouterr().out


def test_generate_writes_below_the_root_and_check_agrees(capsys, tmp_path: Path) -> None:
    path = tmp_path / "protocol" / SCHEMA_FILE
    assert run(capsys, "generate", "--root", str(tmp_path)) == (0, f"{path}\n")
    assert run(capsys, "generate", "--root", str(tmp_path)) == (0, "Nothing changed.\n")
    assert run(capsys, "check", "--root", str(tmp_path)) == (0, f"{tmp_path}/protocol agrees with the code.\n")
    assert run(capsys, "check", "--root", str(tmp_path), "--json") == (0, "[]\n")


def test_drift_is_exit_code_one_and_names_file_and_remedy(capsys, tmp_path: Path) -> None:
    run(capsys, "generate", "--root", str(tmp_path))
    path = tmp_path / "protocol" / SCHEMA_FILE
    path.write_text(path.read_text().replace('"seq"', '"number"'))
    code, out = run(capsys, "check", "--root", str(tmp_path), "--json")
    assert code == 1
    (problem,) = json.loads(out)
    assert problem["level"] == "error"
    assert problem["message"].startswith(f"{path}:")
    assert problem["message"].endswith("run harness protocol generate")


def test_without_a_folder_of_its_own_the_installed_files_are_checked(capsys, tmp_path: Path) -> None:
    code, out = run(capsys, "check", "--root", str(tmp_path))
    assert code == 0
    assert out.endswith("protocol agrees with the code.\n")
