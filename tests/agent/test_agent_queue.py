"""Waiting messages: for the end of the run, for its next step, and over a restart."""

from __future__ import annotations

from fakes.fake_tool import FakeTool

from harness_tui.agent.queue import MessageQueue
from harness_tui.core.codec import encode
from harness_tui.core.event_parts import QueueItem
from harness_tui.core.events import MessageAdded, Notice, QueueChanged, RunFinished, RunStarted, ToolStarted
from harness_tui.core.intents import Cancel, EditQueue, Submit
from harness_tui.core.messages import Attachment


async def waiting(stage, *texts):
    """Return a session that was closed while ``texts`` waited."""
    show = await stage({"turns": [{"text": "slow", "wait": "never.flag"}]})
    await show.live.send(Submit("first"))
    await show.next(RunStarted)
    for text in texts:
        await show.send(Submit(text, when="queue"))
        await show.next(QueueChanged)
    await show.workspace.close()
    return show


async def test_a_queued_message_runs_after_and_a_steering_one_within(stage):
    hold = FakeTool("hold")
    show = await stage({"turns": [{"tools": [{"name": "hold"}]}, {"text": "a"}, {"text": "b"}]}, hold)
    await show.live.send(Submit("go"))
    await show.next(ToolStarted)
    await show.send(Submit("later", when="queue"))
    await show.send(Submit("now then", when="steer"))
    await show.next(RunFinished)
    await show.next(RunFinished)
    assert [event.message.text for event in show.of(RunStarted)] == ["go", "later"]
    steered = [event.message.text for event in show.of(MessageAdded) if event.origin == "steer"]
    assert steered == ["now then"]
    modes = [[(item.text, item.mode) for item in event.items] for event in show.of(QueueChanged)]
    assert [("later", "queue"), ("now then", "steer")] in modes
    assert modes[-1] == []


async def test_what_a_steering_message_mentions_goes_along(stage):
    show = await stage({"turns": [{"tools": [{"name": "list"}], "wait": "go.flag"}, {"text": "b"}]})
    (show.project / "a.py").write_text("x = 1\n")
    await show.live.send(Submit("first"))
    await show.next(RunStarted)
    await show.send(Submit("look at @a.py", when="steer"))
    (show.project / "go.flag").touch()
    await show.next(RunFinished)
    (steered,) = [event.message for event in show.of(MessageAdded) if event.origin == "steer"]
    assert (steered.text, [item.path for item in steered.attachments]) == ("look at @a.py", ["a.py"])
    assert [item["path"] for item in show.requests()[1]["messages"][-1]["attachments"]] == ["a.py"]


async def test_a_queued_message_can_be_edited_moved_and_taken_out(stage):
    show = await stage({"turns": [{"text": "slow", "wait": "go.flag"}, {"text": "b"}, {"text": "c"}]})
    await show.live.send(Submit("first"))
    await show.next(RunStarted)
    for text in ("one", "two", "three"):
        await show.send(Submit(text, when="queue"))
    for _ in range(3):
        changed = await show.next(QueueChanged)
    one, _, three = changed.items
    await show.send(EditQueue((three, QueueItem(one.id, "one, better", "queue"))))
    (show.project / "go.flag").touch()
    for _ in range(3):
        await show.next(RunFinished)
    assert [event.message.text for event in show.of(RunStarted)] == ["first", "three", "one, better"]


async def test_waiting_messages_are_there_after_a_restart_and_run_by_themselves_never(stage):
    show = await waiting(stage, "second", "third")
    again = await stage({"turns": [{"text": "a"}, {"text": "b"}, {"text": "c"}]}, session=show.live.id)
    held = await again.next(QueueChanged)
    assert [item.text for item in held.items] == ["second", "third"]
    assert "2 messages wait" in (await again.next(Notice)).text
    await again.say("something else")
    assert not again.live.going_on
    assert [event.message.text for event in again.of(RunStarted)] == ["something else"]
    assert [message["text"] for message in again.requests()[-1]["messages"]] == ["first", "something else"]
    await again.workspace.close()
    once_more = await stage({"turns": []}, session=show.live.id)
    held = await once_more.next(QueueChanged)
    assert [item.text for item in held.items] == ["second", "third"]


async def test_what_goes_with_a_waiting_message_is_kept_over_a_restart(stage):
    image = Attachment("image", "image/png", 6_000, path="a.png", content="aGVsbG8=" * 1_000)
    note = Attachment("text", "text/plain", 5, path="n.txt", content="hello")
    show = await stage({"turns": [{"text": "slow", "wait": "never.flag"}]})
    await show.live.send(Submit("first"))
    await show.next(RunStarted)
    await show.send(Submit("look at it", (image, note), agent="plan", when="queue"))
    shown = encode(show.of(QueueChanged)[-1] if show.of(QueueChanged) else await show.next(QueueChanged))
    assert "content" not in shown["items"][0]["attachments"][0]  # front ends are told the names alone
    await show.workspace.close()
    again = await stage({"turns": [{"text": "a"}, {"text": "b"}]}, session=show.live.id)
    (held,) = (await again.next(QueueChanged)).items
    assert (held.attachments, held.agent) == ((image, note), "plan")
    await again.send(EditQueue((QueueItem(held.id, "look at it, please", "queue"),)))
    await again.say("go")
    await again.next(RunFinished)
    last = again.of(RunStarted)[-1]
    assert (last.message.text, last.agent, last.message.attachments) == ("look at it, please", "plan", (image, note))


def test_an_edit_keeps_what_it_does_not_say_and_an_empty_list_takes_attachments_away():
    note = Attachment("text", "text/plain", 5, path="n.txt", content="hello")
    queue = MessageQueue()
    (item,) = queue.add(Submit("a", (note,), model="m/x", when="queue")).items
    (kept,) = queue.replace((QueueItem(item.id, "b", "queue"),)).items
    assert (kept.attachments, kept.model) == ((note,), "m/x")
    (bare,) = queue.replace((QueueItem(item.id, "b", "queue", ()),)).items
    assert (bare.attachments, bare.model) == (None, "m/x")


async def test_a_message_that_was_held_and_is_edited_runs_with_the_next_turn(stage):
    show = await waiting(stage, "second", "third")
    again = await stage({"turns": [{"text": "a"}, {"text": "b"}]}, session=show.live.id)
    second, third = (await again.next(QueueChanged)).items
    await again.send(EditQueue((QueueItem(second.id, "second, better", "queue"), third)))
    await again.say("go")
    await again.next(RunFinished)
    assert [event.message.text for event in again.of(RunStarted)] == ["go", "second, better"]
    assert not again.live.going_on


async def test_a_cancelled_run_leaves_what_waits_in_the_queue(stage):
    show = await stage({"turns": [{"text": "slow", "wait": "never.flag"}, {"text": "b"}]})
    await show.live.send(Submit("first"))
    await show.next(RunStarted)
    await show.send(Submit("second", when="queue"))
    await show.send(Cancel())
    assert (await show.next(RunFinished)).reason == "cancelled"
    assert [item.text for item in show.of(QueueChanged)[-1].items] == ["second"]
    assert not show.live.busy


def test_an_edit_with_one_id_twice_keeps_the_last_of_them():
    queue = MessageQueue()
    (item,) = queue.add(Submit("a", when="queue")).items
    changed = queue.replace((item, QueueItem(item.id, "b", "queue")))
    assert [waits.text for waits in changed.items] == ["b"]
    submit, _ = queue.take_next() or (None, None)
    assert submit is not None
    assert submit.text == "b"
    assert queue.empty
