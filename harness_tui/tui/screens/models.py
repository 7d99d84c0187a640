"""The models to choose from: favourites first, with limits and prices, and why one is missing and how to mend it.

It opens with what is known and goes on looking: servers on this machine and providers are asked meanwhile. Where a key
is what lacks, choosing asks for it.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual import events, on, work

from harness_tui.core.errors import HarnessError
from harness_tui.core.paths import short
from harness_tui.core.text import clean_for_display
from harness_tui.tui.lines import Line, ListRow, Span, two_ends, wrap
from harness_tui.tui.row_list import RowList
from harness_tui.tui.screens.picker import Picker
from harness_tui.tui.theme import Palette

if TYPE_CHECKING:
    from harness_tui.tui.backend import Backend
    from harness_tui.tui.backend_rows import ModelRow

_HINT: Final = "type to filter · Enter chooses · Ctrl+F favourite · Esc leaves"
_LOOKING: Final = "looking for models … Enter chooses · Ctrl+F favourite · Esc leaves"


class ModelPicker(Picker):
    """Gives the name of the chosen model, or ``None``. One that is not available says why instead."""

    def __init__(self, palette: Palette, backend: Backend, present: str) -> None:
        super().__init__(palette, "Choose the model", self._model_rows, empty="No model is known.")
        self._palette = palette
        self._backend = backend
        self._present = present
        self._models: Sequence[ModelRow] = ()
        self._hint = _LOOKING

    def on_mount(self) -> None:
        """Show what is known, and look for more."""
        super().on_mount()
        self._look()

    @work(exit_on_error=False)
    async def _look(self) -> None:
        try:
            self._use(await self._backend.models())
            self._list.mark(self._present)
            self._use(await self._backend.survey_models())
            self._say(_HINT)
        except (HarnessError, OSError) as error:
            self._say(clean_for_display(str(error), one_line=True))

    def _use(self, models: Sequence[ModelRow]) -> None:
        self._models = sorted(models, key=_order)
        self._refresh()

    def _say(self, hint: str) -> None:
        self._hint = hint
        self._refresh()

    def _refresh(self) -> None:
        if self.is_attached:
            self._update()

    def _model_rows(self, width: int) -> list[ListRow]:
        return [ListRow(_lines(model, width, model.name == self._present), model.name) for model in self._models]

    @on(RowList.Chosen)
    def _on_model_chosen(self, event: RowList.Chosen) -> None:
        event.stop()
        event.prevent_default()  # not the answer of the base class
        model = next((one for one in self._models if one.name == event.key), None)
        if model is None or model.available:
            self.leave(str(event.key))
            return
        if model.wants_key is not None:
            self._ask_key(model.wants_key)
            return
        why = f"{model.name}: {model.reason or 'not available'}{f'; {model.mend}' if model.mend else ''}"
        self._say(clean_for_display(why, one_line=True))

    @work(exit_on_error=False)
    async def _ask_key(self, provider: str) -> None:
        entry = await asyncio.to_thread(importlib.import_module, "harness_tui.tui.screens.key_entry")
        key = await self.app.push_screen_wait(entry.KeyEntry(self._palette, provider))
        if key is None:
            return
        self._filter = ""  # it stands where the outcome is told
        try:
            where = await self._backend.keep_key(provider, key)
            self._use(await self._backend.models())
        except (HarnessError, OSError) as error:
            self._say(clean_for_display(str(error), one_line=True))
            return
        self._say(clean_for_display(f"kept; Enter takes the model · the key is in {short(where)}", one_line=True))
        self._list.mark(next((one.name for one in self._models if one.name.startswith(f"{provider}/")), None))
        self._use(await self._backend.survey_models())  # the provider tells its models by now

    @on(events.Key)
    def _on_favourite_key(self, event: events.Key) -> None:
        if event.key == "ctrl+f":
            event.stop()
            event.prevent_default()
            self._toggle_favourite()

    @work(exit_on_error=False)
    async def _toggle_favourite(self) -> None:
        name = self._list.marked
        model = next((one for one in self._models if one.name == name), None)
        if model is None or model.name.endswith("/*"):
            return
        try:
            await self._backend.set_favourite(model.name, not model.favourite)
            known = {one.name: one for one in await self._backend.models()}
        except (HarnessError, OSError) as error:
            self._say(clean_for_display(str(error), one_line=True))
            return
        favourites = {name for name, one in known.items() if one.favourite}
        self._use([_Starred(one, one.name in favourites) for one in self._models])


class _Starred:
    """A row with its star given or taken, until the rows are asked for again."""

    def __init__(self, row: ModelRow, favourite: bool) -> None:
        self.name, self.context, self.price, self.aliases = row.name, row.context, row.price, row.aliases
        self.available, self.reason, self.mend = row.available, row.reason, row.mend
        self.wants_key = row.wants_key
        self.favourite = favourite


def _order(model: ModelRow) -> tuple[bool, bool, bool]:
    """Favourites first, then those with a role, then what can be used."""
    return (not model.favourite, not model.aliases or not model.available, not model.available)


def _lines(model: ModelRow, width: int, present: bool) -> tuple[Line, ...]:
    mark = "● " if present else "★ " if model.favourite else "  "
    name = clean_for_display(model.name, one_line=True)
    head: list[Span] = [(mark, "accent"), (name, "bold" if model.available else "muted")]
    if present and model.favourite:
        head.append((" ★", "accent"))
    if model.aliases:
        head.append((f"  {clean_for_display(', '.join(model.aliases), one_line=True)}", "muted"))
    facts = [f"{_tokens(model.context)} tokens" if model.context else "", model.price or ""]
    right = " · ".join(fact for fact in facts if fact)
    lines = [two_ends(tuple(head), ((f"{right} ", "muted"),), width)]
    if not model.available:
        why: list[Span] = [(clean_for_display(model.reason or "not available", one_line=True), "warning")]
        if model.wants_key is not None:
            why.append((" → Enter asks for it", "accent"))
            why += [(f"; or {clean_for_display(model.mend, one_line=True)}", "muted")] if model.mend else []
        elif model.mend:
            why.append((f" → {clean_for_display(model.mend, one_line=True)}", "muted"))
        lines += wrap(why, width, first=(("    ", ""),))
    return tuple(lines)


def _tokens(count: int) -> str:
    if count >= 1_000_000:
        return f"{count / 1_000_000:.3g}M"
    return f"{count / 1000:.0f}k" if count >= 10_000 else str(count)
