"""The review of a change on the whole screen: files, their parts with ticks, one under the other or side by side."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import ClassVar, Final, Literal, TypeAlias

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical

from harness_tui.core.text import clean_for_display
from harness_tui.tui.approval.review import FileReview, Review
from harness_tui.tui.lines import Line, ListRow, cells, cut_cells_start, two_ends
from harness_tui.tui.row_list import RowList
from harness_tui.tui.screens.dialog import Dialog
from harness_tui.tui.screens.heading import Heading
from harness_tui.tui.screens.reader import Reader
from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette
from harness_tui.tui.transcript.diff import DiffRow, colour, unified_lines
from harness_tui.tui.transcript.diff_split import SPLIT_CELLS, split_lines
from harness_tui.tui.transcript.highlight import Highlighter

Outcome: TypeAlias = Literal["allow", "back", "gone"]
"""Allow what is shown, go back to the question, or: it is not asked any more."""
EditText: TypeAlias = Callable[[str, str], Awaitable[tuple[str | None, str]]]
"""Lets the person's editor have a text under a name; gives it as it is then, or ``None`` and what went wrong."""

DRAWN_LINES: Final = 3_000
"""So many lines of a file are drawn, anew at every tick; the rest is counted, and can be read in an editor."""

REVIEW_KEYS: Final = (
    ("Space", "Take a part of the change out, or put it back"),
    ("a", "All parts of the file, or none"),
    ("n, p", "The next part, the part before"),
    ("↑ ↓ PgUp PgDn", "Scroll"),
    ("[ ]", "The file before, the next file"),
    ("Tab", "To the list of files, and back"),
    ("e", "Edit what is proposed in your editor"),
    ("u", "Forget what you edited and took out in this file"),
    ("s", "Side by side, or one under the other"),
    ("y", "Allow it as it is shown now, once"),
    ("Esc, q", "Back to the question; what was taken out and edited is kept"),
)
"""The keys of the screen, for the help."""


