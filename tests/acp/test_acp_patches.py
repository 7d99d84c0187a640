"""A unified diff put on its old text gives the new one, or nothing."""

from __future__ import annotations

import difflib
import random

import pytest

from harness_tui.acp.patches import apply_patch


def patch_of(old: str, new: str, context: int = 3) -> str:
    lines = difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), "a", "b", n=context)
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb\nc\n", "a\nB\nc\n"),
        ("", "new\nfile\n"),
        ("gone\n", ""),
        ("a\nb", "a\nb\n"),
        ("a\nb\n", "a\nb"),
        ("a\r\nb\r\n", "a\r\nx\r\nb\r\n"),
        ("--- x\n+++ y\n", "--- x\n+++ z\n"),
    ],
)
@pytest.mark.parametrize("context", [0, 1, 3])
def test_the_new_text_comes_back(old: str, new: str, context: int) -> None:
    assert apply_patch(old, patch_of(old, new, context)) == new


def test_random_changes_come_back() -> None:
    chance = random.Random(7)
    for _ in range(200):
        old = [f"{chance.randrange(5)}\n" for _ in range(chance.randrange(1, 40))]
        new = [line for line in old if chance.random() > 0.2]
        for _ in range(chance.randrange(5)):
            new.insert(chance.randrange(len(new) + 1), f"new {chance.randrange(9)}\n")
        before, after = "".join(old), "".join(new)
        if before != after:
            assert apply_patch(before, patch_of(before, after)) == after


@pytest.mark.parametrize(
    "patch",
    ["", "nothing here", "@@ -1 +1 @@\n-other\n+x\n", "@@ -9,2 +9,2 @@\n a\n", "@@ -1,2 +1,3 @@\n a\n[cut]\n b\n"],
)
def test_a_patch_that_does_not_fit_gives_nothing(patch: str) -> None:
    assert apply_patch("a\nb\n", patch) is None
