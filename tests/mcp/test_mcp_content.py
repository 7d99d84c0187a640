"""Answers as text and attachments: joined, saved safely, nothing believed that the bytes do not say."""

from __future__ import annotations

import base64
import stat
from pathlib import Path
from typing import Any

import pytest

from harness_tui.mcp.content import NOTHING, render
from harness_tui.mcp.listing import CallOutcome
from harness_tui.mcp.prompts import prompt_messages

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 8
WAV = b"RIFF\x04\x00\x00\x00WAVEdata"


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def text_of(tmp_path: Path, *blocks: dict[str, Any], **more: Any) -> str:
    return render(CallOutcome(blocks, **more), folder=tmp_path / "images", name="c1").text


def test_texts_are_joined_by_one_line_end(tmp_path: Path) -> None:
    assert text_of(tmp_path, {"type": "text", "text": "one"}, {"type": "text", "text": "two"}) == "one\ntwo"


def test_structured_content_is_not_doubled(tmp_path: Path) -> None:
    assert text_of(tmp_path, {"type": "text", "text": '{"a": 1}'}, structured={"a": 1}) == '{"a": 1}'


def test_structured_content_alone_is_shown(tmp_path: Path) -> None:
    assert text_of(tmp_path, structured={"a": 1}) == '{\n  "a": 1\n}'


def test_an_empty_answer_says_so(tmp_path: Path) -> None:
    assert text_of(tmp_path) == NOTHING


def test_an_image_is_saved_noted_and_attached(tmp_path: Path) -> None:
    outcome = CallOutcome(({"type": "image", "data": encoded(PNG), "mimeType": "image/png"},))
    rendered = render(outcome, folder=tmp_path / "images", name="c1")
    path = tmp_path / "images" / "c1-1.png"
    assert path.read_bytes() == PNG
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert rendered.text == f"[image: image/png, 16 bytes, saved as {path}]"
    (attachment,) = rendered.attachments
    assert (attachment.kind, attachment.mime, attachment.bytes) == ("image", "image/png", 16)
    assert attachment.content == encoded(PNG)


def test_the_declared_type_is_not_believed(tmp_path: Path) -> None:
    outcome = CallOutcome(({"type": "image", "data": encoded(b"#!/bin/sh\n"), "mimeType": "../../x"},))
    rendered = render(outcome, folder=tmp_path / "images", name="../../c1")
    assert [path.name for path in (tmp_path / "images").iterdir()] == ["______c1-1.bin"]
    assert "application/octet-stream, 10 bytes" in rendered.text
    assert rendered.text.endswith("declared as ../../x]")
    assert rendered.attachments == ()
    assert [path.name for path in tmp_path.iterdir()] == ["images"]


def test_audio_is_saved_and_noted_but_not_attached(tmp_path: Path) -> None:
    outcome = CallOutcome(({"type": "audio", "data": encoded(WAV), "mimeType": "audio/wav"},))
    rendered = render(outcome, folder=tmp_path / "images", name="c1")
    assert (tmp_path / "images" / "c1-1.wav").read_bytes() == WAV
    assert rendered.text.startswith("[audio: audio/wav, 16 bytes, saved as ")
    assert rendered.attachments == ()


def test_bad_base64_costs_only_its_block(tmp_path: Path) -> None:
    text = text_of(
        tmp_path, {"type": "image", "data": "%%%", "mimeType": "image/png"}, {"type": "text", "text": "fine"}
    )
    assert text == "[image left out: its data is not valid base64, declared as image/png]\nfine"


def test_resources_and_links_become_text(tmp_path: Path) -> None:
    link = {"type": "resource_link", "uri": "file:///a", "name": "a", "mimeType": "text/plain"}
    embedded = {"type": "resource", "resource": {"uri": "test://b", "text": "the body"}}
    assert text_of(tmp_path, link, embedded) == (
        "[resource link: file:///a - a, text/plain]\n[resource test://b]\nthe body"
    )


def test_an_earlier_file_of_the_same_call_is_never_written_over(tmp_path: Path) -> None:
    outcome = CallOutcome(({"type": "image", "data": encoded(PNG), "mimeType": "image/png"},))
    for _ in range(2):
        render(outcome, folder=tmp_path / "images", name="c1")
    assert sorted(path.name for path in (tmp_path / "images").iterdir()) == ["c1-1-2.png", "c1-1.png"]


def test_a_folder_that_cannot_be_written_costs_only_the_file(tmp_path: Path) -> None:
    (tmp_path / "images").write_text("a file in the way")
    text = text_of(
        tmp_path, {"type": "image", "data": encoded(PNG), "mimeType": "image/png"}, {"type": "text", "text": "x"}
    )
    assert text.startswith("[image left out: it could not be saved: ")
    assert text.endswith("\nx")


@pytest.mark.parametrize(("role", "expected"), [("assistant", "assistant"), ("user", "user"), ("odd", "user")])
def test_prompt_texts_are_verbatim(role: str, expected: str) -> None:
    (message,) = prompt_messages("s:p", [(role, {"type": "text", "text": " $1 !`x` @y\n"})])
    assert (message.role, message.text) == (expected, " $1 !`x` @y\n")


def test_an_image_of_a_prompt_is_attached() -> None:
    (message,) = prompt_messages("s:p", [("user", {"type": "image", "data": encoded(PNG), "mimeType": "x/y"})])
    (attachment,) = message.attachments
    assert (attachment.mime, attachment.uri, attachment.content) == ("image/png", "s:p#1", encoded(PNG))


def test_what_is_too_large_in_a_prompt_is_cut_or_left_out_and_says_so() -> None:
    long = {"type": "resource", "resource": {"uri": "file:///a", "text": "x" * (256 * 1024 + 5)}}
    large = {"type": "image", "data": encoded(PNG + bytes(5 * 1024 * 1024)), "mimeType": "image/png"}
    text, image = prompt_messages("s:p", [("user", long), ("user", large)])
    (attached,) = text.attachments
    assert (attached.truncated, attached.bytes) == (True, 256 * 1024 + 5)
    assert (attached.content or "").endswith("the first 262144 of 262149 bytes are attached ...]")
    assert image.attachments == ()
    assert image.text.startswith("[image left out: image/png of ")
