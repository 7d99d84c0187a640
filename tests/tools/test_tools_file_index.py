"""Files for completion: which are offered, in which order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness_tui.tools.file_index import FileIndex
from harness_tui.tools.file_ranking import FileNames, Superseded, with_folders


def names(*paths: str) -> FileNames:
    return FileNames(paths)


def test_the_name_counts_before_the_folders_and_its_beginning_before_its_middle() -> None:
    made = names("app/x.py", "src/my_app.py", "src/app.py", "src/snapp.py", "wrap/pp.py", "app", "strap/x.py")
    assert made.best("app", 10) == [
        "app",
        "src/app.py",
        "src/my_app.py",
        "src/snapp.py",
        "app/x.py",
        "wrap/pp.py",  # in their order only
        "strap/x.py",
    ]


def test_letters_in_their_order_find_a_file_too_the_closest_first() -> None:
    made = names("src/transcript/view.py", "src/tv.py", "t/long/way/to/see/vast.py")
    assert made.best("tview", 10) == ["src/transcript/view.py"]
    assert made.best("srcvi", 10) == ["src/transcript/view.py"]


def test_a_slip_of_the_fingers_finds_what_is_alike() -> None:
    assert names("src/completion.py", "docs/agent.md").best("compeltion.py", 10) == ["src/completion.py"]


def test_nothing_typed_shows_what_lies_at_the_top() -> None:
    made = names("src/a/b.py", "src/", "README.md", "src/x.py")
    assert made.best("", 3) == ["README.md", "src/", "src/x.py"]


def test_what_was_asked_before_never_changes_an_answer() -> None:
    paths = ["src/app.py", "src/map.py", "tests/test_app.py", "a/p/p.md", "docs/applied.md"]
    made = names(*paths)
    for wanted in ("a", "ap", "app", "apx", "ap", "s", "src/", "", "tapp", "p", "pa"):
        assert made.best(wanted, 10) == names(*paths).best(wanted, 10), wanted


def test_a_search_that_nobody_waits_for_ends() -> None:
    with pytest.raises(Superseded):
        names(*(f"file{number}" for number in range(10))).best("f", 3, lambda: False)


def test_every_folder_of_a_file_is_there_once() -> None:
    assert with_folders(["a/b/c.py", "a/d.py", "e"]) == ["a/b/c.py", "a/b/", "a/", "a/d.py", "e"]


async def test_files_are_listed_as_a_search_would_see_them(bench: Any, tmp_path: Path) -> None:
    for name in ("src/app.py", ".github/ci.yml", "build/out.js", "my notes.txt", ".git/HEAD"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")
    (tmp_path / ".gitignore").write_text("build/\n")
    clock = [0.0]
    index = FileIndex(bench.registry, tmp_path, now=lambda: clock[0])
    assert set((await index.find("", 100)).paths) == {
        "src/", "src/app.py", ".github/", ".github/ci.yml", "my notes.txt", ".gitignore",
    }  # fmt: skip
    (tmp_path / "src/new.py").write_text("x")
    assert (await index.find("new", 10)).paths == ()
    assert not await index.refreshed()
    clock[0] = 10.0
    assert (await index.find("new", 10)).paths == ()  # answered at once, from the old list
    assert await index.refreshed()
    assert (await index.find("new", 10)).paths == ("src/new.py",)
    await index.close()


async def test_what_is_ignored_or_elsewhere_is_found_by_its_folder(bench: Any, tmp_path: Path) -> None:
    root = tmp_path / "top/root"
    (root / "build").mkdir(parents=True)
    (root / "build/out.js").write_text("x")
    (root / ".gitignore").write_text("build/\n")
    (tmp_path / "top/other.txt").write_text("x")
    (tmp_path / "top/.hidden").write_text("x")
    index = FileIndex(bench.registry, root)
    assert (await index.find("build/o", 10)).paths == ("build/out.js",)
    assert (await index.find("../", 10)).paths == ("../root/", "../other.txt")
    assert (await index.find("../.h", 10)).paths == ("../.hidden",)
    assert (await index.find(f"{tmp_path}/top/OTH", 10)).paths == (f"{tmp_path}/top/other.txt",)
    assert (await index.find("/nowhere/at/all/x", 10)).paths == ()
    await index.close()
