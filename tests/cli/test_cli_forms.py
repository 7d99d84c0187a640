"""Questions and forms at a terminal that only knows lines."""

from __future__ import annotations

from typing import Any

import pytest

from harness_tui.cli.asking import StderrLines
from harness_tui.core.events import QuestionAsked
from harness_tui.core.values import Question, QuestionOption
from harness_tui.plain.forms import answer_question

SCHEMA = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "title": "Name", "description": "yours"},
        "age": {"type": "integer", "default": 30},
        "sure": {"type": "boolean"},
        "tags": {"type": "array", "items": {"enum": ["x", "y", "z"]}},
    },
}


async def answered(asked: QuestionAsked, *lines: str) -> tuple[str, Any]:
    left = list(lines)

    class Typed(StderrLines):
        async def read_line(self, prompt: str) -> str | None:
            return left.pop(0) if left else None

    answer = await answer_question(asked, Typed())
    assert answer.request == "r1"
    assert not left
    return answer.action, answer.content


def form() -> QuestionAsked:
    return QuestionAsked("r1", "asks", "Who are you?", schema=SCHEMA)


async def test_a_form_is_answered_line_by_line_with_numbers_defaults_and_gaps(capsys: pytest.CaptureFixture) -> None:
    assert await answered(form(), "Ada", "", "-", "1, 3", "y") == (
        "accept",
        {"name": "Ada", "age": 30, "tags": ["x", "z"]},
    )
    said = capsys.readouterr().err
    assert "asks asks: Who are you?" in said
    assert "Name: yours (1 of 4)" in said
    assert "  3 z" in said
    assert "(empty: 30; - leaves it out)" in said


async def test_what_does_not_fit_is_asked_again(capsys: pytest.CaptureFixture) -> None:
    lines = ("", "Ada", "old", "36", "perhaps", "n", "x,9", "Y", "yes")
    assert await answered(form(), *lines) == ("accept", {"name": "Ada", "age": 36, "sure": False, "tags": ["y"]})
    said = capsys.readouterr().err
    assert "an answer is needed here" in said
    assert "'old' is no integer" in said
    assert "'perhaps' is none of them" in said


@pytest.mark.parametrize(
    ("lines", "action"), [(("Ada", "", "-", "-", "n"), "decline"), (("Ada", ""), "cancel"), ((), "cancel")]
)
async def test_a_no_declines_and_the_end_of_the_input_cancels(lines: tuple[str, ...], action: str) -> None:
    assert await answered(form(), *lines) == (action, None)


@pytest.mark.parametrize(("line", "action"), [("y", "accept"), ("n", "decline"), ("", "cancel")])
async def test_a_page_is_shown_and_asked_about(line: str, action: str, capsys: pytest.CaptureFixture) -> None:
    asked = QuestionAsked("r1", "asks", "Log in (opens a.example)", url="https://a.example/\x1b[2J?x")
    assert (await answered(asked, line))[0] == action
    said = capsys.readouterr().err
    assert "https://a.example/" in said
    assert "\x1b" not in said


async def test_questions_of_the_agent_take_numbers_labels_and_own_words() -> None:
    options = (QuestionOption("red"), QuestionOption("green"))
    asked = QuestionAsked(
        "r1",
        "build",
        "Colours",
        questions=(Question("one", "Which?", options), Question("many", "Which ones?", options, multiple=True)),
    )
    assert await answered(asked, "2", "1, green") == ("accept", {"one": "green", "many": ["red", "green"]})
    assert await answered(asked, "blue", "red") == ("accept", {"one": "blue", "many": ["red"]})
