"""From the question about a change to its review on the whole screen, and back with what the person made of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from harness_tui.core.errors import HarnessError
from harness_tui.core.text import clean_for_display
from harness_tui.tui.approval.page import ApprovalPage
from harness_tui.tui.approval.review import Review
from harness_tui.tui.editing import lend_screen
from harness_tui.tui.host import Host
from harness_tui.tui.screens.review import Outcome, ReviewScreen

if TYPE_CHECKING:
    from harness_tui.core.intents import Answer
    from harness_tui.tui.app import HarnessApp


class ReviewRunner:
    """Opens reviews for the request bar of ``app``. ``answer`` takes what the person decided on the screen."""

    def __init__(
        self,
        app: HarnessApp,
        host: Host,
        run: Callable[[Coroutine[Any, Any, Any]], None],
        answer: Callable[[Answer], None],
    ) -> None:
        self._app = app
        self._host = host
        self._run = run
        self._answer = answer
        self._reviews: dict[str, Review] = {}
        self._screen: tuple[str, ReviewScreen] | None = None
        self._redraw: Callable[[], None] = lambda: None

    def open(self, page: ApprovalPage, redraw: Callable[[], None]) -> None:
        """Review what ``page`` asks about; ``redraw`` shows the page again, as it is after that."""
        self._run(self._open(page, redraw))

    def request_changed(self, request: str | None) -> None:
        """Another request is asked now, or none: a review of what is not asked any more goes."""
        self._reviews = {known: review for known, review in self._reviews.items() if known == request}
        if self._screen is not None and self._screen[0] != request:
            self._screen[1].leave("gone")

    async def _open(self, page: ApprovalPage, redraw: Callable[[], None]) -> None:
        review = self._reviews.get(page.request) or await self._load(page, redraw)
        if review is None or self._screen is not None:
            return
        self._reviews[page.request] = review
        highlighter = self._app.transcript.renderer.highlighter
        names = {highlighter.language_of(file.path.rpartition("/")[2]) for file in review.files}
        await asyncio.to_thread(highlighter.load, names)
        screen = ReviewScreen(self._app.palette, page.title, review, highlighter, self._edit)
        self._screen = (page.request, screen)
        try:
            outcome = await self._app.push_screen_wait(screen)
        finally:
            self._screen = None
        self._take(page, review, outcome)
        redraw()

    def _take(self, page: ApprovalPage, review: Review, outcome: Outcome) -> None:
        if outcome == "gone":
            self._host.tell("info", "the change is not asked about any more: it was answered, or the run has ended")
            return
        page.use_review(review.edits(), review.summary(), review.diff_text(), empty=review.empty)
        if outcome == "allow":
            self._answer(page.allow_once())

    async def _load(self, page: ApprovalPage, redraw: Callable[[], None]) -> Review | None:
        session = self._host.session
        try:
            files = await session.proposal(page.request) if session is not None else ()
        except HarnessError as error:
            page.error = f"this change cannot be reviewed: {error.what}"
        else:
            if files:
                return await asyncio.to_thread(Review, files)
            page.error = "there is nothing to review here but what is shown"
        redraw()
        return None

    async def _edit(self, path: str, text: str) -> tuple[str | None, str]:
        edited, problem = await lend_screen(self._app, self._host.backend.prompt.edit_named(path, text))
        return (None if edited is None else edited.replace("\r\n", "\n")), clean_for_display(problem, one_line=True)
