"""Reading: numbered lines within limits, whatever lies at the path."""

from __future__ import annotations

import asyncio
import base64
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from harness_tui.core.errors import HarnessError, StalePreviewError, ToolError
from harness_tui.core.event_parts import ArgumentsPreview
from harness_tui.core.events import Notice
from harness_tui.core.paths import digest
from harness_tui.core.seams import Check


async def test_lines_are_numbered(bench: Any) -> None:
    (bench.root / "a.txt").write_text("one\ntwo\n")
    prepared = await bench.prepare("read", path="a.txt")
    assert prepared.title == "Read a.txt"
    assert prepared.checks == (Check("read", "a.txt"),)
    assert prepared.preview == ArgumentsPreview({"path": "a.txt"})
    result = await bench.run("read", prepared)
    assert result.output == "     1\tone\n     2\ttwo"
    assert bench.tools.ledger.seen("s1", bench.root / "a.txt") == digest(b"one\ntwo\n")


async def test_a_part_says_how_to_go_on(bench: Any) -> None:
    (bench.root / "a").write_text("".join(f"{number}\n" for number in range(1, 11)))
    result = await bench.call("read", path="a", offset=3, limit=2)
    assert result.output == "     3\t3\n     4\t4\n[lines 3 to 4 of 10; read on with offset 5]"
    assert (await bench.call("read", path="a", offset=10)).output == "    10\t10"
    with pytest.raises(ToolError, match="line 11 is past the end: the file has 10 lines"):
        await bench.call("read", path="a", offset=11)


async def test_an_empty_file_is_said_to_be_empty(bench: Any) -> None:
    (bench.root / "a").write_text("")
    assert (await bench.call("read", path="a")).output == "[the file is empty]"


async def test_too_many_lines_and_too_many_bytes_are_cut(bench: Any) -> None:
    (bench.root / "lines").write_text("x\n" * 2_500)
    assert (await bench.call("read", path="lines")).output.endswith(
        "\n  1999\tx\n[lines 1 to 1999 of 2500; read on with offset 2000]"
    )
    (bench.root / "bytes").write_text(("y" * 993 + "\n") * 100)  # with number and tab 1001 bytes a line
    output = (await bench.call("read", path="bytes")).output
    assert output.endswith("[lines 1 to 51 of 100; read on with offset 52]")
    (bench.root / "fits").write_text("x\n" * 2_000)
    assert (await bench.call("read", path="fits")).output.endswith("\n  2000\tx")


async def test_what_is_read_is_within_the_limits_with_its_notes(bench: Any) -> None:
    (bench.root / "full").write_bytes((b"z" * 2_100 + b"\xff\n") * 100)  # two notes more
    output = (await bench.call("read", path="full")).output
    assert output.count("\n[") == 3
    assert 48 * 1024 < len(output.encode()) <= 50 * 1024


async def test_a_long_line_is_cut(bench: Any) -> None:
    (bench.root / "a").write_text("z" * 5_000)
    output = (await bench.call("read", path="a")).output
    assert "z" * 2_000 + "[... 3000 characters left out]" in output
    assert "z" * 2_001 not in output


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"a\r\nb\r\n", "     1\ta\n     2\tb"),
        (b"a\rb", "     1\ta\n     2\tb"),
        (b"\xef\xbb\xbfa\n", "     1\ta"),
        ("grün\n".encode("utf-16"), "     1\tgrün"),
        ("grün\n".encode("utf-16-le"), "     1\tgrün"),
        ("grün\n".encode("utf-16-be"), "     1\tgrün"),
        ("grün\n".encode("utf-32"), "     1\tgrün"),
        ("# coding: latin-1\ngrün\n".encode("latin-1"), "     1\t# coding: latin-1\n     2\tgrün"),
        ("# vim: fileencoding=cp932\n表示\n".encode("cp932"), "     1\t# vim: fileencoding=cp932\n     2\t表示"),
        (
            "<?xml version='1.0' encoding='koi8-r'?>\nда\n".encode("koi8-r"),
            "     1\t<?xml version='1.0' encoding='koi8-r'?>\n     2\tда",
        ),
        (
            b"# coding: utf-8\ngr\xfcn\n",
            "     1\t# coding: utf-8\n     2\tgr\ufffdn\n"
            "[the file is not UTF-8: what could not be decoded is shown as \ufffd]",
        ),
        (
            "grün\n".encode("latin-1"),
            "     1\tgr\ufffdn\n[the file is not UTF-8: what could not be decoded is shown as \ufffd]",
        ),
    ],
)
async def test_endings_marks_and_encodings_are_read(bench: Any, data: bytes, expected: str) -> None:
    (bench.root / "a").write_bytes(data)
    assert (await bench.call("read", path="a")).output == expected


