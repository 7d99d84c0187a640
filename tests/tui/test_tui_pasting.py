"""Pastes are cut out of the input whole, however the terminal sends them and however reads cut it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual import events
from textual.drivers import linux_driver

from harness_tui.tui.pasting import BURST_CHARS, BURST_S, LOST_END_S, PasteParser, install

BEGIN, END = "\x1b[200~", "\x1b[201~"


class Clock:
    """Seconds that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def said(messages) -> list[str]:
    return [f"paste {m.text}" if isinstance(m, events.Paste) else m.key for m in messages]


def read(*pieces: str) -> list[str]:
    """Return what the parser makes of reads that come right after each other, and of the silence after them."""
    clock = Clock()
    parser = PasteParser(now=clock)
    found = [m for piece in pieces for m in [*parser.feed(piece), *parser.tick()]]
    clock.now += LOST_END_S + 1
    return said([*found, *parser.tick()])


def test_a_bracketed_paste_is_one_message_between_the_keys_around_it():
    assert read(f"a{BEGIN}one\ntwo{END}b\r") == ["a", "paste one\ntwo", "b", "enter"]
    assert read(f"{BEGIN}{END}x") == ["paste ", "x"]
    assert read(f"{BEGIN}one{END}{BEGIN}two{END}") == ["paste one", "paste two"]


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_it_makes_no_difference_where_reads_cut_the_input(data: st.DataObject):
    text = data.draw(st.text(st.sampled_from("ab \n\x1b[20é😀"), max_size=20)).replace(END, "")
    whole = f"k{BEGIN}{text}{END}\x1b[Az"
    cuts = sorted(data.draw(st.sets(st.integers(1, len(whole) - 1), max_size=8)))
    pieces = [whole[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert read(*pieces) == ["k", f"paste {text}", "up", "z"]


@pytest.mark.parametrize("text", ["\x1b[31mred\x1b[0m", "a\x00b", "one\r\ntwo\rthree", "\x1b", "\x1b[201", "\x1b[200~"])
def test_what_is_pasted_is_text_and_never_keys(text):
    wanted = text.replace("\x00", "").replace("\r\n", "\n").replace("\r", "\n")
    assert read(f"{BEGIN}{text}{END}") == [f"paste {wanted}"]


def test_many_characters_at_once_are_a_paste_and_few_are_keys():
    assert read("hello\r") == [*"hello", "enter"]
    text = "line\r" * 60
    assert read(text) == ["paste " + "line\n" * 60]
    assert read(text, "tail\r", "x") == ["paste " + "line\n" * 60 + "tail\nx"]
    assert read("a" * (BURST_CHARS - 1)) == ["a"] * (BURST_CHARS - 1)


def test_a_key_after_a_burst_is_a_key():
    clock = Clock()
    parser = PasteParser(now=clock)
    text = "b" * BURST_CHARS
    assert said([*parser.feed(text), *parser.tick()]) == []
    clock.now += BURST_S * 2
    assert said(parser.tick()) == [f"paste {text}"]
    assert said([*parser.feed(text), *parser.feed("\x1b[A")]) == [f"paste {text}", "up"]
    parser.feed(text)
    clock.now += BURST_S * 2
    assert said(parser.feed("\r")) == ["enter"]


def test_a_paste_whose_end_is_lost_does_not_swallow_the_keys_for_ever():
    clock = Clock()
    parser = PasteParser(now=clock)
    assert said([*parser.feed(f"{BEGIN}half\x1b[2"), *parser.tick()]) == []
    clock.now += LOST_END_S + 0.1
    assert said(parser.tick()) == ["paste half\x1b[2"]
    assert said(parser.feed("x")) == ["x"]
    assert said([*PasteParser(now=clock).feed(f"{BEGIN}cut"), *parser.feed("")]) == []


def test_the_end_of_the_input_gives_what_was_pasted_so_far():
    parser = PasteParser(now=Clock())
    assert said(parser.feed(f"{BEGIN}cut")) == []
    assert said(parser.feed("")) == ["paste cut"]


def test_the_driver_of_the_terminal_reads_with_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(linux_driver, "XTermParser", linux_driver.XTermParser)  # put back afterwards
    install()
    reader = linux_driver.LinuxDriver.run_input_thread
    assert "XTermParser" in reader.__code__.co_names
    assert reader.__globals__["XTermParser"] is PasteParser
