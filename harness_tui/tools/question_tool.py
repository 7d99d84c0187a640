"""``question``: asks the person who works with the agent."""

from __future__ import annotations

from typing import Any, Final

from harness_tui.core.errors import ToolError
from harness_tui.core.event_parts import ArgumentsPreview
from harness_tui.core.seams import Check, PreparedCall, QuestionReply, QuestionRequest, ToolContext, ToolResult
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.core.values import Question, QuestionOption
from harness_tui.tools.builtin import BuiltinTool, title_of

_TITLE_CHARS: Final = 120


class QuestionTool(BuiltinTool):
    """Asks one or several questions at once, with answers to choose from or in free text."""

    name = "question"
    description = (
        "Ask the person when you cannot go on without a decision of theirs. Offer options where you can; they may "
        "answer in their own words unless custom is false."
    )
    properties = {  # noqa: RUF012
        "questions": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string", "description": "Key of the answer, by default q1, q2, ..."},
                    "text": {"type": "string", "description": "The question"},
                    "options": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {"label": {"type": "string"}, "description": {"type": "string"}},
                            "required": ["label"],
                            "additionalProperties": False,
                        },
                    },
                    "multiple": {"type": "boolean", "description": "Several options may be chosen"},
                    "custom": {"type": "boolean", "description": "An answer in free text is possible, the default"},
                },
                "required": ["text"],
                "additionalProperties": False,
            },
        }
    }
    required = ("questions",)

    async def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Check the questions. Raises ``ToolError``, also where nobody can be asked."""
        checked = self.checked(arguments)
        if context.ask is None:
            raise _nobody()
        questions = tuple(_question(item, number) for number, item in enumerate(checked["questions"], 1))
        ids = [question.id for question in questions]
        if len(set(ids)) < len(ids):
            raise ToolError("two questions have the same id", where=self.name, mend="give each its own")
        return PreparedCall(
            title=title_of("Ask", questions[0].text),
            checks=(Check("question", "*"),),
            preview=ArgumentsPreview(checked),
            state=questions,
        )

    async def run(self, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        """Ask, and wait for the answer. Raises ``ToolError`` where nobody can be asked."""
        questions: tuple[Question, ...] = prepared.state
        if context.ask is None:
            raise _nobody()
        title = cut_end(clean_for_display(questions[0].text, one_line=True), _TITLE_CHARS)
        reply = await context.ask(QuestionRequest("question", context.agent, title, questions))
        if reply.nobody:
            raise _nobody()
        return _result(questions, reply)


def _nobody() -> ToolError:
    return ToolError("nobody is there to answer", where="question", mend="decide yourself and say what you assumed")


def _question(item: dict[str, Any], number: int) -> Question:
    options = tuple(QuestionOption(each["label"], each.get("description")) for each in item.get("options", ()))
    text = item["text"].strip()
    if not text:
        raise ToolError(f"questions[{number - 1}].text is empty", where="question", code="invalid-arguments")
    custom = item.get("custom", True)
    if not options and not custom:
        raise ToolError(
            f"questions[{number - 1}] has neither options nor custom: it cannot be answered",
            where="question",
            code="invalid-arguments",
        )
    return Question(item.get("id") or f"q{number}", text, options, item.get("multiple", False), custom)


def _result(questions: tuple[Question, ...], reply: QuestionReply) -> ToolResult:
    metadata: dict[str, Any] = {"action": reply.action, "content": reply.content}
    if reply.action != "accept":
        word = "declined to answer" if reply.action == "decline" else "closed the question without an answer"
        return ToolResult(f"The person {word}.", is_error=True, metadata=metadata)
    lines = [f"{question.text}\n{_answer(reply.content.get(question.id))}" for question in questions]
    return ToolResult("\n\n".join(lines), metadata=metadata)


def _answer(value: Any) -> str:
    if value is None or value in ("", []):
        return "(no answer)"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
