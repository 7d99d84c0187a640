"""A person's key goes before an import in a thread."""

from __future__ import annotations

import importlib
import sys
import threading
from pathlib import Path

import pytest

from harness_tui.core import foreground
from harness_tui.core.foreground import KeysFirst, key_arrived, let_keys_pass


class FakeClock:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    made = FakeClock()
    monkeypatch.setattr(foreground, "time", made)
    monkeypatch.setattr(foreground, "_until", 0.0)
    return made


def test_work_waits_while_a_key_is_handled_and_no_longer(clock: FakeClock) -> None:
    let_keys_pass()
    assert clock.slept == []
    key_arrived()
    let_keys_pass()
    assert sum(clock.slept) == pytest.approx(0.025)
    let_keys_pass()
    assert sum(clock.slept) == pytest.approx(0.025)


def test_a_key_that_is_held_down_does_not_stop_the_work(clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    key_arrived()
    slept = clock.sleep

    def sleep(seconds: float) -> None:
        slept(seconds)
        key_arrived()

    monkeypatch.setattr(clock, "sleep", sleep)
    let_keys_pass()
    assert sum(clock.slept) == pytest.approx(0.1)


def test_keys_pass_before_each_module_of_the_thread_that_imports(
    clock: FakeClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("heavy_one", "heavy_two", "heavy_three"):
        (tmp_path / f"{name}.py").write_text("")
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = list(sys.meta_path)
    with KeysFirst():
        for name in ("heavy_one", "heavy_two"):
            key_arrived()
            importlib.import_module(name)
        waited = sum(clock.slept)
        key_arrived()
        other = threading.Thread(target=importlib.import_module, args=("heavy_three",))
        other.start()
        other.join(10)
    assert waited == pytest.approx(0.05)
    assert sum(clock.slept) == pytest.approx(0.05)
    assert sys.meta_path == before
    assert {"heavy_one", "heavy_two", "heavy_three"} <= sys.modules.keys()
    for name in ("heavy_one", "heavy_two", "heavy_three"):
        monkeypatch.delitem(sys.modules, name)
