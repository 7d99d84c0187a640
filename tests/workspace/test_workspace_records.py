"""Recorded sessions for people: forks before a message, exports under free names."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from harness_tui.config.loader import Flags
from harness_tui.core.errors import HarnessError
from harness_tui.core.events import RunFinished
from harness_tui.core.intents import Submit
from harness_tui.workspace.records import ForkPoint, SessionRecords
from harness_tui.workspace.workspace import OpenOptions, Workspace


async def test_a_session_of_two_messages_is_forked_and_exported_while_it_is_open(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "play.yaml").write_text("turns: [{text: one}, {text: two}]\n")
    environ = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    options = OpenOptions(flags=Flags(model=f"replay:{tmp_path / 'play.yaml'}"), environ=environ)
    workspace = await Workspace.open(project, options)
    try:
        live = await workspace.new_session()
        subscription = live.stream.subscribe()
        await workspace.start_session(live)
        for text in ("first", "second"):
            await live.send(Submit(text))
            async with asyncio.timeout(30):
                async for envelope in subscription:
                    if isinstance(envelope.event, RunFinished):
                        break
            await live.flush()
        records = SessionRecords(workspace)
        points = await records.fork_points(live.id)
        assert [point.text for point in points] == ["second", "first"]
        made = await records.fork(live.id, points[0].seq)
        assert await records.fork_points(made) == [ForkPoint(points[1].seq, "first")]
        assert "\ntwo\n" in await records.text(live.id)
        assert "\ntwo\n" not in await records.text(made)
        for target, name in (("", "md"), ("json", "json"), ("html", "html"), ("./my.json", "my.json")):
            told = await records.export(live.id, target)
            assert "bytes" in told
            file = project / (name if "." in name else f"harness-{live.id}.{name}")
            assert file.exists(), told
        assert json.loads((project / "my.json").read_text())["session"]["id"] == live.id
        await records.export(live.id, "md")
        assert (project / f"harness-{live.id}-2.md").exists()
        with pytest.raises(HarnessError, match="such a file"):
            await records.export(live.id, "my.json")
    finally:
        await workspace.close()
