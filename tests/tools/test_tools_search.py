"""Finding files and lines, and listing folders."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from harness_tui.core.errors import ToolError
from harness_tui.core.seams import Check
from harness_tui.tools.globs import matches_glob


@pytest.fixture
def project(bench: Any) -> Path:
    files = {
        ".gitignore": "*.log\nbuild/\n",
        "a.py": "import os\nneedle = 1\n",
        "src/b.py": "def needle():\n    pass\n",
        "src/c.ts": "const needle = 2\n",
        "src/deep/d.py": "x = 1\n",
        "noise.log": "needle\n",
        "build/out.py": "needle\n",
        ".github/ci.yml": "run: needle\n",
        ".env": "KEY=needle\n",
        ".git/config": "needle\n",
    }
    for name, text in files.items():
        path = bench.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return bench.root


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.py", "a.py", True),
        ("*.py", "src/a.py", True),
        ("*.py", "a.pyc", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/x/y/a.py", True),
        ("src/**", "src/x/y", True),
        ("**/test_*", "a/test_x", True),
        ("./a.py", "a.py", True),
        ("/a.py", "src/a.py", False),
        ("*.{ts,tsx}", "x.tsx", True),
        ("*.{ts,tsx}", "x.t", False),
        ("[ab].py", "b.py", True),
        ("[!ab].py", "b.py", False),
        ("?.py", "ab.py", False),
        ("a+b(1).py", "a+b(1).py", True),
        ("{a", "{a", True),
        ("[", "[", True),
        (r"\*", "*", True),
        (r"\*", "x", False),
    ],
)
def test_patterns_mean_what_shells_mean(pattern: str, path: str, fits: bool) -> None:
    assert matches_glob(pattern, path) is fits


async def test_glob_leaves_ignored_files_out(bench: Any, project: Path) -> None:
    prepared = await bench.prepare("glob", pattern="*.py")
    assert prepared.title == "Glob *.py"
    assert prepared.checks == (Check("read", "."),)
    assert (await bench.run("glob", prepared)).output == "a.py\nsrc/b.py\nsrc/deep/d.py"
    assert (await bench.call("glob", pattern="*.yml")).output == ".github/ci.yml"
    assert (await bench.call("glob", pattern="*.log")).output == "No files fit."


async def test_glob_in_a_folder_gives_paths_that_the_file_tools_take(bench: Any, project: Path) -> None:
    assert (await bench.call("glob", pattern="*.py", path="src")).output == "src/b.py\nsrc/deep/d.py"
    context = bench.context(cwd=project / "src")
    assert (await bench.call("glob", context, pattern="*.py")).output == "b.py\ndeep/d.py"
    assert (await bench.call("glob", context, pattern="*.yml", path="..")).output == f"{project}/.github/ci.yml"
    with pytest.raises(ToolError, match="no such folder"):
        await bench.call("glob", pattern="*", path="nowhere")


async def test_glob_cuts_with_a_count(bench: Any) -> None:
    for number in range(1_005):
        (bench.root / f"f{number:04}.txt").write_text("")
    result = await bench.call("glob", pattern="*.txt")
    assert result.output.endswith("f0999.txt\n[1005 files fit, 1000 are shown: use a narrower pattern]")


async def test_grep_gives_path_line_and_text(bench: Any, project: Path) -> None:
    result = await bench.call("grep", pattern="needle")
    assert result.output == (
        ".github/ci.yml:1: run: needle\n"
        "a.py:2: needle = 1\n"
        "src/b.py:1: def needle():\n"
        "src/c.ts:1: const needle = 2\n"
        "[matches in .env are not shown: such files are searched only when path names them]"
    )
    assert result.metadata == {"path": ".", "matches": 4, "files": 4}


async def test_grep_searches_what_is_named(bench: Any, project: Path) -> None:
    assert (await bench.call("grep", pattern="needle", path=".env")).output == ".env:1: KEY=needle"
    assert (await bench.call("grep", pattern="needle", path="noise.log")).output == "noise.log:1: needle"
    assert (await bench.call("grep", pattern="needle", include="*.py")).output.splitlines() == [
        "a.py:2: needle = 1",
        "src/b.py:1: def needle():",
    ]
    assert "c.ts" in (await bench.call("grep", pattern="needle", include="src/*.{ts,js}")).output
    assert (await bench.call("grep", pattern="needle", include="*.log")).output == "No lines match."
    assert (await bench.call("grep", pattern="nothing here")).output == "No lines match."


async def test_odd_patterns_and_names_are_data(bench: Any) -> None:
    (bench.root / "-rf:1:x.txt").write_text("-e dash\n")
    assert (await bench.call("grep", pattern="-e dash")).output == "-rf:1:x.txt:1: -e dash"
    assert (await bench.call("grep", pattern="dash", path="-rf:1:x.txt")).output == "-rf:1:x.txt:1: -e dash"
    with pytest.raises(ToolError, match="regex parse error"):
        await bench.call("grep", pattern="(unclosed")
    with pytest.raises(ToolError, match="no such file"):
        await bench.call("grep", pattern="x", path="nowhere")


async def test_grep_cuts_with_a_count(bench: Any) -> None:
    (bench.root / "a").write_text("hit\n" * 300)
    output = (await bench.call("grep", pattern="hit")).output
    assert output.endswith("a:250: hit\n[300 matches in 1 files, 250 are shown: narrow the search]")
    (bench.root / "a").write_text("hit\n" * 20_000)
    output = (await bench.call("grep", pattern="hit")).output
    assert output.endswith("[not everything was searched: there are more than 10000]")


async def test_binary_and_strange_bytes_do_not_disturb_a_search(bench: Any) -> None:
    (bench.root / "bin").write_bytes(b"needle\0\n" * 10)
    (bench.root / "latin").write_bytes(b"gr\xfcn needle\r\n")
    (bench.root / "long").write_text("needle" + "x" * 10_000 + "\n")
    lines = (await bench.call("grep", pattern="needle")).output.splitlines()
    assert lines[0] == "latin:1: gr\ufffdn needle"
    assert lines[1].startswith("long:1: needlexxx")
    assert len(lines[1]) < 2_200


async def test_a_missing_ripgrep_is_named(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    monkeypatch.setattr(bench.registry, "_environ", {"PATH": "/nowhere"})
    with pytest.raises(ToolError, match="'rg' was not found"):
        await bench.call("grep", pattern="x")


async def test_list_shows_folders_first_and_counts_what_is_ignored(bench: Any, project: Path) -> None:
    (project / "link").symlink_to("a.py")
    prepared = await bench.prepare("list")
    assert prepared.title == "List ."
    assert prepared.checks == (Check("read", "."),)
    assert (await bench.run("list", prepared)).output == (
        ".github/\nsrc/\n.env\n.gitignore\na.py\nlink -> a.py\n[3 ignored entries are not shown]"
    )


async def test_deeper_ignore_files_count_more(bench: Any, project: Path) -> None:
    (project / "src" / ".gitignore").write_text("b.py\n!*.log\n[\n")
    (project / "src" / "kept.log").write_text("")
    assert (await bench.call("list", path="src")).output == (
        "deep/\n.gitignore\nc.ts\nkept.log\n[1 ignored entry is not shown]"
    )


async def test_odd_folders_are_told(bench: Any, tmp_path: Path) -> None:
    (bench.root / "empty").mkdir()
    (bench.root / "file").write_text("")
    assert (await bench.call("list", path="empty")).output == "The folder is empty."
    with pytest.raises(ToolError, match=r"this is a file.*use read"):
        await bench.call("list", path="file")
    with pytest.raises(ToolError, match="No such file"):
        await bench.call("list", path="nowhere")
    prepared = await bench.prepare("list", path="..")
    assert prepared.checks == (Check("read", str(tmp_path)), Check("external_directory", str(tmp_path)))


async def test_a_name_that_is_no_text_is_found_and_shown_as_far_as_it_is_one(bench: Any) -> None:
    (bench.root / os.fsdecode(b"a\xff.txt")).write_text("needle\n")
    assert (await bench.call("glob", pattern="*.txt")).output == "a\ufffd.txt"
    assert (await bench.call("grep", pattern="needle")).output == "a\ufffd.txt:1: needle"


async def test_what_a_search_finds_is_there_in_every_encoding_and_length(bench: Any) -> None:
    (bench.root / "a.txt").write_bytes("\ufeffneedle é\r\n".encode("utf-16-le"))
    (bench.root / "b.txt").write_bytes(b"\xef\xbb\xbfneedle \xff\r\nmore needle\n")
    (bench.root / "c.txt").write_text("needle " + "x" * 20_000 + "\n")
    result = await bench.call("grep", pattern="needle")
    assert result.metadata["matches"] == 4
    assert [line.split(": ")[0] for line in result.output.splitlines()] == ["a.txt:1", "b.txt:1", "b.txt:2", "c.txt:1"]
