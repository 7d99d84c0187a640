from __future__ import annotations

from dataclasses import dataclass

from harness_tui.tui.transcript.layout import TranscriptLayout
from harness_tui.tui.transcript.model import Block, TranscriptModel


@dataclass(slots=True, eq=False)
class TallBlock(Block):
    """A block of ``lines`` rows named ``name:row``."""

    name: str
    lines: int


class Screen:
    """A model and a layout of it; counts drawings."""

    def __init__(self, *heights: int, height: int = 4, width: int = 20) -> None:
        self.model = TranscriptModel()
        self.drawn: list[str] = []
        self.layout: TranscriptLayout[str] = TranscriptLayout(self._draw)
        self.layout.resize(width, height)
        self.add(*heights)

    def _draw(self, block: Block, width: int) -> list[str]:
        assert isinstance(block, TallBlock)
        self.drawn.append(block.name)
        return [f"{block.name}:{row}" for row in range(block.lines)]

    def add(self, *heights: int) -> None:
        for height in heights:
            self.model.add(TallBlock(chr(ord("a") + len(self.model.blocks)), height))
        self.sync()

    def sync(self) -> None:
        self.layout.take(self.model.blocks, self.model.take_changes())

    def grow(self, index: int, lines: int) -> None:
        block = self.model.blocks[index]
        assert isinstance(block, TallBlock)
        block.lines = lines
        self.model.touch(block)
        self.sync()

    @property
    def rows(self) -> list[str]:
        return self.layout.visible()


def test_a_short_transcript_begins_at_the_top() -> None:
    assert Screen(1, 2).rows == ["a:0", "b:0", "b:1"]


def test_the_end_is_followed_while_blocks_come_and_grow() -> None:
    screen = Screen(3, 3)
    assert screen.rows == ["a:2", "b:0", "b:1", "b:2"]
    screen.grow(1, 5)
    assert screen.rows == ["b:1", "b:2", "b:3", "b:4"]
    screen.add(1)
    assert screen.rows == ["b:2", "b:3", "b:4", "c:0"]


def test_only_what_comes_into_sight_is_drawn() -> None:
    screen = Screen(*[2] * 1000)
    assert screen.rows[-1].endswith(":1")
    assert len(screen.drawn) <= 3


def test_what_comes_while_somebody_reads_moves_nothing_and_is_counted() -> None:
    screen = Screen(3, 3, 3)
    assert screen.rows
    screen.layout.move(-2)
    before = screen.rows
    screen.add(5, 1)
    screen.grow(2, 9)
    assert screen.rows == before
    assert screen.layout.new_below == 2
    screen.layout.to_end()
    assert screen.rows[-1] == "e:0"
    assert screen.layout.new_below == 0


def test_a_block_that_changes_above_does_not_move_the_reader() -> None:
    screen = Screen(3, 3, 3, 3, 3)
    assert screen.rows
    screen.layout.move(-3)
    before = screen.rows
    screen.grow(0, 20)
    assert screen.rows == before


def test_pages_go_over_blocks_of_any_height_without_a_gap() -> None:
    heights = (7, 1, 5, 2, 9, 3)
    every = [f"{name}:{row}" for name, size in zip("abcdef", heights, strict=True) for row in range(size)]
    screen = Screen(*heights)
    place = every.index(screen.rows[0])
    assert place == len(every) - 4
    while place > 0:
        screen.layout.move(-3)
        place = max(0, place - 3)
        assert screen.rows == every[place : place + 4]


def test_moving_past_the_end_follows_again() -> None:
    screen = Screen(5, 5)
    screen.layout.move(-3)
    assert not screen.layout.follow
    screen.layout.move(2)
    assert not screen.layout.follow
    screen.layout.move(1)
    assert screen.layout.follow


def test_the_start_and_any_share_can_be_reached() -> None:
    screen = Screen(5, 5, 5, 5)
    assert screen.rows
    screen.layout.to_start()
    assert screen.rows == ["a:0", "a:1", "a:2", "a:3"]
    screen.layout.to_share(0.5)
    assert len(screen.rows) == 4
    screen.layout.to_share(1.0)
    assert screen.layout.follow


