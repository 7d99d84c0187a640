"""Mentions: which words are one, which file they mean, and what is attached."""

from __future__ import annotations

import base64
import os
from dataclasses import replace

import pytest
from fakes.fake_gates import FakeReadGate
from library_scene import Expand, Scene

from harness_tui.library.expansion import Surroundings
from harness_tui.library.lexer import find_mentions
from harness_tui.library.mentions import mention_of
from harness_tui.library.one_file import expand_file

PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 20


@pytest.mark.rule("3.4.1", "3.4.2", "3.4.3", "3.4.4")
@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("see @a.py and @b/c.", ["a.py", "b/c."]),
        ('@"my file.txt" x', ["my file.txt"]),
        ("(@a) [@b] '@c'", ["a)", "b]", "c"]),
        ("@a,@b;@c|d", ["a", "b", "c"]),
        ("me@host @@x a.@b _@c /@d", []),
        ("`@code` ``@x`` `@not @y", ["y"]),
        ("```\n@fence\n```\n@after", ["after"]),
        ("<!-- @comment --> @shown", ["shown"]),
        ("@ @, x", []),
        ("$1 @$2", ["$2"]),
        ("(@ä/ö)", ["ä/ö)"]),
    ],
)
def test_mentions_in_a_message(text: str, paths: list[str]) -> None:
    assert find_mentions(text) == paths


@pytest.mark.rule("3.4.8")
async def test_a_file_is_attached_and_the_text_stays(expand: Expand, scene: Scene) -> None:
    scene.write("root/src/a.py", "print(1)\n")
    found = await expand("Explain @src/a.py.")
    assert found.message == "Explain @src/a.py."
    (attachment,) = found.attachments
    assert (attachment.kind, attachment.path, attachment.bytes) == ("text", "src/a.py", 9)
    assert attachment.content == "print(1)\n"


@pytest.mark.rule("3.4.5")
async def test_a_trailing_mark_belongs_to_a_name_that_exists(expand: Expand, scene: Scene) -> None:
    scene.write("root/odd).", "x")
    scene.write("root/plain", "y")
    found = await expand("(see @odd).) (see @plain).)")
    assert [item.path for item in found.attachments] == ["odd).", "plain"]


@pytest.mark.rule("3.4.6")
async def test_a_mention_may_be_made_of_arguments(expand: Expand, scene: Scene) -> None:
    scene.write("root/src/my file.py", "x")
    scene.write("root/b.py", "y")
    found = await expand("@src/$1 @${2:-b.py} @$9", '"my file.py"')
    assert [item.path for item in found.attachments] == ["src/my file.py", "b.py"]
    assert found.message == "@src/my file.py @b.py @"
    assert found.warnings == ()


@pytest.mark.rule("3.4.4", "3.4.10")
async def test_a_sign_that_is_no_placeholder_is_a_part_of_the_path(expand: Expand, scene: Scene) -> None:
    scene.write("root/$cash/a", "1")
    found = await expand("@$cash/a and @$HOME/a for $1", "x")
    assert [item.path for item in found.attachments] == ["$cash/a"]
    assert found.warnings == ("@$HOME/a: no such file or folder",)


@pytest.mark.rule("3.1.8")
async def test_mentions_that_were_typed_attach_after_those_of_the_template(expand: Expand, scene: Scene) -> None:
    scene.write("root/a", "1")
    scene.write("root/b", "2")
    found = await expand("Look: $ARGUMENTS @a", "at @b and `@c`")
    assert [item.path for item in found.attachments] == ["a", "b"]


@pytest.mark.rule("3.4.8")
async def test_each_file_is_attached_once_whatever_it_is_called(expand: Expand, scene: Scene) -> None:
    scene.write("root/a", "1")
    os.symlink("a", scene.root / "link")
    found = await expand("@a @./a @link @sub/../a")
    assert [item.path for item in found.attachments] == ["a"]


@pytest.mark.rule("3.4.10", "3.8.9")
async def test_a_missing_file_is_a_warning_and_text(expand: Expand) -> None:
    found = await expand("Use @nothing/here.py now, @media too. " + "@" + "x" * 9_000)
    assert found.attachments == ()
    assert found.error is None
    assert "nothing/here.py" in found.warnings[0]
    assert len(found.warnings) == 3


