"""Calls of tools: each made once, followed where it becomes a task, recorded in the audit log with its trace."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from harness_tui.core.errors import HarnessError
from harness_tui.core.seams import AuditSink
from harness_tui.core.tracing import traced
from harness_tui.mcp.deadlines import OnProgress
from harness_tui.mcp.listing import CallOutcome
from harness_tui.mcp.reasons import CallError
from harness_tui.mcp.supervisor import Supervisor
from harness_tui.mcp.task_records import OpenCall, TaskFolder, TaskRecord, open_call, opening

if TYPE_CHECKING:
    from mcp import Client

RECONNECTS: Final = 5
"""How often a task is taken up again whose server goes away."""


class Calling:
    """Makes the calls of one pool. ``find`` returns a supervisor by name, or raises ``HarnessError``."""

    def __init__(self, find: Callable[[str], Supervisor], audit: AuditSink | None) -> None:
        self._find = find
        self._audit = audit

    async def call(
        self,
        server: str,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        on_progress: OnProgress | None,
        fingerprint: str | None,
    ) -> CallOutcome:
        """Call ``tool`` of ``server``. Raises as :meth:`McpPool.call` does."""
        supervisor = self._find(server)
        call = open_call() or OpenCall(server, tool)

        async def made() -> CallOutcome:
            with opening(call):
                return await supervisor.call_tool(
                    tool, dict(arguments), on_progress=on_progress, fingerprint=fingerprint
                )

        return await self._recorded("mcp_call", call, lambda: self._to_the_end(supervisor, call, made, on_progress))

    async def follow(self, task: TaskRecord, folder: TaskFolder, on_progress: OnProgress | None) -> CallOutcome:
        """Go on with a task of an earlier process until it has ended. Raises ``HarnessError``."""
        call = OpenCall.of(task, folder)
        supervisor = self._find(task.server)
        again = self._taking_up(supervisor, call, on_progress)
        return await self._recorded("mcp_task", call, lambda: self._to_the_end(supervisor, call, again, on_progress))

    async def _to_the_end(
        self,
        supervisor: Supervisor,
        call: OpenCall,
        first: Callable[[], Any],
        on_progress: OnProgress | None,
    ) -> CallOutcome:
        """Do ``first``; while the task behind it lives on and its server does not, start that and ask again."""
        attempt = first
        for left in range(RECONNECTS, -1, -1):
            try:
                return await attempt()
            except CallError as error:
                if not (call.open and error.lost and left):
                    raise  # what is still open is kept, and gone on with when the session is opened again
            attempt = self._taking_up(supervisor, call, on_progress)
        raise AssertionError("the last attempt raises")

    def _taking_up(self, supervisor: Supervisor, call: OpenCall, on_progress: OnProgress | None) -> Callable[[], Any]:
        async def follow(client: Client, report: OnProgress) -> CallOutcome:
            from harness_tui.mcp.tasks import follow as follow_task  # the SDK is there by now

            call.report = report
            result = await follow_task(client.session, call)
            content = tuple(block.model_dump(by_alias=True, exclude_none=True) for block in result.content)
            return CallOutcome(content, result.structured_content, result.is_error)

        return lambda: supervisor.follow(f"the task of {call.tool}", follow, on_progress)

    async def _recorded(self, kind: str, call: OpenCall, work: Callable[[], Any]) -> CallOutcome:
        began, result = time.monotonic(), "cancelled"
        with traced() as trace:
            try:
                outcome: CallOutcome = await work()
                result = "error" if outcome.is_error else "ok"
            except HarnessError as error:
                result = error.what
                raise
            finally:
                if self._audit is not None:
                    elapsed = round((time.monotonic() - began) * 1000)
                    more = {"task": True} if call.task is not None else {}
                    self._audit.record(
                        kind,
                        server=call.server,
                        tool=call.tool,
                        call=call.call or None,
                        result=result,
                        elapsed_ms=elapsed,
                        trace=trace,
                        **more,
                    )
        return outcome
