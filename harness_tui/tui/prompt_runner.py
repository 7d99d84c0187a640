"""What the prompt cannot do alone: mentions, what was typed before, the editor, images, messages that wait."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from harness_tui.core import intents as it
from harness_tui.core.paths import short
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.library.typed_mention import TypedMention
from harness_tui.tui.editing import lend_screen
from harness_tui.tui.host import Host
from harness_tui.tui.lines import ListRow, two_ends
from harness_tui.tui.prompt.completing import PromptCompletion
from harness_tui.tui.screens.picker import Picker
from harness_tui.tui.screens.queue import QueueScreen

if TYPE_CHECKING:
    from harness_tui.core.event_parts import QueueItem
    from harness_tui.library.slash_completion import Completer
    from harness_tui.tui.app import HarnessApp
    from harness_tui.tui.backend_prompt import PastText
    from harness_tui.tui.prompt.field import Aid
    from harness_tui.tui.prompt.popup import CompletionPopup

_ROW_CHARS = 500
_STILL_S = 0.15


class Run(Protocol):
    """Starts a worker of the app."""

    def __call__(self, work: Coroutine[Any, Any, Any], group: str = "actions") -> None: ...


class PromptRunner:
    """Serves the prompt of ``app``."""

    def __init__(self, app: HarnessApp, host: Host, run: Run) -> None:
        self._app = app
        self._host = host
        self._run = run
        self._completion: PromptCompletion | None = None
        self._aside: list[str] = []
        self._kept: list[QueueItem] = []

    def attach(self, popup: CompletionPopup, completer: Completer) -> None:
        """Let the prompt complete names and mentions."""
        prompt = self._app.prompt

        def opened() -> None:
            prompt.post_message(prompt.CompletionOpened())

        self._completion = PromptCompletion(prompt, popup, completer, self._look, opened, self._look_for_values)
        prompt.attach_completion(self._completion)

    def want(self, aid: Aid) -> None:
        """Do what a key of the prompt asks for."""
        match aid:
            case "history":
                self._run(self._search_history())
            case "editor":
                self._run(self.edit())
            case "image" | "dropped":
                self._run(self._attach_image())
            case "queue":
                self._run(self._show_queue())
            case "take_back":
                self._run(self._take_back_last())
            case "put_aside":
                self._put_aside()

    # --- arguments of servers' prompts ---------------------------------------------------------------

    def _look_for_values(self, name: str, typed: str) -> None:
        if self._host.session is not None:
            work = self._find_values(name, typed)
            self._app.run_worker(work, group="values", exclusive=True, exit_on_error=False)

    async def _find_values(self, name: str, typed: str) -> None:
        await asyncio.sleep(_STILL_S)  # a server is asked once somebody pauses; the next key ends this, also there
        rows = await self._host.backend.servers.prompt_values(name, typed)
        if self._completion is not None:
            self._completion.values_found(name, typed, rows)

    # --- mentions ------------------------------------------------------------------------------------

    def _look(self, mention: TypedMention) -> None:
        if self._host.session is not None:
            work = self._look_for(mention)
            self._app.run_worker(work, group="mentions", exclusive=True, exit_on_error=False)

    async def _look_for(self, mention: TypedMention) -> None:
        finder = self._host.backend.prompt.mentions
        await self._offer(mention)
        if await self._host.guarded(finder.refreshed()):
            await self._offer(mention)

    async def _offer(self, mention: TypedMention) -> None:
        finder = self._host.backend.prompt.mentions
        rows = await self._host.guarded(finder.find(mention.typed, agents=mention.agents))
        if self._completion is not None:
            self._completion.found(mention, rows or ())

    # --- what was typed before -----------------------------------------------------------------------

    async def load_history(self) -> None:
        """Bring what was typed in this project before into reach of the arrow keys."""
        past = await self._host.guarded(self._host.backend.prompt.history())
        root = self._host.info.root if self._host.info is not None else ""
        self._app.prompt.sent.put_before([item.text for item in past or () if item.root == root])

    async def remember(self, text: str) -> None:
        """Keep what was sent for later sessions."""
        await self._host.guarded(self._host.backend.prompt.remember(text))

    async def _search_history(self) -> None:
        past = await self._host.guarded(self._host.backend.prompt.history()) or ()
        entries = _newest_first(past, self._app.prompt.sent.entries)

        def rows(width: int) -> list[ListRow]:
            return [
                ListRow((two_ends(((f" {shown}", ""),), ((f"{where} ", "muted"),), width),), str(place))
                for place, (shown, where) in enumerate(drawn)
            ]

        drawn = [(cut_end(clean_for_display(text, one_line=True), _ROW_CHARS), where) for text, where in entries]
        picker = Picker(self._app.palette, "Typed before", rows, empty="Nothing was typed yet.")
        chosen = await self._app.push_screen_wait(picker)
        if chosen is not None:
            self._app.prompt.put(entries[int(chosen)][0])
            self._app.prompt.focus()

    def _put_aside(self) -> None:
        prompt = self._app.prompt
        if prompt.text.strip():
            self._run(
                self.remember(prompt.expanded), "history"
            )  # what is put aside and forgotten is found by the search
            self._aside.append(prompt.text)
            prompt.load_text("")
        elif self._aside:
            prompt.put(self._aside.pop())
        count = len(self._aside)
        prompt.show_note("aside", f"{count} put aside, Alt+S" if count else "")

    # --- editor and images ---------------------------------------------------------------------------

    async def edit(self) -> None:
        """Let the person's editor have what stands in the prompt, or the paste whose chip the cursor is at."""
        prompt = self._app.prompt
        chip = prompt.chip()
        before = prompt.pastes.text_of(chip[2]) if chip is not None else prompt.expanded
        text, problem = await lend_screen(self._app, self._host.backend.prompt.edit_text(before or ""))
        if text is None:
            self._host.tell("error", problem, "set EDITOR to an editor that waits until the file is closed")
        elif text == before:
            return
        elif chip is not None:
            prompt.replace_chip(chip, prompt.pastes.shelve(text))
        else:
            prompt.put(text if len(text) <= len(before or "") or len(text) < 20_000 else prompt.pastes.shelve(text))

    async def _attach_image(self) -> None:
        session = self._host.session
        if session is None:
            return
        mention = await self._host.guarded(self._host.backend.prompt.clipboard_image(session.id))
        if mention is not None:
            self._app.prompt.write_mention(mention)

    # --- messages that wait --------------------------------------------------------------------------

    def take_kept(self) -> Sequence[QueueItem]:
        """Return the messages that were taken back into the prompt, for what they hold besides their text."""
        kept, self._kept = self._kept, []
        self._app.prompt.show_note("kept", "")
        return kept

    async def _take_back_last(self) -> None:
        items = self._host.presenter.state.queue
        if items:
            await self._take_back(items[-1])

    async def _take_back(self, item: QueueItem) -> None:
        items = self._host.presenter.state.queue
        if item not in items:
            return  # it was sent meanwhile
        await self._host.send(it.EditQueue(tuple(other for other in items if other.id != item.id)))
        prompt = self._app.prompt
        text = f"{item.text}\n{prompt.text}" if prompt.text.strip() else item.text
        prompt.put(text)
        prompt.focus()
        self._kept.append(item)
        count = sum(len(one.attachments or ()) for one in self._kept)
        held = [f"{count} attached" if count else "", "with data" if any(one.piped for one in self._kept) else ""]
        prompt.show_note("kept", ", ".join(fact for fact in held if fact))

    async def _show_queue(self) -> None:
        def change(items: Sequence[QueueItem]) -> None:
            self._run(self._host.send(it.EditQueue(tuple(items))))

        screen = QueueScreen(self._app.palette, lambda: self._host.presenter.state.queue, change)
        chosen = await self._app.push_screen_wait(screen)
        item = next((item for item in self._host.presenter.state.queue if item.id == chosen), None)
        if item is not None:
            await self._take_back(item)


def _newest_first(past: Sequence[PastText], here: Sequence[str]) -> list[tuple[str, str]]:
    """Return each text once, with the project that it was typed in last; what is not on record (a long paste) first."""
    found: dict[str, str] = {}
    for item in reversed(past):
        found.setdefault(item.text, clean_for_display(short(item.root), one_line=True))
    return [(text, "") for text in dict.fromkeys(reversed(here)) if text not in found] + list(found.items())
