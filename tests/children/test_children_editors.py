"""Which editor is a person's own, and how it is told the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness_tui.children.editors import editor_command
from harness_tui.core.errors import HarnessError

FILE = Path("/srv/a b.md")


@pytest.mark.parametrize(
    ("environ", "line", "command"),
    [
        ({"VISUAL": "nvim -n", "EDITOR": "ed"}, 3, ["nvim", "-n", "+3", "/srv/a b.md"]),
        ({"VISUAL": " ", "EDITOR": "/usr/bin/vi"}, 3, ["/usr/bin/vi", "+3", "/srv/a b.md"]),
        ({"EDITOR": "code --wait"}, 7, ["code", "--wait", "--goto", "/srv/a b.md:7"]),
        ({"EDITOR": "hx"}, 7, ["hx", "/srv/a b.md:7"]),
        ({"EDITOR": "my-editor"}, 7, ["my-editor", "/srv/a b.md"]),
        ({"EDITOR": "vim"}, None, ["vim", "/srv/a b.md"]),
        ({"EDITOR": "vim"}, 0, ["vim", "/srv/a b.md"]),
        ({"EDITOR": "'/opt/my editor/vim' -u NONE"}, 2, ["/opt/my editor/vim", "-u", "NONE", "+2", "/srv/a b.md"]),
    ],
)
def test_the_persons_variables_are_commands_and_known_editors_get_the_line(
    environ: dict[str, str], line: int | None, command: list[str]
) -> None:
    assert editor_command(environ, FILE, line) == command


def test_without_a_variable_a_usual_editor_is_taken(tmp_path: Path) -> None:
    (tmp_path / "vi").write_text("#!/bin/sh\n")
    (tmp_path / "vi").chmod(0o755)
    assert editor_command({"PATH": str(tmp_path)}, FILE, 4) == ["vi", "+4", "/srv/a b.md"]


def test_no_editor_and_one_that_cannot_be_read_say_how_to_mend_it(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match=r"there is no editor .*EDITOR=nano"):
        editor_command({"PATH": str(tmp_path)}, FILE)
    with pytest.raises(HarnessError, match="VISUAL: it cannot be read as a command"):
        editor_command({"VISUAL": "vim 'open"}, FILE)