@pytest.mark.rule("3.4.9")
async def test_a_folder_gives_a_sorted_listing_of_one_level(expand: Expand, scene: Scene) -> None:
    for name in ("b.txt", "a/inner.txt", "c.txt"):
        scene.write(f"root/dir/{name}", "")
    (attachment,) = (await expand("@dir/")).attachments
    assert (attachment.kind, attachment.path, attachment.content) == ("directory", "dir", "a/\nb.txt\nc.txt")


@pytest.mark.rule("3.4.9")
async def test_a_long_listing_says_how_much_is_missing(expand: Expand, scene: Scene) -> None:
    for number in range(203):
        scene.write(f"root/dir/{number:03}", "")
    (attachment,) = (await expand("@dir")).attachments
    lines = (attachment.content or "").splitlines()
    assert (len(lines), lines[0], lines[199]) == (201, "000", "199")
    assert "3 more" in lines[200]


@pytest.mark.rule("3.4.13")
async def test_a_long_text_gives_its_head_with_a_note(expand: Expand, scene: Scene) -> None:
    scene.write("root/lines", "x\n" * 2_001)
    scene.write("root/bytes", "é" * 200_000)
    lines, size = (await expand("@lines @bytes")).attachments
    assert (lines.content or "").count("x\n") == 2_000
    assert "truncated" in (lines.content or "").splitlines()[-1]
    assert (size.bytes, size.truncated) == (400_000, True)
    assert (size.content or "").splitlines()[0] == "é" * 131_072


@pytest.mark.rule("3.4.12")
async def test_a_pdf_is_attached_as_one(expand: Expand, scene: Scene) -> None:
    scene.write("root/paper.pdf", b"%PDF-1.7\n\x00\xe2 binary")
    (paper,) = (await expand("@paper.pdf")).attachments
    assert (paper.kind, paper.mime, paper.bytes, paper.path) == ("resource", "application/pdf", 18, "paper.pdf")
    assert base64.b64decode(paper.content or "") == b"%PDF-1.7\n\x00\xe2 binary"


@pytest.mark.rule("3.4.11", "3.4.12")
async def test_binary_files_are_a_warning_and_images_are_images(
    expand: Expand, scene: Scene, around: Surroundings
) -> None:
    scene.write("root/data.bin", b"a\x00b")
    scene.write("root/pic.txt", PNG)
    found = await expand("@data.bin @pic.txt")
    (image,) = found.attachments
    assert (image.kind, image.mime, image.bytes) == ("image", "image/png", 28)
    assert base64.b64decode(image.content or "") == PNG
    assert "data.bin" in found.warnings[0]
    blind = await expand_file(scene.write("t.md", "@pic.txt"), "", replace(around, images=False))
    assert blind.attachments == ()
    assert "image" in blind.warnings[0]


@pytest.mark.rule("3.4.11")
async def test_a_fifo_is_refused_without_waiting(expand: Expand, scene: Scene) -> None:
    os.mkfifo(scene.root / "pipe")
    found = await expand("@pipe")
    assert found.attachments == ()
    assert "regular" in found.warnings[0]


@pytest.mark.rule("3.4.14")
async def test_outside_files_and_secrets_need_someone_to_allow_them(expand: Expand, scene: Scene) -> None:
    scene.write("outside.txt", "x")
    scene.write("root/.env", "KEY=1")
    os.symlink(scene.base / "outside.txt", scene.root / "inside.txt")
    found = await expand("@../outside.txt @inside.txt @.env")
    assert found.attachments == ()
    assert len(found.warnings) == 2  # the link leads to the file that was refused already


@pytest.mark.rule("3.4.14")
async def test_the_gates_decide_on_every_file(scene: Scene, around: Surroundings) -> None:
    scene.write("outside.txt", "x")
    scene.write("root/a", "1")
    scene.write("root/b", "2")
    template, person = FakeReadGate("a"), FakeReadGate()
    able = replace(around, read_gate=template, person_gate=person)
    found = await expand_file(scene.write("t.md", "@a @../outside.txt $ARGUMENTS"), "@b", able)
    assert [item.path for item in found.attachments] == [str(scene.base / "outside.txt"), "b"]
    assert (template.asked, person.asked) == (["a", "outside.txt"], ["b"])
    assert any("not allowed" in warning and f"{scene.root}/a" in warning for warning in found.warnings)


