"""A server on the official SDK with the tasks extension; its tasks are in a file, so that they outlive it.

STORE is that file. ``work`` is a task that is done when a file ``STORE.go`` exists; ``confirm`` one that asks for a
form meanwhile, twice at two looks; ``broken`` one that fails; ``plain`` is answered at once. ``STORE.log`` gets each
method with the id of its task.
"""

import json
import os
import secrets
import signal
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.server.extension import Extension, MethodBinding
from mcp.server.mcpserver.server import require_client_extension
from mcp.shared.exceptions import MCPError
from official import MCPServer

STORE = Path(os.environ["STORE"])
LOG = STORE.with_suffix(".log")
GO = STORE.with_suffix(".go")
NAME = "io.modelcontextprotocol/tasks"
FORM = {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}


def load() -> dict[str, Any]:
    return json.loads(STORE.read_text()) if STORE.exists() else {}


def save(tasks: dict[str, Any]) -> None:
    new = STORE.with_suffix(".new")
    new.write_text(json.dumps(tasks))
    new.replace(STORE)


def log(method: str, task: str) -> None:
    with LOG.open("a") as file:
        file.write(f"{method} {task}\n")


class TaskParams(types.RequestParams):
    task_id: str


class UpdateParams(TaskParams):
    input_responses: dict[str, Any]


def found(context: Any, method: str, task: str) -> tuple[dict[str, Any], dict[str, Any]]:
    require_client_extension(context, NAME)
    log(method, task)
    tasks = load()
    if task not in tasks:
        raise MCPError(types.INVALID_PARAMS, "no such task")
    return tasks, tasks[task]


def shape(task: str, record: dict[str, Any]) -> dict[str, Any]:
    stamp = "2030-01-01T00:00:00Z"
    made = {"taskId": task, "status": record["status"], "createdAt": stamp, "lastUpdatedAt": stamp, "ttlMs": None}
    return made | {"pollIntervalMs": 50, "statusMessage": record.get("message", "")}


async def get_task(context: Any, params: TaskParams) -> dict[str, Any]:
    tasks, record = found(context, "get", params.task_id)
    if record.get("dies"):
        del record["dies"]
        save(tasks)
        os.kill(os.getpid(), signal.SIGKILL)
    if record["status"] == "working" and record["tool"] in ("work", "dies") and GO.exists():
        record["status"] = "completed"
        save(tasks)
    answer = {"resultType": "complete", **shape(params.task_id, record)}
    match record["status"]:
        case "input_required":
            ask = {"mode": "form", "message": "Are you sure?", "requestedSchema": FORM}
            answer["inputRequests"] = {record["key"]: {"method": "elicitation/create", "params": ask}}
        case "completed":
            text = f"done with {record['tool']} {record.get('answer', '')}".strip()
            answer["result"] = {"content": [{"type": "text", "text": text}]}
        case "failed":
            answer["error"] = {"code": -32603, "message": "the disk is full"}
        case _:
            pass
    return answer


async def update_task(context: Any, params: UpdateParams) -> dict[str, Any]:
    tasks, record = found(context, "update", params.task_id)
    (key,) = params.input_responses
    if key != record["key"]:
        return {"resultType": "complete"}
    record["answers"] = [*record.get("answers", []), params.input_responses[key]]
    if record["key"] == "first":
        record["key"] = "second"
    else:
        record |= {"status": "completed", "answer": json.dumps([item["action"] for item in record["answers"]])}
    save(tasks)
    return {"resultType": "complete"}


async def cancel_task(context: Any, params: TaskParams) -> dict[str, Any]:
    tasks, record = found(context, "cancel", params.task_id)
    record["status"] = "cancelled"
    save(tasks)
    return {"resultType": "complete"}


class Tasks(Extension):
    identifier = NAME

    def methods(self) -> list[MethodBinding]:
        return [
            MethodBinding("tasks/get", TaskParams, get_task),
            MethodBinding("tasks/update", UpdateParams, update_task),
            MethodBinding("tasks/cancel", TaskParams, cancel_task),
        ]

    async def intercept_tool_call(self, params: types.CallToolRequestParams, ctx: Any, call_next: Any) -> Any:
        if params.name == "plain":
            return await call_next(ctx)
        task, tasks = secrets.token_hex(8), load()
        record: dict[str, Any] = {"tool": params.name, "status": "working", "message": "half way"}
        if params.name == "dies":
            record["dies"] = True
        if params.name == "confirm":
            record |= {"status": "input_required", "key": "first"}
        if params.name == "broken":
            record["status"] = "failed"
        tasks[task] = record
        save(tasks)
        log("create", task)
        return {"resultType": "task", **shape(task, record)}


server = MCPServer("jobs", log_level="ERROR", extensions=[Tasks()])


@server.tool()
def plain() -> str:
    """Answer at once."""
    return "plain"


@server.tool()
def work() -> str:
    """Work for long."""
    raise NotImplementedError


@server.tool()
def dies() -> str:
    """Work for long, in a server that is killed meanwhile."""
    raise NotImplementedError


@server.tool()
def confirm() -> str:
    """Work, and ask meanwhile."""
    raise NotImplementedError


@server.tool()
def broken() -> str:
    """Fail."""
    raise NotImplementedError


if __name__ == "__main__":
    server.run()
