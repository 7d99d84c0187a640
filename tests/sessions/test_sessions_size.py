"""A long session takes less than twice the room of what is in it, and is there again at once."""

from __future__ import annotations

import base64
import os
import stat
from pathlib import Path

from harness_tui.core.envelope import Envelope
from harness_tui.core.event_parts import Truncation
from harness_tui.core.events import (
    ContextCompacted,
    Event,
    MessageAdded,
    RunFinished,
    RunStarted,
    StepFinished,
    TextDelta,
    TextFinished,
    ToolFinished,
    ToolStarted,
)
from harness_tui.core.messages import AssistantMessage, Attachment, ToolCall, UserMessage
from harness_tui.core.outputs import limit_output
from harness_tui.core.values import SourceRef
from harness_tui.sessions.store import SessionStore

TURNS = 200
RESULT_BYTES = 200_000
IMAGE_BYTES = 1_000_000
COMPACTIONS = 20
TIME = "2026-01-02T03:04:05.678Z"


def turn(number: int, image: Attachment, folder: Path) -> tuple[list[Event], int]:
    """Return a turn with a result of 200 kB as the tools record it, and the bytes that are in it."""
    call = f"c{number}"
    whole = os.urandom(RESULT_BYTES // 2).hex()
    text = "\n".join(whole[at : at + 100] for at in range(0, len(whole), 100))
    limited = limit_output(text, folder=folder, name=call)
    assert limited.path is not None
    answer = f"That is what turn {number} found."
    events: list[Event] = [
        RunStarted("build", "m", "ask", UserMessage(f"turn {number}", (image,))),
        MessageAdded(UserMessage(f"turn {number}", (image,)), "prompt"),
        StepFinished(1, AssistantMessage(calls=(ToolCall(call, "bash", {"command": "make"}),))),
        ToolStarted(call, "bash", "make", {"command": "make"}, SourceRef("builtin")),
        ToolFinished(call, "bash", limited.text, False, {}, Truncation(limited.path, limited.bytes)),
        TextDelta(answer),
        TextFinished(answer),
        StepFinished(2, AssistantMessage(answer)),
        RunFinished("completed"),
    ]
    if number % (TURNS // COMPACTIONS) == 0:
        summary = f"summary {number} " + os.urandom(1000).hex()
        events.append(ContextCompacted(90_000, 1_000, summary, (), ()))
        events.append(MessageAdded(UserMessage(summary), "compaction"))
    return events, len(text)


def test_two_hundred_large_results_an_image_and_twenty_compactions_fit(store: SessionStore, database: Path) -> None:
    session = store.create(Path("/p"), lock=True).session
    content = base64.b64encode(os.urandom(IMAGE_BYTES)).decode()
    image = Attachment("image", "image/png", IMAGE_BYTES, path="shot.png", content=content)
    seq, unique = 0, IMAGE_BYTES
    for number in range(1, TURNS + 1):
        events, size = turn(number, image, store.folder(session))
        unique += size
        store.append(
            session,
            [Envelope(seq + place, TIME, session, event, f"run_{number}") for place, event in enumerate(events, 1)],
        )
        seq += len(events)
    store.unlock(session, seen=seq)
    store.close()
    files = [path for path in database.parent.rglob("*") if path.is_file()]
    taken = sum(path.stat().st_size for path in files)
    assert unique > 41_000_000
    assert taken < 2 * unique, f"{taken} bytes for {unique}"
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    folders = [path for path in database.parent.rglob("*") if path.is_dir()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in folders} == {0o700}
    assert store.lock(session)
    assert store.repair(session) == []
    messages = [stored.message for stored in store.messages(session)]
    assert len(messages) == 1  # the last turn was summed up
    everything = [stored.message for stored in store.messages(session, since_compaction=False)]
    assert len(everything) == TURNS * 4 + COMPACTIONS
    assert everything[0] == UserMessage("turn 1", (image,))
