from __future__ import annotations

import pytest

from harness_tui.tui.transcript.blocks import MarkdownBlock
from harness_tui.tui.transcript.splitter import AnswerSplitter, CleanStream, split_whole

DOCUMENT = """# Title

A paragraph with **bold** text
over two lines.

- one
- two

1. first

2. second

```python
def f():

    return 1
```

| a | b |
|---|---|
| 1 | 2 |

> quote

<div>raw</div>

---

The end."""


def stream(text: str, step: int) -> list[MarkdownBlock]:
    splitter = AnswerSplitter()
    done: list[MarkdownBlock] = []
    for place in range(0, len(text), step):
        splitter.add(text[place : place + step])
        done += splitter.take()[0]
    return [*done, *splitter.take(last=True)[0]]


@pytest.mark.parametrize("step", [1, 2, 3, 7, 50, 1000])
def test_pieces_of_any_size_give_the_same_blocks_as_the_whole(step: int) -> None:
    assert [block.source for block in stream(DOCUMENT, step)] == [block.source for block in split_whole(DOCUMENT)]


def test_only_the_first_block_begins_the_answer() -> None:
    assert [block.first for block in split_whole("a\n\nb\n\nc")] == [True, False, False]
    assert [block.first for block in stream("a\n\nb\n\nc", 1)] == [True, False, False]


def test_the_last_block_stays_open_and_is_not_among_the_finished() -> None:
    splitter = AnswerSplitter()
    splitter.add("one\n\ntwo")
    done, rest = splitter.take()
    assert [block.source for block in done] == []
    assert rest is not None
    assert rest.source == "one\n\ntwo"
    splitter.add(" more\n")
    done, rest = splitter.take()
    assert [block.source for block in done] == ["one"]
    assert rest is not None
    assert rest.source == "two more"
    assert rest.open


def test_nothing_of_a_text_without_blocks_is_lost() -> None:
    assert [block.source for block in split_whole("[a]: http://example.test")] == ["[a]: http://example.test"]


def test_an_open_fence_without_end_is_committed_in_parts_that_are_fences() -> None:
    splitter = AnswerSplitter()
    code = [f"line_{number} = {number}" for number in range(100)]
    splitter.add("```python\n" + "\n".join(code) + "\n")
    done, rest = splitter.take()
    assert len(done) == 1
    assert done[0].source.startswith("```python\nline_0 = 0\n")
    assert done[0].source.endswith("\n```")
    assert rest is not None
    assert rest.source.startswith("```python\n")
    shown = [line for block in (done[0], rest) for line in block.source.split("\n") if line.startswith("line_")]
    assert shown == code


def test_a_long_open_list_goes_on_with_its_number() -> None:
    splitter = AnswerSplitter()
    splitter.add("".join(f"{number}. item\n" for number in range(1, 81)))
    done, rest = splitter.take()
    assert done[0].source.startswith("1. item")
    assert rest is not None
    assert rest.source.startswith("80. item")


def test_an_escape_sequence_that_is_cut_in_two_never_reaches_the_screen() -> None:
    clean = CleanStream()
    assert clean.feed("red \x1b[3") + clean.feed("1mtext") + clean.feed("", last=True) == "red text"
    assert clean.feed("a\r") + clean.feed("\nb", last=True) == "a\nb"


def test_a_sequence_without_end_is_given_up_after_a_while() -> None:
    clean = CleanStream()
    shown = "".join(clean.feed("\x1b]0;" if place == 0 else "x" * 100) for place in range(4))
    assert "\x1b" not in shown + clean.feed("", last=True)