def test_a_new_width_draws_only_what_is_in_sight() -> None:
    screen = Screen(*[2] * 500)
    assert screen.rows
    screen.drawn.clear()
    screen.layout.resize(10, 4)
    assert screen.rows[-1].endswith(":1")
    assert len(screen.drawn) <= 3


def test_a_block_that_shrinks_under_the_reader_keeps_a_place_in_it() -> None:
    screen = Screen(10, 10)
    assert screen.rows
    screen.layout.move(-12)
    screen.grow(0, 2)
    assert screen.rows[0] == "a:1"


def test_an_empty_transcript_takes_every_movement() -> None:
    screen = Screen()
    for move in (-5, 5):
        screen.layout.move(move)
    screen.layout.to_start()
    screen.layout.to_end()
    assert screen.rows == []
    assert screen.layout.block_at(0) is None


def test_a_row_is_traced_back_to_its_block() -> None:
    screen = Screen(3, 3)
    assert screen.rows == ["a:2", "b:0", "b:1", "b:2"]
    assert screen.layout.block_at(0) == (0, 2)
    assert screen.layout.block_at(3) == (1, 2)
    assert list(screen.layout.in_sight()) == [0, 1]


def test_blocks_that_are_replaced_keep_the_places_of_the_others() -> None:
    screen = Screen(1, 1, 1)
    assert screen.rows
    screen.model.replace(1, [TallBlock("x", 1), TallBlock("y", 1)])
    screen.sync()
    assert screen.rows == ["a:0", "x:0", "y:0", "c:0"]
    assert [block.index for block in screen.model.blocks] == [0, 1, 2, 3]


def test_a_block_that_comes_before_the_reader_moves_nothing() -> None:
    screen = Screen(3, 3, 3, 3)
    assert screen.rows
    screen.layout.move(-3)
    before = screen.rows
    screen.model.replace(0, [TallBlock("x", 2), TallBlock("y", 9)])
    screen.sync()
    assert screen.rows == before


def test_an_answer_that_is_cut_into_blocks_under_the_reader_stays_where_it_was() -> None:
    screen = Screen(2, 10, 2)
    assert screen.rows
    screen.layout.move(-4)
    assert screen.rows == ["b:4", "b:5", "b:6", "b:7"]
    screen.model.replace(1, [TallBlock("x", 3), TallBlock("y", 7)])  # the same ten rows as two blocks
    screen.sync()
    assert screen.rows == ["y:1", "y:2", "y:3", "y:4"]


def test_what_grows_below_the_reader_is_told_until_they_are_at_the_end_again() -> None:
    screen = Screen(5, 5)
    assert screen.rows
    screen.layout.move(-3)
    assert not screen.layout.grown_below
    screen.grow(1, 7)
    assert (screen.layout.grown_below, screen.layout.new_below) == (True, 0)
    screen.layout.to_end()
    assert not screen.layout.grown_below


def test_what_was_drawn_before_a_new_width_is_drawn_again_in_idle_moments_nearest_first() -> None:
    screen = Screen(*[2] * 8)
    for _ in range(2):
        assert screen.rows
        screen.layout.move(-4)
    screen.layout.resize(10, 4)
    assert screen.rows[0] == "c:0"
    screen.drawn.clear()
    assert screen.layout.wrap_more(1)
    assert screen.drawn == ["e"]
    assert screen.layout.wrap_more(2)
    assert not screen.layout.wrap_more(2)
    assert screen.drawn == ["e", "f", "g", "h"]  # a and b were never in sight
    assert screen.rows[0] == "c:0"


def test_a_line_is_brought_into_sight_with_some_above_it() -> None:
    screen = Screen(9, 9, 9)
    assert screen.rows
    screen.layout.to_line(1, 5, above=2)
    assert screen.rows == ["b:3", "b:4", "b:5", "b:6"]
    assert screen.layout.shows(1, 5)
    assert not screen.layout.shows(1, 7)
