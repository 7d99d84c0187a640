"""What MCP servers offer, over the session: tools to look at and to call, resources to read and to mention.

Typing filters, Enter goes on, Esc goes back. What is chosen is the caller's to do.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Vertical

from harness_tui.core.errors import HarnessError
from harness_tui.core.text import clean_for_display
from harness_tui.tui.lines import ListRow, wrap
from harness_tui.tui.panels.offers import resource_rows, tool_details, tool_rows
from harness_tui.tui.row_list import RowList
from harness_tui.tui.screens.dialog import Dialog
from harness_tui.tui.screens.heading import Heading
from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette

if TYPE_CHECKING:
    from harness_tui.tui.backend_servers import ResourceRow, ServerToolRow

Row = TypeVar("Row")

OFFER_KEYS = (
    ("Enter, a", "On a server in its tab: its tools, its resources"),
    ("Enter", "Read a tool in full, then fill in a form to call it; read a resource, or fill in its address"),
    ("Tab", "Put the mention of the resource, or the call of the tool, into the prompt"),
    ("letters", "Only what holds them"),
)
"""Keys of the screens of tools and resources, for the help."""


@dataclass(frozen=True, slots=True)
class Wanted(Generic[Row]):
    """What the person wants of a row: to do it (call, read), or to have it in the prompt."""

    what: Literal["do", "insert"]
    row: Row


class OffersScreen(Dialog[Wanted[Row] | None], Generic[Row]):
    """Lists what ``load`` gives; subclasses draw it."""

    DEFAULT_CSS = beside(__file__)
    title_text = ""
    empty = ""

    def __init__(self, palette: Palette, load: Callable[[], Awaitable[Sequence[Row]]], about: str = "") -> None:
        super().__init__()
        self._load_rows = load
        self._about = about
        self._heading = Heading(palette)
        self._list = RowList(palette, mark_always=True)
        self._items: Sequence[Row] | None = None
        self._filter = ""
        self._error = ""
        self.detail: Row | None = None
        self._place: int | None = None

    def compose(self) -> ComposeResult:
        """A heading and the list."""
        with Vertical(id="box"):
            yield self._heading
            yield self._list

    def on_mount(self) -> None:
        """Fill it."""
        self._list.focus()
        self._update()
        self._load()

    @work(exit_on_error=False, exclusive=True)
    async def _load(self) -> None:
        try:
            self._items = await self._load_rows()
        except HarnessError as error:
            self._error, self._items = str(error), ()
        self._update(mark_first=True)

    # --- what subclasses say -------------------------------------------------------------------------

    def rows_of(self, items: Sequence[Row], wanted: str, width: int) -> list[ListRow]:
        """Draw the items that hold ``wanted``, with their places as keys."""
        raise NotImplementedError

    def details_of(self, item: Row, width: int) -> list[ListRow] | None:
        """Draw one item in full; ``None`` where there is nothing more to see of it."""
        return None

    def name_of(self, item: Row) -> str:
        """Return what an item is called, over its details."""
        return ""

    def hint(self) -> str:
        """Say what the keys do."""
        raise NotImplementedError

    # --- drawing -------------------------------------------------------------------------------------

    def _update(self, *, mark_first: bool = False) -> None:
        about = self.name_of(self.detail) if self.detail is not None else self._about
        title = clean_for_display(f"{self.title_text}{f' · {about}' if about else ''}", one_line=True)
        shown = clean_for_display(self._filter, one_line=True)
        self._heading.show(title, f"filter: {shown}▏" if shown and self.detail is None else self.hint())
        self._list.show_rows(self._rows, mark_first=mark_first)

    def _rows(self, width: int) -> Sequence[ListRow]:
        if self._error:
            return [ListRow(tuple(wrap([(clean_for_display(self._error), "error")], width)))]
        if self._items is None:
            return [ListRow((((" …", "muted"),),))]
        if self.detail is not None:
            return self.details_of(self.detail, width) or []
        rows = self.rows_of(self._items, self._filter, width)
        nothing = "Nothing matches." if self._items else self.empty
        return rows or [ListRow(tuple(wrap([(nothing, "muted")], width)))]

    # --- keys ----------------------------------------------------------------------------------------

    def _marked(self) -> Row | None:
        place = self._list.marked
        return self._items[place] if isinstance(place, int) and self._items else None

    @on(RowList.Chosen)
    def _on_chosen(self, event: RowList.Chosen) -> None:
        event.stop()
        item = self._marked()
        if item is None or not self.is_active:
            return
        if self.details_of(item, 40) is None:
            self.leave(Wanted("do", item))
        else:
            self._place = self._list.marked if isinstance(self._list.marked, int) else None
            self.detail = item
            self._update(mark_first=True)

    @on(events.Key)
    def _on_key_pressed(self, event: events.Key) -> None:
        if self._take_key(event):
            event.stop()
            event.prevent_default()
            if self.is_active:
                self._update(mark_first=event.is_printable)
                if self.detail is None and self._place is not None:
                    self._list.mark(self._place)
                    self._place = None

    def _take_key(self, event: events.Key) -> bool:
        item = self.detail if self.detail is not None else self._marked()
        match event.key:
            case "escape" | "ctrl+c":
                self._back()
            case "enter" if self.detail is not None:
                self.leave(Wanted("do", self.detail))
            case "tab" | "ctrl+i" if item is not None:
                self.leave(Wanted("insert", item))
            case "backspace" if self.detail is None:
                self._filter = self._filter[:-1]
            case _ if self.detail is None and event.is_printable and event.character:
                self._filter += event.character
            case _:
                return False
        return True

    def _back(self) -> None:
        if self.detail is not None:
            self.detail = None
        elif self._filter:
            self._filter = ""
        else:
            self.leave(None)


class ToolsScreen(OffersScreen["ServerToolRow"]):
    """The tools of servers, each in full, to be called by hand."""

    title_text = "MCP tools"
    empty = "No tool is known yet. A server tells its tools when it starts: r in the panel Servers starts it."

    def rows_of(self, items: Sequence[ServerToolRow], wanted: str, width: int) -> list[ListRow]:
        """Draw the tools by server."""
        return tool_rows(items, wanted, width)

    def details_of(self, item: ServerToolRow, width: int) -> list[ListRow] | None:
        """Draw one tool in full."""
        return tool_details(item, width)

    def name_of(self, item: ServerToolRow) -> str:
        """Return server and name."""
        return f"{item.server}: {item.title or item.tool}"

    def hint(self) -> str:
        """Say what the keys do."""
        if self.detail is None:
            return "type to filter · Enter reads · Tab writes the call · Esc leaves"
        return "Enter fills in a call · Tab writes it · Esc goes back" if self.detail.enabled else "Esc"


class ResourcesScreen(OffersScreen["ResourceRow"]):
    """The resources of servers, to be read and mentioned."""

    title_text = "MCP resources"
    empty = "No resource is known. A server tells what it has when it starts: r in the panel Servers starts it."

    def rows_of(self, items: Sequence[ResourceRow], wanted: str, width: int) -> list[ListRow]:
        """Draw the resources by server."""
        return resource_rows(items, wanted, width)

    def hint(self) -> str:
        """Say what the keys do."""
        return "type to filter · Enter reads · Tab mentions it · Esc leaves"