@pytest.mark.rule("3.1.8")
async def test_mentions_of_a_plain_message_attach(scene: Scene) -> None:
    scene.write("root/a", "1")
    attachments, warnings = await scene.library().attach_mentions("read @a and @b")
    assert [item.path for item in attachments] == ["a"]
    assert len(warnings) == 1


@pytest.mark.rule("3.4.7")
async def test_the_home_folder_is_understood(
    scene: Scene, around: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(scene.home))
    scene.write("home/notes.txt", "n")
    able = replace(around, read_gate=FakeReadGate())
    found = await expand_file(scene.write("t.md", "@~/notes.txt"), "", able)
    assert [item.path for item in found.attachments] == [str(scene.home / "notes.txt")]


@pytest.mark.rule("3.4.15")
async def test_lines_of_a_file_are_attached_alone(scene: Scene) -> None:
    scene.write("root/a.py", "one\ntwo\nthree\nfour\n")
    scene.write("root/b.py#L2", "called so")
    text = "@a.py#L2-3, @a.py#L2-L3 and @a.py#L4. but @b.py#L2 and (@a.py)"
    attachments, warnings = await scene.library().attach_mentions(text)
    assert [(item.path, item.content) for item in attachments] == [
        ("a.py#L2-3", "two\nthree\n"),
        ("a.py#L4", "four\n"),
        ("b.py#L2", "called so"),
        ("a.py", "one\ntwo\nthree\nfour\n"),
    ]
    assert warnings == ()


@pytest.mark.rule("3.4.15")
async def test_lines_that_are_not_there_are_a_warning(scene: Scene) -> None:
    scene.write("root/a.py", "one\n")
    scene.write("root/data.bin", b"a\x00b")
    scene.write("root/folder/x", "")
    attachments, warnings = await scene.library().attach_mentions(
        "@a.py#L2 @a.py#L0 @a.py#L3-1 @data.bin#L1 @folder#L1 @a.py#L1-9"
    )
    assert [item.content for item in attachments] == ["one\n"]
    reasons = ["ends before line 2", "counted from 1", "counted from 1", "binary", "no lines"]
    assert [reason in warning for reason, warning in zip(reasons, warnings, strict=True)] == [True] * 5


@pytest.mark.rule("3.4.15")
async def test_far_lines_are_cut_as_a_whole_file_is(scene: Scene) -> None:
    scene.write("root/long.txt", "x" * 99 + "\n" + "y" * 300_000 + "\nend\n")
    (second,) = (await scene.library().attach_mentions("@long.txt#L2"))[0]
    assert second.truncated
    assert (second.content or "").splitlines()[0].count("y") == 256 * 1024
    (third,) = (await scene.library().attach_mentions("@long.txt#L3"))[0]
    assert third.content == "end\n"


@pytest.mark.rule("3.4.16")
async def test_an_agent_is_named_where_no_file_is_called_so(scene: Scene) -> None:
    scene.write("root/review", "a file")
    text = "@explore, @explore: look; @review too, not mail@explore"
    attachments, warnings = await scene.library().attach_mentions(text, agents=["explore", "review"])
    assert [(item.uri, item.path) for item in attachments] == [("agent:explore", None), (None, "review")]
    assert "tool task" in (attachments[0].content or "")
    assert warnings == ()
    assert (await scene.library().attach_mentions("@explore"))[0] == ()


@pytest.mark.rule("3.4.17")
@pytest.mark.parametrize(
    "name",
    [
        "a b.txt",
        "it's.md",
        "a,b;c.md",
        "end.",
        "q?",
        "@scope",
        "#L3",
        "x#L3",
        "~",
        "~/x",
        "file:x",
        "日本語 é",
        "$HOME",
        "a`b",
        "-",
    ],
)
async def test_a_name_that_can_be_mentioned_is_attached(scene: Scene, name: str) -> None:
    scene.write(f"root/{name}", name)
    mention = mention_of(name)
    assert mention is not None
    attachments, warnings = await scene.library().attach_mentions(f"look at {mention} now")
    assert ([item.path for item in attachments], warnings) == ([name], ())


@pytest.mark.rule("3.4.17")
@pytest.mark.parametrize("name", ['a"b', "a\nb", "a\x1b[31mb", "a\u202eb", "\udcff", "", "a\x00"])
def test_a_name_that_cannot_be_mentioned_is_not_offered(name: str) -> None:
    assert mention_of(name) is None
