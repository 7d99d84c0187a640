"""A library without what is never asked of it, each import in a process of its own."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from harness_tui.models.library_parts import UNUSED

LEAN = """
from harness_tui.models.library_dialects import DIALECTS, load
load(DIALECTS["anthropic"])
"""
COUNT = "import sys; print(len([m for m in sys.modules if m.startswith('anthropic.')]))"


def printed(code: str, folder: Path) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("package", sorted(UNUSED))
def test_what_is_left_out_is_there(package: str) -> None:
    folder = Path(importlib.util.find_spec("anthropic").submodule_search_locations[0])  # type: ignore[union-attr,index]
    path = folder.joinpath(*package.split(".")[1:])
    assert path.is_dir() or path.with_suffix(".py").is_file()


def test_a_third_of_the_library_is_not_imported_and_messages_work(tmp_path: Path) -> None:
    code = f"""{LEAN}
import anthropic, sys
client = anthropic.AsyncAnthropic(api_key="k")
assert client.beta.messages.create and client.messages.create
stand_ins = [m for m in sys.modules if m.startswith("anthropic.types.beta.organization")]
assert all(sys.modules[m].__spec__.origin is None for m in stand_ins), stand_ins
assert not [finder for finder in sys.meta_path if type(finder).__name__ == "LeftOut"]
{COUNT}"""
    assert int(printed(code, tmp_path)) < 2400
