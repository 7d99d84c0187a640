"""The extension ``io.modelcontextprotocol/tasks``: a server answers a call with a task, and is asked how it stands.

What the server wants to know meanwhile is put to the person as it would be in a call. Progress is told at each look; a
cancel is handed on. Imports the SDK: loaded with the first server, in a thread.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, ClassVar, Final, Literal

from mcp import MCPError
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.client.session import ClientRequestContext, ClientSession
from mcp_types import (
    INTERNAL_ERROR,
    CallToolResult,
    ErrorData,
    InputRequests,
    InputResponses,
    Request,
    RequestParams,
    Result,
)

from harness_tui.mcp.reasons import CONNECTION_CLOSED, CallError, one_line
from harness_tui.mcp.task_records import OpenCall, TaskRecord, open_call

EXTENSION: Final = "io.modelcontextprotocol/tasks"
INPUT_REQUESTS: Final = 50
"""How many things one task may ask."""

_POLL_S: Final = 1.0
_SHORTEST_S: Final = 0.05
_LONGEST_S: Final = 60.0
_CANCEL_S: Final = 3.0

Status = Literal["working", "input_required", "completed", "cancelled", "failed"]


class CreateTaskResult(Result):
    """The answer to a call that has become a task."""

    result_type: Literal["task"]
    task_id: str
    status: Status = "working"
    status_message: str | None = None
    poll_interval_ms: float | None = None


class TaskParams(RequestParams):
    """The task that is meant."""

    task_id: str


class UpdateTaskParams(TaskParams):
    """Answers to what a task asked."""

    input_responses: InputResponses


class GetTaskRequest(Request[TaskParams, Literal["tasks/get"]]):
    """Asks how a task stands."""

    name_param: ClassVar[str | None] = "taskId"
    method: Literal["tasks/get"] = "tasks/get"
    params: TaskParams


class UpdateTaskRequest(Request[UpdateTaskParams, Literal["tasks/update"]]):
    """Answers what a task asked."""

    name_param: ClassVar[str | None] = "taskId"
    method: Literal["tasks/update"] = "tasks/update"
    params: UpdateTaskParams


class CancelTaskRequest(Request[TaskParams, Literal["tasks/cancel"]]):
    """Asks for the end of a task."""

    name_param: ClassVar[str | None] = "taskId"
    method: Literal["tasks/cancel"] = "tasks/cancel"
    params: TaskParams


class GetTaskResult(Result):
    """How a task stands."""

    status: Status
    status_message: str | None = None
    poll_interval_ms: float | None = None
    input_requests: InputRequests | None = None
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


class Tasks(ClientExtension):
    """Takes tasks in the place of answers."""

    identifier = EXTENSION

    def __init__(self, server: str) -> None:
        self._server = server

    def claims(self) -> Sequence[ResultClaim[Any]]:
        """Say that a task is an answer to a call."""
        return (ResultClaim(result_type="task", model=CreateTaskResult, resolve=self._resolve),)

    async def _resolve(self, created: CreateTaskResult, context: ClaimContext) -> CallToolResult:
        call = open_call() or OpenCall(self._server, context.tool_name)
        poll_s = created.poll_interval_ms / 1000 if created.poll_interval_ms is not None else None
        task = created.task_id
        call.task = TaskRecord(self._server, call.tool, call.name, call.call, task, poll_s, time.time())
        call.open = True
        if call.folder is not None:
            with suppress(OSError):  # it is followed all the same, it only does not outlive this process
                await asyncio.to_thread(call.folder.keep, call.task)
        return await follow(context.session, call)


async def follow(session: ClientSession, call: OpenCall) -> CallToolResult:
    """Wait for the end of the task of ``call`` and return its result.

    Raises what the SDK raises: when the connection is lost the task stays open. A cancel is handed on to the server,
    unless ``call`` says otherwise.
    """
    assert call.task is not None
    params = TaskParams(task_id=call.task.task)
    try:
        outcome = await _until_done(session, call, params)
    except asyncio.CancelledError:
        if not call.cancels:
            raise
        with suppress(MCPError, TimeoutError, ValueError):
            async with asyncio.timeout(_CANCEL_S):
                await session.send_request(CancelTaskRequest(params=params), Result)
        await _ended(call)
        raise
    await _ended(call)
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


async def _until_done(session: ClientSession, call: OpenCall, params: TaskParams) -> CallToolResult | Exception:
    """Return the result, or the error that a task ended with; what is raised leaves the task open."""
    assert call.task is not None
    began, pause = time.monotonic(), call.task.poll_s
    while True:
        await asyncio.sleep(pace(pause))
        try:
            state = await session.send_request(GetTaskRequest(params=params), GetTaskResult)
        except MCPError as error:
            if _is_lost(error):
                raise
            return error  # it does not know the task, or does not know it any more
        if state.poll_interval_ms is not None:
            pause = state.poll_interval_ms / 1000
        if call.report is not None:
            said = state.status_message or state.status.replace("_", " ")
            call.report(round(time.monotonic() - began, 1), None, f"task: {said}")
        match state.status:
            case "completed":
                return CallToolResult.model_validate(state.result or {"content": []})
            case "failed":
                found = state.error or {}
                code, message = found.get("code"), found.get("message")
                words = str(message or state.status_message or "the task failed")
                return MCPError(code if isinstance(code, int) else INTERNAL_ERROR, words)
            case "cancelled":
                reason = f": {one_line(state.status_message)}" if state.status_message else ""
                return CallError(f"{call.tool}: the server cancelled it{reason}", where=f"MCP server {call.server}")
            case "input_required":
                refused = await _answer(session, call, params, state.input_requests or {})
                if refused is not None:
                    return refused
            case "working":
                pass


def pace(wanted: float | None) -> float:
    """Return the seconds until the next look: what the server wants, where that makes sense."""
    if wanted is None or not math.isfinite(wanted):
        return _POLL_S
    return min(max(wanted, _SHORTEST_S), _LONGEST_S)


async def _answer(session: ClientSession, call: OpenCall, params: TaskParams, asked: InputRequests) -> Exception | None:
    """Answer what was not answered before, each as soon as it is; return why the task cannot go on."""
    for key, request in asked.items():
        if key in call.answered:
            continue
        if len(call.answered) >= INPUT_REQUESTS:
            too_many = MCPError(INTERNAL_ERROR, f"it asked more than {INPUT_REQUESTS} things")
            return await _give_up(session, params, too_many)
        meta = request.params.meta if request.params is not None else None
        context = ClientRequestContext(session=session, request_id=key, meta=meta)
        answer = await session.dispatch_input_request(context, request)
        if isinstance(answer, ErrorData):
            return await _give_up(session, params, MCPError.from_error_data(answer))
        update = UpdateTaskParams(task_id=params.task_id, input_responses={key: answer})
        await session.send_request(UpdateTaskRequest(params=update), Result)
        call.answered.add(key)
    return None


async def _give_up(session: ClientSession, params: TaskParams, why: Exception) -> Exception:
    with suppress(MCPError, ValueError):
        await session.send_request(CancelTaskRequest(params=params), Result)
    return why


async def _ended(call: OpenCall) -> None:
    call.open = False
    if call.cancels and call.folder is not None and call.task is not None:
        with suppress(OSError):
            await asyncio.to_thread(call.folder.drop, call.task)


def _is_lost(error: MCPError) -> bool:
    """Tell whether it is the connection that failed, and not the task."""
    return error.code == CONNECTION_CLOSED
