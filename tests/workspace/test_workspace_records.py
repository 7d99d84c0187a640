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


async def test_what_a_run_changed_is_listed_and_its_differences_are_made_from_kept_contents(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.txt").write_text("one\ntwo\n")
    calls = [
        {"name": "write", "arguments": {"path": "b.txt", "content": "new\n"}},
        {"name": "read", "arguments": {"path": "a.txt"}},
        {"name": "edit", "arguments": {"path": "a.txt", "old": "two", "new": "TWO"}},
    ]
    (tmp_path / "play.yaml").write_text(json.dumps({"turns": [{"tools": calls}, {"text": "done"}]}))
    environ = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    options = OpenOptions(flags=Flags(model=f"replay:{tmp_path / 'play.yaml'}"), environ=environ, policy="allow")
    workspace = await Workspace.open(project, options)
    try:
        live = await workspace.new_session()
        subscription = live.stream.subscribe()
        await workspace.start_session(live)
        await live.send(Submit("go"))
        async with asyncio.timeout(30):
            async for envelope in subscription:
                if isinstance(envelope.event, RunFinished):
                    break
        await live.flush()
        records = SessionRecords(workspace)
        (run,) = await records.changes(live.id)
        files = [(event.path, event.before, event.after) for _, event in run.files]
        assert ([path for path, _, _ in files], run.undone) == (["b.txt", "a.txt"], False)
        assert await records.differences(files) == (
            "diff b.txt\n--- /dev/null\n+++ b.txt\n@@ -0,0 +1 @@\n+new\n"
            "diff a.txt\n--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n"
        )
        lost = await records.differences([("a.txt", "0" * 64, None)])
        assert lost.startswith("diff a.txt (the content is not kept")
    finally:
        await workspace.close()
