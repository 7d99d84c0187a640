"""One tool called by hand, in a session that leaves no record: what ``tools call`` and ``mcp call`` share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from harness_tui.cli.asking import ask_at_terminal, policy_of, read_intents
from harness_tui.cli.common import print_json, print_line, warn
from harness_tui.cli.output import NO_LIMIT, warn_notice
from harness_tui.core.bus import Subscription
from harness_tui.core.errors import HarnessError
from harness_tui.core.events import Notice, RunFinished, ToolFinished
from harness_tui.core.intents import CallTool
from harness_tui.core.redaction import redact_data
from harness_tui.workspace.workspace import OpenOptions, Workspace


async def call_by_hand(
    root: Path, name_of: Callable[[Workspace], Awaitable[str]], arguments: dict[str, Any], ask: str | None
) -> dict[str, Any]:
    """Call the tool that ``name_of`` names and return its ``tool_finished`` object, with ``refused`` added."""
    policy = policy_of(ask)
    workspace = await Workspace.open(root, OpenOptions(policy=policy, start_servers=False))
    asking: asyncio.Task[None] | None = None
    try:
        name = await name_of(workspace)
        live = await workspace.unrecorded_session()
        subscription = live.stream.subscribe(limit=NO_LIMIT)
        await workspace.start_session(live)
        if ask == "input":
            read_intents(live)
        elif policy == "person":
            asking = asyncio.create_task(ask_at_terminal(live, live.stream.subscribe(merged=True)))
        await live.send(CallTool(name, arguments))
        return await _result(subscription, name)
    finally:
        if asking is not None:
            asking.cancel()
        await workspace.close()


async def _result(subscription: Subscription, name: str) -> dict[str, Any]:
    finished: dict[str, Any] | None = None
    refused = False
    async for envelope in subscription:
        match envelope.event:
            case ToolFinished():
                finished = redact_data(envelope.to_json())
            case Notice() as notice:
                warn_notice(notice)
            case RunFinished(reason=reason):
                refused = reason == "refused"
                break
            case _:
                continue
    if finished is None:
        raise HarnessError("the call gave no result", where=name)
    return finished | {"refused": refused}


def print_finished(finished: dict[str, Any], *, as_json: bool) -> int:
    """Print a result and return the exit code: 0, 1 for an error of the tool, 3 for a refusal."""
    if as_json:
        print_json(finished)
    elif finished["is_error"]:
        warn(finished["output"])
    else:
        print_line(finished["output"])
    if finished["refused"]:
        return 3
    return 1 if finished["is_error"] else 0
