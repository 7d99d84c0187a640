"""The skills of a server under the conformance suite: loaded, with every file, by the tool ``skill`` of a session."""

from __future__ import annotations

from typing import Any

from harness_tui.agent.live import LiveSession
from harness_tui.cli.common import print_line
from harness_tui.cli.output import NO_LIMIT
from harness_tui.core.bus import Subscription
from harness_tui.core.events import RunFinished, ToolFinished
from harness_tui.core.intents import CallTool
from harness_tui.workspace.workspace import Workspace


async def load_skills(workspace: Workspace) -> None:
    """Load each skill that a server lists and read its files; nothing of one that is refused."""
    skills = workspace.mcp.skills.skills()
    if not skills:
        return
    live = await workspace.unrecorded_session()
    subscription = live.stream.subscribe(limit=NO_LIMIT)
    await workspace.start_session(live)
    for skill in skills:
        if not await _call(live, subscription, {"name": skill.name}):
            continue
        for file in skill.files:
            if file.uri != skill.uri:
                await _call(live, subscription, {"name": skill.name, "file": file.uri.removeprefix(f"{skill.root}/")})


async def _call(live: LiveSession, subscription: Subscription, arguments: dict[str, Any]) -> bool:
    """Call the tool by hand, as ``/call`` does; tell whether it gave what was asked for."""
    await live.send(CallTool("skill", arguments))
    given = False
    async for envelope in subscription:
        match envelope.event:
            case ToolFinished(output=output, is_error=is_error):
                given = not is_error
                print_line(f"skill {arguments}: {'ok' if given else output}")
            case RunFinished():
                break
            case _:
                continue
    return given
