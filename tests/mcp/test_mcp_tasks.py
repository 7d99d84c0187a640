"""Calls that become tasks: polled, asked about, cancelled, taken up again after the server or the shell was killed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes.mcp_sinks import FakeSink

from harness_tui.config.settings import McpServerSettings
from harness_tui.core.calls import QuestionReply, QuestionRequest
from harness_tui.core.errors import HarnessError
from harness_tui.core.events import ToolProgress
from harness_tui.core.seams import ToolContext, ToolResult
from harness_tui.mcp.pool import McpPool
from harness_tui.mcp.task_records import TaskFolder, TaskRecord
from harness_tui.mcp.tasks import pace


class Jobs:
    """The server ``jobs`` over its file, in one pool after the other."""

    def __init__(
        self, make: Callable[..., McpPool], entry: McpServerSettings, store: Path, context: ToolContext
    ) -> None:
        self._make = make
        self._entry = entry
        self.store = store
        self.context = context
        self.folder = TaskFolder(context.session_dir / "tasks")
        self.records: list[tuple[str, dict[str, Any]]] = []
        self.pool: McpPool

    async def open(self, *, people: bool = False) -> McpPool:
        self.pool = self._make(self._entry, people=people, audit=self)
        self.pool.start(eager=True)
        assert await self.pool.wait_started(30)
        return self.pool

    def record(self, kind: str, **fields: Any) -> None:
        self.records.append((kind, fields))

    async def call(self, tool: str, context: ToolContext | None = None) -> ToolResult:
        found = self.pool.find(f"jobs_{tool}")
        assert found is not None
        context = context or self.context
        return await found.run(await found.prepare({}, context), context)

    def go(self) -> None:
        self.store.with_suffix(".go").touch()

    def log(self) -> list[str]:
        file = self.store.with_suffix(".log")
        return [line.split()[0] for line in file.read_text().splitlines()] if file.exists() else []

    async def logged(self, method: str) -> None:
        async with asyncio.timeout(20):
            while method not in self.log():
                await asyncio.sleep(0.02)

    def tasks(self) -> list[dict[str, Any]]:
        return list(json.loads(self.store.read_text()).values())


@pytest.fixture
async def jobs(server: Any, make_pool: Any, tmp_path: Path, context: ToolContext) -> Jobs:
    store = tmp_path / "jobs.json"
    return Jobs(make_pool, server("jobs", env={"STORE": str(store)}), store, context)


async def test_a_task_is_polled_its_progress_told_its_questions_put_and_its_file_gone(
    jobs: Jobs, sink: FakeSink
) -> None:
    asked: list[str] = []

    async def ask(request: QuestionRequest) -> QuestionReply:
        asked.append(request.title)
        await asyncio.sleep(0.15)  # longer than two looks
        return QuestionReply("accept", {"sure": True})

    await jobs.open(people=True)
    assert (await jobs.call("plain")).output == "plain"
    running = asyncio.create_task(jobs.call("work"))
    await jobs.logged("get")
    (kept,) = jobs.folder.all()
    assert (kept.server, kept.tool, kept.name, kept.call) == ("jobs", "work", "jobs_work", "c1")
    jobs.go()
    result = await running
    assert (result.output, result.is_error) == ("done with work", False)
    assert {event.message for event in sink.of(ToolProgress)} == {"task: half way"}
    result = await jobs.call("confirm", replace(jobs.context, ask=ask))
    assert result.output == 'done with confirm ["accept", "accept"]'
    assert asked == ["Are you sure?", "Are you sure?"]
    with pytest.raises(HarnessError, match="answered with error -32603: the disk is full"):
        await jobs.call("broken")
    assert jobs.folder.all() == []
    calls = [fields for kind, fields in jobs.records if kind == "mcp_call"]
    assert [(call.get("task"), call["result"]) for call in calls] == [
        (None, "ok"),
        (True, "ok"),
        (True, "ok"),
        (True, "broken: answered with error -32603: the disk is full"),
    ]
    assert len({call["trace"] for call in calls}) == 4


async def test_a_task_ends_with_a_cancel_and_where_it_asks_and_nobody_answers(jobs: Jobs) -> None:
    await jobs.open()
    with pytest.raises(HarnessError, match="Elicitation not supported"):
        await jobs.call("confirm")
    assert [task["status"] for task in jobs.tasks()] == ["cancelled"]
    before = len(jobs.log())
    running = asyncio.create_task(jobs.call("work"))
    async with asyncio.timeout(20):
        while "get" not in jobs.log()[before:]:
            await asyncio.sleep(0.02)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await jobs.pool.close()
    assert [task["status"] for task in jobs.tasks()] == ["cancelled", "cancelled"]
    assert jobs.folder.all() == []


async def test_a_task_outlives_its_server(jobs: Jobs) -> None:
    await jobs.open()
    jobs.go()
    assert (await jobs.call("dies")).output == "done with dies"
    assert jobs.log().count("create") == 1
    assert jobs.folder.all() == []


async def test_a_task_outlives_the_shell_and_is_not_cancelled_by_the_end_of_the_next(jobs: Jobs) -> None:
    left = {"left": {"tool": "work", "status": "working"}}
    jobs.store.write_text(json.dumps(left))  # as a shell that is killed leaves it
    ids = (("c1", "left"), ("c2", "unknown"))
    kept = [TaskRecord("jobs", "work", "jobs_work", *both, began=began) for began, both in enumerate(ids)]
    for task in kept:
        jobs.folder.keep(task)
    pool = await jobs.open()
    first, second = pool.tasks.left_over(jobs.context.session_dir)
    assert [(work.call, work.tool, work.server) for work in (first, second)] == [
        ("c1", "jobs_work", "jobs"),
        ("c2", "jobs_work", "jobs"),
    ]
    forgotten = await pool.tasks.result(second, jobs.context)
    assert forgotten.is_error
    assert "answered with error -32602: no such task" in forgotten.output
    waiting = asyncio.create_task(pool.tasks.result(first, jobs.context))
    await jobs.logged("get")
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert [task["status"] for task in jobs.tasks()] == ["working"]
    jobs.go()
    assert (await pool.tasks.result(first, jobs.context)).output == "done with work"
    assert "cancel" not in jobs.log()
    assert jobs.folder.all() == kept
    pool.tasks.delivered(first, jobs.context.session_dir)
    assert jobs.folder.all() == kept[1:]


def test_files_of_tasks_are_private_and_a_damaged_one_costs_no_other(tmp_path: Path) -> None:
    folder = TaskFolder(tmp_path / "tasks")
    one = TaskRecord("s", "t", "s_t", "c1", "../../id", 2.0)
    folder.keep(one)
    (file,) = (tmp_path / "tasks").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    (tmp_path / "tasks" / "bad.json").write_text("{")
    assert folder.all() == [one]
    folder.drop(one)
    assert folder.all() == []


@pytest.mark.parametrize(
    ("wanted", "pause"),
    [(None, 1.0), (2.5, 2.5), (0.0, 0.05), (-3.0, 0.05), (1e9, 60.0), (float("nan"), 1.0), (float("inf"), 1.0)],
)
def test_the_pace_that_a_server_names_is_kept_within_reason(wanted: float | None, pause: float) -> None:
    assert pace(wanted) == pause
