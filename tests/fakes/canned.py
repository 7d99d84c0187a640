"""Answers of a person who is not there, capability by capability: forms, pages to log in at, answers of the model.

The fixture ``canned`` gives one to a test; ``ToolContext.ask`` takes it as it is. Roots are not asked about: they are
the project's folder.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from harness_tui.core.calls import QuestionReply, QuestionRequest


class FakePerson:
    """Gives the answers of each kind in turn, then cancels. ``asked`` are the requests, ``most`` how many at once."""

    def __init__(self) -> None:
        self._answers: dict[str, list[QuestionReply]] = {}
        self.asked: list[QuestionRequest] = []
        self.most = 0
        self._now = 0

    def form(self, **content: Any) -> FakePerson:
        """Fill in the next form."""
        return self._give("form", QuestionReply("accept", content))

    def page(self) -> FakePerson:
        """Open the next page, and be done with it."""
        return self._give("auth", QuestionReply("accept"))

    def sampling(self, text: str, *, model: str = "canned", stop: str = "stop") -> FakePerson:
        """Allow the next request to the model, which says ``text``."""
        return self._give("sampling", QuestionReply("accept", {"text": text, "model": model, "stop": stop}))

    def says_no(self, kind: str) -> FakePerson:
        """Decline the next request of ``kind``."""
        return self._give(kind, QuestionReply("decline"))

    def _give(self, kind: str, reply: QuestionReply) -> FakePerson:
        self._answers.setdefault(kind, []).append(reply)
        return self

    def of(self, kind: str) -> Sequence[QuestionRequest]:
        """Return the requests of a kind."""
        return [request for request in self.asked if request.kind == kind]

    async def __call__(self, request: QuestionRequest) -> QuestionReply:
        self.asked.append(request)
        self._now += 1
        self.most = max(self.most, self._now)
        await asyncio.sleep(0)
        self._now -= 1
        answers = self._answers.get(request.kind)
        return answers.pop(0) if answers else QuestionReply("cancel")
