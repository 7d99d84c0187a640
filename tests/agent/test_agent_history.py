"""What the next request is made of: taken from the stream, as the record is."""

from __future__ import annotations

from harness_tui.agent.history import History
from harness_tui.core.envelope import Envelope
from harness_tui.core.events import ContextCompacted, Event, MessageAdded, RunStarted, StepFinished, ToolFinished
from harness_tui.core.messages import AssistantMessage, ToolCall, UserMessage


def history_of(*events: Event) -> History:
    history = History()
    for number, event in enumerate(events, 1):
        history.listener(Envelope(number, "2026-01-01T00:00:00Z", "ses_a", event))
    return history


def texts(history: History) -> list[str]:
    return [message.text for message in history.messages]


def test_the_prompt_is_taken_once() -> None:
    prompt = UserMessage("go")
    history = history_of(RunStarted("build", "m", "ask", prompt), MessageAdded(prompt, "prompt"))
    assert texts(history) == ["go"]


def test_steering_and_shell_messages_are_taken_as_they_come() -> None:
    history = history_of(MessageAdded(UserMessage("a"), "steer"), MessageAdded(UserMessage("a"), "shell"))
    assert texts(history) == ["a", "a"]


def test_a_result_that_no_model_asked_for_is_left_out() -> None:
    asked = AssistantMessage("look", calls=(ToolCall("c1", "read", {}),))
    history = history_of(
        ToolFinished("hand_1", "read", "by hand", False, {}),
        StepFinished(1, asked),
        ToolFinished("hand_2", "read", "by hand", False, {}),
        ToolFinished("c1", "read", "for the model", False, {}),
        ToolFinished("c1", "read", "a second time", False, {}),
    )
    assert texts(history) == ["look", "for the model"]


def test_after_a_compaction_there_is_what_came_after_it() -> None:
    history = history_of(
        MessageAdded(UserMessage("old"), "steer"),
        ContextCompacted(10, 1, "short", (), ()),
        MessageAdded(UserMessage("short"), "steer"),
    )
    assert texts(history) == ["short"]
