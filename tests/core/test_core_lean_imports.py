"""A library without what is never asked of it, each import in a process of its own; and the collector that is held."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness_tui.core.lean_imports import no_pauses


def printed(code: str, folder: Path) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def library(folder: Path) -> Path:
    """Write a library whose top imports a part that nobody asks for, and that says so when it is imported."""
    package = folder / "large"
    (package / "extra").mkdir(parents=True)
    (package / "__init__.py").write_text("from large.extra.deep import Thing\nVALUE = 42\n")
    (package / "extra" / "__init__.py").write_text("print('extra')\n")
    (package / "extra" / "deep.py").write_text("Thing = 'the thing itself'\n")
    return package


LEAN = """
from harness_tui.core.lean_imports import forget_stand_ins, import_lean
import_lean(lambda: __import__("large"), library="large", unused=["large.extra"])
import large; print(large.VALUE, type(large.Thing).__name__)
"""


def test_what_is_left_out_is_an_empty_class(tmp_path: Path) -> None:
    library(tmp_path)
    assert printed(LEAN, tmp_path) == "42 type"
    assert printed(LEAN + "from large.extra.deep import Other; print(Other.__name__)", tmp_path) == "42 type\nOther"


def test_a_part_that_was_left_out_can_be_had_once_the_stand_ins_are_forgotten(tmp_path: Path) -> None:
    library(tmp_path)
    forget = LEAN + "forget_stand_ins('large'); print(hasattr(large, 'extra'))\n"
    code = forget + "from large.extra.deep import Thing; print(Thing)"
    assert printed(code, tmp_path).splitlines() == ["42 type", "False", "extra", "the thing itself"]


def test_a_library_that_breaks_without_its_parts_is_imported_whole(tmp_path: Path) -> None:
    package = library(tmp_path)
    (package / "__init__.py").write_text("from large.extra.deep import Thing\nVALUE = len(Thing) + 26\n")
    assert printed(LEAN, tmp_path) == "extra\n42 str"


def test_a_library_that_is_there_already_is_left_alone(tmp_path: Path) -> None:
    library(tmp_path)
    assert printed("import large\n" + LEAN, tmp_path) == "extra\n42 str"


# --- the collector -----------------------------------------------------------------------------------


@pytest.fixture
def collector() -> Iterator[None]:
    """The collector is on, and on again afterwards."""
    assert gc.isenabled()
    yield
    gc.enable()


@pytest.mark.usefixtures("collector")
def test_the_collector_is_held_only_meanwhile() -> None:
    frozen = gc.get_freeze_count()
    with no_pauses():
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_freeze_count() > frozen
    gc.disable()
    with no_pauses():
        pass
    assert not gc.isenabled()


@pytest.mark.usefixtures("collector")
def test_the_last_of_two_threads_lets_the_collector_go_and_gives_the_interval_back() -> None:
    interval = sys.getswitchinterval()
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with no_pauses():
            inside.set()
            leave.wait(10)

    with no_pauses():
        other = threading.Thread(target=hold)
        other.start()
        assert inside.wait(10)
        assert sys.getswitchinterval() < interval
    assert not gc.isenabled()
    leave.set()
    other.join(10)
    assert gc.isenabled()
    assert sys.getswitchinterval() == pytest.approx(interval)
