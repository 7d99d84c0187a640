"""No text of others moves anything on the screen: what is drawn of it holds nothing that a terminal obeys."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from fakes.hostile import PIECES, hostile_events

from harness_tui.tui.lines import cells, line_cells, plain
from harness_tui.tui.theme import Palette
from harness_tui.tui.transcript.drawing import BlockRenderer
from harness_tui.tui.transcript.search import Search
from harness_tui.tui.transcript.texts import copied_text, searched_text

FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


@pytest.mark.parametrize("seed", range(12))
def test_no_drawn_row_holds_anything_that_a_terminal_obeys_or_is_wider_than_the_screen(session: Any, seed: int) -> None:
    rng = random.Random(seed)
    presenter = session.play(*hostile_events(lambda: "".join(rng.choices(PIECES, k=rng.randint(1, 12)))))
    palette, search = Palette(), Search("a")
    for width, details in ((20, True), (79, False), (140, True)):
        renderer = BlockRenderer()
        renderer.details = details
        for block in presenter.transcript.blocks:
            for line in renderer.draw(block, width):
                assert line_cells(line) <= width
                assert FORBIDDEN.search(plain(line)) is None
                strip = palette.strip(line, width)
                assert strip.cell_length == width
                assert sum(cells(part.text) for part in strip) == width
                assert FORBIDDEN.search(strip.text) is None
                assert search.show(strip, current=True).text == strip.text
    for block in presenter.transcript.blocks:  # what is copied goes where others paste it
        for text in (copied_text(block), searched_text(block)):
            assert FORBIDDEN.search(text.replace("\n", "").replace("\t", "")) is None


def test_the_last_door_to_the_terminal_lets_nothing_through_that_it_would_obey() -> None:
    strip = Palette().strip((("a\x1b[2Jb\x9b2Jc\u202ed\te\nf\x07", ""),), 12)
    assert (strip.text, strip.cell_length) == ("abcd e f␇   ", 12)