async def test_a_binary_file_is_refused(bench: Any) -> None:
    (bench.root / "a").write_bytes(b"\x7fELF\0\0")
    with pytest.raises(ToolError, match="binary file of 6 bytes"):
        await bench.call("read", path="a")


async def test_an_image_comes_as_an_image(bench: Any) -> None:
    data = b"\x89PNG\r\n\x1a\n" + bytes(20)
    (bench.root / "a.dat").write_bytes(data)
    result = await bench.call("read", path="a.dat")
    assert result.output == "[image a.dat, image/png, 28 bytes]"
    (attachment,) = result.attachments
    assert (attachment.kind, attachment.mime, attachment.path) == ("image", "image/png", "a.dat")
    assert base64.b64decode(attachment.content) == data


async def test_a_pdf_comes_as_a_document(bench: Any) -> None:
    data = b"%PDF-1.7\n\0binary"
    (bench.root / "paper").write_bytes(data)
    result = await bench.call("read", path="paper")
    assert result.output == "[PDF paper, application/pdf, 16 bytes]"
    (attachment,) = result.attachments
    assert (attachment.kind, attachment.mime, attachment.path) == ("resource", "application/pdf", "paper")
    assert base64.b64decode(attachment.content) == data


async def test_a_folder_is_listed_and_read_on_like_a_file(bench: Any) -> None:
    (bench.root / "sub").mkdir()
    for name in ("a", "b", "c"):
        (bench.root / name).write_text("")
    assert (await bench.call("read", path=".")).output == "sub/\na\nb\nc"
    result = await bench.call("read", path=".", offset=2, limit=2)
    assert result.output == "a\nb\n[entries 2 to 3 of 4; read the folder with offset 4 for more]"
    assert (await bench.call("read", path=".", offset=4)).output == "c\n[entries 4 to 4 of 4]"
    with pytest.raises(ToolError, match="entry 5 is past the end: the folder has 4 entries"):
        await bench.call("read", path=".", offset=5)


async def test_pipes_sockets_and_devices_never_hang(bench: Any) -> None:
    os.mkfifo(bench.root / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(bench.root / "socket"))
        async with asyncio.timeout(10):
            for name, message in [
                ("pipe", "not a regular file"),
                ("socket", "No such device|not a regular file"),
                ("/dev/zero", "not a regular file"),
            ]:
                with pytest.raises(ToolError, match=message):
                    await bench.call("read", path=name)


async def test_a_file_that_may_not_be_read_is_told(bench: Any) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    (bench.root / "a").write_text("x")
    (bench.root / "a").chmod(0)
    with pytest.raises(ToolError, match="Permission denied"):
        await bench.call("read", path="a")


async def test_a_misspelt_name_is_answered_with_names_that_exist(bench: Any) -> None:
    (bench.root / "src").mkdir()
    (bench.root / "src" / "settings.py").write_text("")
    with pytest.raises(ToolError, match=r"no such file.*src/settings\.py"):
        await bench.call("read", path="src/setings.py")


async def test_a_very_large_file_can_be_read_in_parts(bench: Any) -> None:
    with (bench.root / "log").open("wb") as file:
        for _ in range(22):
            file.write(b"0123456789abcde\n" * 65_536)  # 22 MiB, 1441792 lines
    output = (await bench.call("read", path="log", offset=1_441_791)).output
    assert output.startswith("1441791\t0123456789abcde\n1441792\t0123456789abcde\n")
    assert output.endswith("[the file is too large to be edited with edit or write]")
    assert "read on with offset 3]" in (await bench.call("read", path="log", limit=2)).output
    assert bench.tools.ledger.seen("s1", bench.root / "log") is None


