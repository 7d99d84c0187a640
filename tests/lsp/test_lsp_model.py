"""Whatever a server does, no verdict is ever fresh for another text than the one on disk."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

import pytest
from fakes.fake_language_server import FakeLives, FakePlan, Fault, Way
from fakes.lsp_sinks import FakeEventSink
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness_tui.config.settings import LspServerSettings, LspSettings
from harness_tui.core.values import Verdict
from harness_tui.lsp.built_in import BUILT_IN
from harness_tui.lsp.lifecycle import Timings
from harness_tui.lsp.pool import LspPool

WAYS: tuple[Way, ...] = ("pull", "late pull", "push", "push without version")
FAULTS: tuple[Fault, ...] = ("", "", "stale", "twice", "modified", "cancelled", "silent", "dies", "error", "same")
DELAYS = (0.0, 0.0, 0.003, 0.02)

steps = st.lists(st.tuples(st.sampled_from(FAULTS), st.sampled_from(DELAYS)), max_size=8)
moves = st.lists(
    st.tuples(
        st.sampled_from(("write", "write", "ask again", "write while asked", "rewrite the same")),
        st.sampled_from((0.0, 0.03, 0.15)),
    ),
    min_size=1,
    max_size=6,
)


class Model:
    """What is true: the texts that the file has held, and which of them a verdict may be about."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.texts: list[str] = []
        self.fresh = 0

    def write(self) -> None:
        self.texts.append(f"text {len(self.texts)}")
        self.rewrite()

    def rewrite(self) -> None:
        """Put the last text into the file at once: one that is written in place is empty for a moment."""
        new = self.file.with_suffix(".new")
        new.write_text(f"{self.texts[-1]}\n")
        new.replace(self.file)

    def check(self, verdict: Verdict, since: int) -> None:
        """Compare a verdict with the texts from number ``since`` on: those that were on disk while it was made."""
        if verdict.verdict not in ("fresh", "unchanged"):
            assert verdict.reason, verdict
            return
        self.fresh += 1
        assert [item.message in self.texts[since:] for item in verdict.items] == [True], (verdict, self.texts, since)


async def play(folder: Path, plan: FakePlan, done: list[tuple[str, float]]) -> Model:
    """Let a person and a server do what was drawn; return the model after every verdict was compared with it."""
    servers = {spec.name: LspServerSettings(spec.name, disabled=True) for spec in BUILT_IN}
    servers["fake"] = LspServerSettings("fake", command=(sys.executable,), extensions=(".txt",))
    model, sink = Model(folder / "a.txt"), FakeEventSink()
    pool = LspPool(
        folder,
        LspSettings(servers=servers, wait_ms=150),
        spawner=FakeLives(plan),
        sink=sink,
        trusted=False,
        cold_wait=0.15,
        environ={},
        timings=Timings(backoff=(0.005,), inquiry=0.5),
    )
    try:
        model.write()
        for move, wait in done:
            since = len(model.texts) - 1
            if move == "write":
                model.write()
                since += 1
            if move == "rewrite the same":
                model.rewrite()
            if move == "write while asked":
                asking = asyncio.gather(pool.diagnostics(model.file, wait), pool.diagnostics(model.file, 0.15))
                await asyncio.sleep(0.002)
                model.write()
                await pool.touch(model.file)
                for verdict in await asking:
                    model.check(verdict, since)
            else:
                await pool.touch(model.file)
                model.check(await pool.diagnostics(model.file, wait), since)
        model.check(await pool.diagnostics(model.file, 0.3), len(model.texts) - 1)
        for late in pool.take_late():
            assert [item.message in model.texts for item in late.items] == [True]
    finally:
        await pool.close()
    return model


def played(way: Way, faults: list[tuple[Fault, float]], done: list[tuple[str, float]]) -> Model:
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(play(Path(folder).resolve(), FakePlan(way, faults), done))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(way=st.sampled_from(WAYS), faults=steps, done=moves)
def test_no_verdict_is_fresh_for_a_text_that_is_not_on_disk(
    way: Way, faults: list[tuple[Fault, float]], done: list[tuple[str, float]]
) -> None:
    played(way, faults, done)


@pytest.mark.parametrize("way", WAYS)
def test_an_honest_server_is_believed_in_every_way(way: Way) -> None:
    model = played(way, [], [("write", 0.15), ("ask again", 0.15), ("write", 0.15)])
    assert model.fresh == 4