class PartList(RowList, inherit_bindings=False):
    """Parts of a change with their lines: arrows scroll, and the mark follows to a part in sight."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_by(-1)", "Up", show=False),
        Binding("down,j", "scroll_by(1)", "Down", show=False),
        Binding("pageup", "scroll_page(-1)", "Page up", show=False),
        Binding("pagedown", "scroll_page(1)", "Page down", show=False),
        Binding("home", "scroll_by(-1000000)", "First line", show=False),
        Binding("end", "scroll_by(1000000)", "Last line", show=False),
        Binding("n", "move(1)", "Next part", show=False),
        Binding("p", "move(-1)", "Part before", show=False),
    ]

    def action_scroll_by(self, lines: int) -> None:
        """Scroll; a mark that goes out of sight moves to the nearest part that is in it."""
        self.scroll_lines(lines)
        self.mark_in_sight()

    def action_scroll_page(self, way: int) -> None:
        """Scroll by a page, less one line."""
        self.action_scroll_by(way * max(1, self.size.height - 1))


class ReviewScreen(Dialog[Outcome]):
    """Goes through a change. ``review`` is kept by whoever opens it, and altered here."""

    DEFAULT_CSS = beside(__file__)

    def __init__(self, palette: Palette, title: str, review: Review, highlighter: Highlighter, edit: EditText) -> None:
        super().__init__()
        self._palette = palette
        self._title = clean_for_display(title, one_line=True)
        self._review = review
        self._highlighter = highlighter
        self._edit = edit
        self._file = 0
        self._split: bool | None = None
        self._problem = ""
        self._heading = Heading(palette)
        self._files = RowList(palette, id="review-files", mark_always=True)
        self._parts = PartList(palette, id="review-parts", mark_always=True)

    def compose(self) -> ComposeResult:
        """A heading, the files where there are several, the parts of one."""
        with Vertical(id="box"):
            yield self._heading
            with Horizontal():
                yield self._files
                yield self._parts

    def on_mount(self) -> None:
        """Fill it."""
        self.set_class(len(self._review.files) > 1, "-several")
        self._update(mark_first=True)
        self._parts.focus()

    # --- drawing -------------------------------------------------------------------------------------

    @property
    def _present(self) -> FileReview:
        return self._review.files[self._file]

    def _update(self, *, mark_first: bool = False) -> None:
        file, count = self._present, len(self._review.files)
        where = f"  file {self._file + 1} of {count}" if count > 1 else ""
        name = clean_for_display(file.path, one_line=True)
        left: Line = ((self._title, "bold"), (where, "muted"))
        if count > 1:
            left = (*left, (f"  {name}", "accent"))
        keys = "Space part · e edit · y allow · Esc back · F1 keys"
        self._heading.show_line(left, self._hint(keys))
        self._files.show_rows(self._file_rows)
        self._files.mark(self._file)
        self._parts.show_rows(self._part_rows, mark_first=mark_first)

    def _hint(self, keys: str) -> str:
        told = self._problem or ("nothing of the change is left" if self._review.empty else self._review.summary())
        return f"{told} · {keys}" if told else keys

    def _file_rows(self, width: int) -> Sequence[ListRow]:
        rows: list[ListRow] = []
        for place, file in enumerate(self._review.files):
            sign = "✎" if file.edited else " "
            right = f"{file.taken}/{len(file.parts)}"
            name = cut_cells_start(clean_for_display(file.path, one_line=True), width - cells(right) - 4)
            style = "muted" if file.result() is None else ""
            rows.append(
                ListRow((two_ends(((f"{sign} ", "accent"), (name, style)), ((right, "muted"),), width),), place)
            )
        return rows

    def _part_rows(self, width: int) -> Sequence[ListRow]:
        file, left = self._present, DRAWN_LINES
        rows: list[ListRow] = []
        for part in range(len(file.parts)):
            above, skipped, below = file.context(part) if left > 0 else ([], False, [])
            if skipped:
                rows.append(ListRow(((("⋯", "hunk"),),)))
            rows += self._drawn(above, width)
            rows.append(ListRow((self._head(file, part, width),), part))
            shown = file.rows(part, left)
            rows += self._muted(shown, width) if part in file.left_out else self._drawn(shown, width)
            if (hidden := file.size(part) - sum(row.sign in "+-" for row in shown)) > 0:
                rows.append(ListRow((((f"… {hidden} more lines: e shows them in your editor", "warning"),),)))
            rows += self._drawn(below, width)
            left -= len(shown) + len(above) + len(below)
        if not file.parts:
            what = "The new file is empty." if file.new else "Nothing differs from what is there."
            rows.append(ListRow((((what, "muted"),),)))
        return rows

    def _head(self, file: FileReview, part: int, width: int) -> Line:
        one = file.parts[part]
        tick, style = ("[ ]", "muted") if part in file.left_out else ("[x]", "accent bold")
        left: Line = ((f"{tick} part {part + 1} of {len(file.parts)}", style),)
        return two_ends(left, ((f"+{one.d - one.c}", "added"), (f" -{one.b - one.a} ", "removed")), width)

    def _drawn(self, rows: list[DiffRow], width: int) -> list[ListRow]:
        if not rows:
            return []
        colour(rows, self._highlighter)
        wide = width >= SPLIT_CELLS and not self._present.new
        split = self._split if self._split is not None else wide
        draw = split_lines if split else unified_lines
        return [ListRow((line,)) for line in draw(rows, width, self._present.digits)]

    def _muted(self, rows: list[DiffRow], width: int) -> list[ListRow]:
        """Draw what is left out: as it is now, and in no colour, so that it reads as not there."""
        lines = unified_lines(rows, width, self._present.digits)
        return [ListRow((tuple((text, "muted") for text, _ in line),)) for line in lines]

    # --- keys ----------------------------------------------------------------------------------------

    @on(events.Key)
    async def _on_key_pressed(self, event: events.Key) -> None:
        if not self.is_active:
            return
        if await self._take_key(event.key):
            event.stop()
            event.prevent_default()

    async def _take_key(self, key: str) -> bool:
        match key:
            case "escape" | "q" | "ctrl+c":
                self.leave("back")
            case "y" if not self._review.empty:
                self.leave("allow")
            case "left_square_bracket" | "right_square_bracket":
                self._show_file(self._file + (1 if key == "right_square_bracket" else -1))
            case "tab" | "shift+tab":
                (self._parts if self._files.has_focus or not self._files.display else self._files).focus()
            case "s":
                self._split = not (self._split if self._split is not None else self._parts.size.width >= SPLIT_CELLS)
                self._update()
            case "f1" | "question_mark":
                self._show_keys()
            case "space" | "enter" | "a" | "u" | "e":
                await self._alter(key)
            case _:
                return False
        return True

    def _show_keys(self) -> None:
        from harness_tui.tui.help import key_lines  # it lists the keys of this screen too

        self.app.push_screen(Reader(self._palette, self._title, lambda width: key_lines(REVIEW_KEYS, width)))

    async def _alter(self, key: str) -> None:
        file, part = self._present, self._parts.marked
        self._problem = ""
        match key:
            case "space" | "enter" if isinstance(part, int):
                file.tick(part)
            case "a":
                file.tick_all()
            case "u":
                file.reset()
            case "e":
                present = file.present()
                text, self._problem = await self._edit(file.path, present)
                if text is not None and text != present:
                    file.edit(text)
            case _:
                pass
        self._update()

    def _show_file(self, place: int) -> None:
        fresh, self._file = self._file, place % len(self._review.files)
        self._update(mark_first=fresh != self._file)

    @on(RowList.Marked, "#review-files")
    def _on_file_marked(self, event: RowList.Marked) -> None:
        event.stop()
        self._follow(event.key)

    @on(RowList.Chosen, "#review-files")
    def _on_file_chosen(self, event: RowList.Chosen) -> None:
        event.stop()
        self._follow(event.key)
        self._parts.focus()

    @on(RowList.Chosen, "#review-parts")
    def _on_part_clicked(self, event: RowList.Chosen) -> None:
        event.stop()
        if isinstance(event.key, int):
            self._present.tick(event.key)
            self._update()

    def _follow(self, key: Hashable | None) -> None:
        if isinstance(key, int) and key != self._file:
            self._show_file(key)
