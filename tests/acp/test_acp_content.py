"""What an editor sends as a prompt: taken as it is, or refused before it stands in a history."""

from __future__ import annotations

import acp
import pytest

from harness_tui.acp.content import read_prompt


def test_text_links_and_what_is_embedded_are_taken():
    resource = acp.resource_block(acp.embedded_text_resource("file:///srv/a%20b.py", "x = 1"))
    blocks = [acp.text_block("look"), acp.resource_link_block("notes", "file:///srv/notes.md"), resource]
    text, (embedded,) = read_prompt([*blocks, acp.text_block("please")])
    assert text == "look\n[notes](/srv/notes.md)\nplease"
    assert (embedded.kind, embedded.uri, embedded.content, embedded.bytes) == ("text", "/srv/a b.py", "x = 1", 5)
    assert read_prompt([acp.image_block("aGk=", "image/png")])[1][0].bytes == 2


@pytest.mark.parametrize(
    ("block", "told"),
    [
        (acp.image_block("no base 64!", "image/png"), "not base 64"),
        (acp.image_block("", "image/png"), "is empty"),
        (acp.image_block("aGk=", "text/html"), "'text/html' cannot be taken"),
        (acp.audio_block("aGk=", "audio/wav"), "'audio' cannot be taken"),
        (acp.resource_block(acp.embedded_blob_resource("file:///a.bin", "aGk=")), "link the file"),
    ],
)
def test_what_no_model_could_take_is_refused(block, told):
    with pytest.raises(ValueError, match=told):
        read_prompt([block])
