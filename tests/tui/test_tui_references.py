"""What a text names: links and files that are there."""

from __future__ import annotations

from pathlib import Path

from harness_tui.tui.transcript.references import Reference, references


def named(text: str, *folders: Path) -> list[tuple[str, str, int | None]]:
    return [(found.kind, found.text, found.line) for found in references(text, folders)]


def test_files_that_exist_are_found_with_their_lines_in_the_forms_of_compilers_and_tracebacks(tmp_path: Path) -> None:
    for name in ("a.py", "src/b.ts", "Makefile", "shot.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    text = (
        f'  File "{tmp_path}/a.py", line 3, in f\n'
        "src/b.ts(12,5): error; see src/b.ts:7:1, ./a.py#L9 and `a.py`. Makefile:4: no rule, shot.png\n"
        "nosuch.py:1 and version 1.2 and e.g. this"
    )
    assert named(text, tmp_path) == [
        ("file", f"{tmp_path}/a.py:3", 3),
        ("file", f"{tmp_path}/a.py", None),
        ("file", "src/b.ts:12", 12),
        ("file", "src/b.ts:7", 7),
        ("file", "./a.py:9", 9),
        ("file", "Makefile:4", 4),
        ("image", "shot.png", None),
    ]


def test_links_end_where_the_sentence_goes_on(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    text = "see https://example.test/a_(b), (http://x.test/a.py?q=1#f). **https://y.test/**"
    assert named(text, tmp_path) == [
        ("link", "https://example.test/a_(b)", None),
        ("link", "http://x.test/a.py?q=1#f", None),
        ("link", "https://y.test/", None),
    ]


def test_the_first_folder_that_has_the_file_counts(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "x.py").touch()
    (tmp_path / "x.py").touch()
    (found,) = references("x.py", (tmp_path / "one", tmp_path))
    assert found == Reference("file", "x.py", str(tmp_path / "one" / "x.py"))


def test_text_without_end_is_looked_through_only_so_far(tmp_path: Path) -> None:
    (tmp_path / "late.py").touch()
    assert named("a.b " * 100_000 + "late.py", tmp_path) == []
    assert named("~nosuchuser/a.py \0.py /" + "x/" * 5_000 + "y.py", tmp_path) == []
