"""The plan of the agent ``plan``: its last message, kept in the session's folder until it is handed over."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from harness_tui.agent.state import SessionState
from harness_tui.core.errors import HarnessError
from harness_tui.core.events import Notice
from harness_tui.core.limits import MIB
from harness_tui.core.messages import AssistantMessage
from harness_tui.core.paths import make_private_folder, read_regular, write_atomic

FILE: Final = "plan.md"


async def keep_plan(state: SessionState, run: str) -> None:
    """Write the last message of the run that ends to the session's folder, and say so."""
    plan = last_answer(state)
    if not plan or not state.recorded:
        return
    path = _path(state)
    try:
        await asyncio.to_thread(_write, path, plan)
    except OSError as error:
        text = f"the plan could not be kept: {error.strerror or error}"
        state.publish(Notice("warning", "plan", text), run)
        return
    hint = "F5 in the shell, or the intent hand_over, lets build carry it out"
    state.publish(Notice("info", "plan", f"the plan is kept in {path}", hint), run)


async def hand_over_text(state: SessionState) -> str | None:
    """Return the message that asks for the plan to be carried out; ``None`` where there is none."""
    path = _path(state)
    try:
        data = await asyncio.to_thread(read_regular, path, max_bytes=MIB)
    except HarnessError:
        return None
    plan = data.decode("utf-8", "replace").strip()
    return f"Carry out this plan. Say so where it turns out to be wrong.\n\n<plan>\n{plan}\n</plan>" if plan else None


def last_answer(state: SessionState) -> str:
    """Return what the model said last, empty where it ended without words."""
    last = state.history.messages[-1] if state.history.messages else None
    return last.text.strip() if isinstance(last, AssistantMessage) else ""


def _path(state: SessionState) -> Path:
    return state.parts.places.session_dir(state.id) / FILE


def _write(path: Path, text: str) -> None:
    make_private_folder(path.parent)
    write_atomic(path, f"{text}\n".encode("utf-8", "replace"), mode=0o600)
