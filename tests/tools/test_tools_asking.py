"""The list of steps, and questions to the person."""

from __future__ import annotations

from typing import Any

import pytest

from harness_tui.core.errors import ToolError
from harness_tui.core.events import TodoUpdated
from harness_tui.core.seams import Check, QuestionReply, QuestionRequest
from harness_tui.core.values import Question, QuestionOption, TodoItem


async def test_the_list_of_steps_is_replaced_whole(bench: Any) -> None:
    items = [{"id": "1", "text": "look", "state": "done"}, {"id": "2", "text": "act", "state": "active"}]
    prepared = await bench.prepare("todo", items=items)
    assert prepared.title == "Plan 2 steps"
    assert prepared.checks == ()
    result = await bench.run("todo", prepared)
    assert result.output == "1 of 2 done\n[x] 1: look\n[>] 2: act"
    expected = (TodoItem("1", "look", "done"), TodoItem("2", "act", "active"))
    assert bench.of(TodoUpdated) == [TodoUpdated(expected)]
    assert bench.tools.todo.items("s1") == expected
    assert bench.tools.todo.items("s2") == ()
    assert (await bench.call("todo", items=[])).output == "The list is empty."


async def test_two_steps_with_one_id_are_an_error(bench: Any) -> None:
    item = {"id": "1", "text": "t", "state": "done"}
    with pytest.raises(ToolError, match="used twice: 1"):
        await bench.call("todo", items=[item, item])


async def test_a_question_waits_for_its_answer(bench: Any) -> None:
    asked: list[QuestionRequest] = []

    async def answer(request: QuestionRequest) -> QuestionReply:
        asked.append(request)
        return QuestionReply("accept", {"db": ["SQLite", "Postgres"], "q2": "soon"})

    bench.ask = answer
    questions = [
        {"id": "db", "text": "Which?", "options": [{"label": "SQLite", "description": "one file"}], "multiple": True},
        {"text": "When?"},
        {"text": "Why?"},
    ]
    prepared = await bench.prepare("question", questions=questions)
    assert prepared.title == "Ask Which?"
    assert prepared.checks == (Check("question", "*"),)
    result = await bench.run("question", prepared)
    assert result.output == "Which?\nSQLite, Postgres\n\nWhen?\nsoon\n\nWhy?\n(no answer)"
    assert asked == [
        QuestionRequest(
            "question",
            "build",
            "Which?",
            (
                Question("db", "Which?", (QuestionOption("SQLite", "one file"),), True, True),
                Question("q2", "When?"),
                Question("q3", "Why?"),
            ),
        )
    ]


async def test_no_answer_is_told(bench: Any) -> None:
    async def decline(_request: QuestionRequest) -> QuestionReply:
        return QuestionReply("decline")

    bench.ask = decline
    result = await bench.call("question", questions=[{"text": "May I?"}])
    assert (result.output, result.is_error) == ("The person declined to answer.", True)


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        ([{"text": " "}], r"questions\[0\].text is empty"),
        ([{"text": "a", "custom": False}], "neither options nor custom"),
        ([{"id": "x", "text": "a"}, {"id": "x", "text": "b"}], "same id"),
        ([], "questions must not be empty"),
    ],
)
async def test_questions_that_cannot_be_answered_are_an_error(
    bench: Any, questions: list[dict[str, Any]], message: str
) -> None:
    async def answer(_request: QuestionRequest) -> QuestionReply:
        return QuestionReply("accept")

    bench.ask = answer
    with pytest.raises(ToolError, match=message):
        await bench.call("question", questions=questions)


async def test_where_nobody_can_be_asked_the_model_is_told(bench: Any) -> None:
    with pytest.raises(ToolError, match="nobody is there to answer"):
        await bench.call("question", questions=[{"text": "May I?"}])

    async def nobody(_request: QuestionRequest) -> QuestionReply:
        return QuestionReply("cancel", nobody=True)

    bench.ask = nobody
    with pytest.raises(ToolError, match="nobody is there to answer"):
        await bench.call("question", questions=[{"text": "May I?"}])
