"""Arrows point down: the import contracts hold, and a seeded violation breaks them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

LINT_IMPORTS = Path(sys.executable).parent / "lint-imports"


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(LINT_IMPORTS), "--no-cache"], cwd=folder, capture_output=True, text=True, timeout=100, check=False
    )


@pytest.fixture
def copy(root: Path, tmp_path: Path) -> Path:
    """A copy of the packages that a test may spoil."""
    shutil.copytree(root / "harness_tui", tmp_path / "harness_tui", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(root / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_contracts_hold(root: Path) -> None:
    done = lint(root)
    assert done.returncode == 0, done.stdout


def test_seeded_violations_of_each_contract_are_found(copy: Path) -> None:
    seeds = {
        "core/seeded.py": "from harness_tui.config import settings\n",
        "permissions/seeded.py": "import textual\n",
        "tools/seeded.py": "import prompt_toolkit\n",
        "sessions/seeded.py": "def f() -> None:\n    import pydantic\n",
    }
    for name, source in seeds.items():
        (copy / "harness_tui" / name).write_text(source)
    done = lint(copy)
    assert done.returncode == 1
    for name in ("core.seeded", "permissions.seeded", "tools.seeded", "sessions.seeded"):
        assert f"harness_tui.{name}" in done.stdout
    assert "Contracts: 0 kept, 4 broken." in done.stdout


def test_a_package_that_no_layer_knows_is_found(copy: Path) -> None:
    (copy / "harness_tui" / "stray").mkdir()
    (copy / "harness_tui" / "stray" / "__init__.py").write_text("")
    done = lint(copy)
    assert done.returncode == 1
    assert "stray" in done.stdout