@pytest.mark.parametrize("size", [21, 2])
async def test_a_line_that_does_not_end_is_cut_without_holding_it(bench: Any, size: int) -> None:
    with (bench.root / "line").open("wb") as file:
        file.write(b"first\n")
        for _ in range(size):
            file.write(b"z" * 1_048_576)
    output = (await bench.call("read", path="line", offset=2)).output
    rest = size * 1_048_576 - 2_000
    assert output.startswith(f"     2\t{'z' * 2_000}[... {rest} bytes left out]\n[1 long line was cut]")


async def test_lines_far_into_a_large_file_are_found(bench: Any) -> None:
    with (bench.root / "log").open("wb") as file:
        file.write(b"".join(b"%07d\n" % number for number in range(1, 2_000_001)))  # 16 MB
        file.write(b"further\n" * 700_000)
    assert (await bench.call("read", path="log", offset=2_000_000, limit=1)).output.startswith("2000000\t2000000\n[")
    with (bench.root / "log").open("r+b") as file:
        file.truncate(16_000_000)
    assert (await bench.call("read", path="log", offset=1_999_999)).output == "1999999\t1999999\n2000000\t2000000"


async def test_a_huge_sparse_file_is_refused_at_once(bench: Any) -> None:
    with (bench.root / "sparse").open("wb") as file:
        file.truncate(20 * 1024**3)
    with pytest.raises(ToolError, match="large binary file"):
        await bench.call("read", path="sparse")


async def test_a_path_outside_the_root_needs_two_decisions(bench: Any, tmp_path: Path) -> None:
    outside = tmp_path / "other" / "a.txt"
    outside.parent.mkdir()
    outside.write_text("x\n")
    prepared = await bench.prepare("read", path="../other/a.txt")
    assert prepared.checks == (Check("read", str(outside)), Check("external_directory", str(outside)))


async def test_a_link_is_decided_by_where_it_leads(bench: Any, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x\n")
    (bench.root / "link").symlink_to(tmp_path / "secret")
    prepared = await bench.prepare("read", path="link")
    assert prepared.checks[1] == Check("external_directory", str(tmp_path / "secret"))


async def test_a_link_that_is_changed_after_the_decision_is_not_followed(bench: Any, tmp_path: Path) -> None:
    (bench.root / "a").write_text("harmless\n")
    (tmp_path / "secret").write_text("x\n")
    (bench.root / "link").symlink_to("a")
    prepared = await bench.prepare("read", path="link")
    (bench.root / "link").unlink()
    (bench.root / "link").symlink_to(tmp_path / "secret")
    with pytest.raises(StalePreviewError):
        await bench.run("read", prepared)


async def test_relative_paths_start_in_the_start_folder(bench: Any) -> None:
    (bench.root / "sub").mkdir()
    (bench.root / "sub" / "a").write_text("inner\n")
    context = bench.context(cwd=bench.root / "sub")
    prepared = await bench.prepare("read", context, path="a")
    assert prepared.checks == (Check("read", "sub/a"),)
    assert "inner" in (await bench.run("read", prepared, context)).output


async def test_reading_warms_the_server_up_and_does_not_wait(bench: Any) -> None:
    (bench.root / "a.py").write_text("x = 1\n")
    await bench.call("read", path="a.py")
    await asyncio.sleep(0)
    assert bench.diagnostics.told == [("touch", "a.py")]


async def test_a_failed_warm_up_is_told_to_the_person_only(bench: Any) -> None:
    bench.diagnostics.error = HarnessError("the server crashed")
    (bench.root / "a.py").write_text("x = 1\n")
    result = await bench.call("read", path="a.py")
    await asyncio.sleep(0)
    assert result.output == "     1\tx = 1"
    (notice,) = bench.of(Notice)
    assert notice.text == "no language server for a.py: the server crashed"
