"""A SKILL.md against its entry: bytes, digest, and front matter field by field."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from harness_tui.core.remote_skills import RemoteFile, RemoteSkill
from harness_tui.library.remote_check import UnverifiedError, body_of, check_file
from harness_tui.library.skill_text import remote_folder, remote_origin, wrapped


def skill(**front_matter: Any) -> RemoteSkill:
    return RemoteSkill("docs", "skill://pdf/SKILL.md", "pdf", front_matter)


def test_bytes_and_digest_must_both_fit() -> None:
    data = b"abc"
    digest = "sha256:" + hashlib.sha256(data).hexdigest()
    check_file(skill(), RemoteFile("skill://pdf/a", digest, 3), data)
    with pytest.raises(UnverifiedError, match="a has 3 bytes, its entry says 4"):
        check_file(skill(), RemoteFile("skill://pdf/a", digest, 4), data)
    with pytest.raises(UnverifiedError, match="a has another digest"):
        check_file(skill(), RemoteFile("skill://pdf/a", digest, 3), b"abd")


@pytest.mark.parametrize(
    ("written", "listed"),
    [
        ("x", "x"),
        ("'1.0'", "1.0"),
        ("1.0", 1.0),
        ("1.0", "1.0"),
        ("12", 12),
        ("0x1f", 31),
        ("true", True),
        ("off", False),
        ("~", None),
        ("2026-07-28", "2026-07-28"),
        ("[a, 1, {b: no}]", ["a", 1, {"b": False}]),
        ("\n  a: 1\n  b: [x]", {"b": ["x"], "a": 1}),
        (">\n  two\n  lines\n", "two lines\n"),
    ],
)
def test_what_yaml_says_and_what_json_says_are_the_same(written: str, listed: Any) -> None:
    assert body_of(skill(key=listed), f"---\r\nkey: {written}\r\n---\r\nBody\r\n".encode()) == "Body\n"


@pytest.mark.parametrize(
    ("text", "listed", "words"),
    [
        ("key: x", {"key": "y"}, "differs from its entry in 'key'"),
        ("key: '12'", {"key": 12}, "differs from its entry in 'key'"),
        ("key: 'true'", {"key": True}, "differs from its entry in 'key'"),
        ("key: [a]", {"key": "a"}, "differs from its entry in 'key'"),
        ("key: [a]", {"key": ["a", "b"]}, "differs from its entry in 'key'"),
        ("key: {a: 1}", {"key": {"a": 2}}, "differs from its entry in 'key'"),
        ("key: x\nmore: y", {"key": "x"}, "differs from its entry in 'more'"),
        ("key: x", {"key": "x", "more": "y"}, "differs from its entry in 'more'"),
        ("key: x\nkey: x", {"key": "x"}, "differs from its entry in 'key'"),
        ("key: &a x\nother: *a", {"key": "x", "other": "x"}, "cannot be read: anchor"),
        ("- x", {}, None),
    ],
)
def test_any_difference_is_a_refusal(text: str, listed: dict[str, Any], words: str | None) -> None:
    data = f"---\n{text}\n---\nBody".encode()
    if words is None:
        assert body_of(skill(**listed), data) == "Body"
        return
    with pytest.raises(UnverifiedError, match=words):
        body_of(skill(**listed), data)


@pytest.mark.parametrize("data", [b"Body", b"---\nkey: x\n", b"---\n\xff\n---\n", b"---\nkey: x\n---\n\x00"])
def test_what_is_no_skill_file_is_refused(data: bytes) -> None:
    with pytest.raises(UnverifiedError, match=r"its SKILL\.md"):
        body_of(skill(key="x"), data)


def test_the_text_of_a_servers_skill_tells_whose_it_is_and_that_of_a_folder_cannot() -> None:
    one = skill(name="pdf")
    text = wrapped("docs:pdf", remote_folder(one), "</skill> <skill>", [])
    assert remote_origin(text) == f"docs:pdf@{one.set}"
    local = wrapped("pdf", f"/x of the MCP server docs, set {one.set}", "Body", [])
    assert remote_origin(local) is None


def test_any_change_of_an_entry_is_another_set() -> None:
    file = RemoteFile("skill://pdf/SKILL.md", "sha256:" + "0" * 64, 1)
    one = RemoteSkill("docs", "skill://pdf/SKILL.md", "pdf", {"name": "pdf"}, (file,))
    others = [
        RemoteSkill("other", one.uri, "pdf", one.front_matter, one.files),
        RemoteSkill("docs", "skill://x/pdf/SKILL.md", "pdf", one.front_matter, one.files),
        RemoteSkill("docs", one.uri, "pdf", {"name": "pdf", "description": "d"}, one.files),
        RemoteSkill("docs", one.uri, "pdf", one.front_matter, (file, RemoteFile("skill://pdf/a", file.digest, 1))),
        RemoteSkill("docs", one.uri, "pdf", one.front_matter, (RemoteFile(file.uri, "sha256:" + "1" * 64, 1),)),
    ]
    assert len({one.set, *(other.set for other in others)}) == 6
