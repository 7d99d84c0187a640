"""A person's editor over the shell, in a real terminal: it gets the terminal as it was, and gives it back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from e2e_home import BIN, Home
from terminal import Terminal

pytestmark = pytest.mark.e2e

EDITOR = """\
    #!/bin/sh
    stty -a | grep -q ' icanon' && echo 'lines are read'
    echo "opened $1 $2"
    read -r answer
    printf -- '%s' "$answer" >"$2"
"""


@pytest.fixture
def shell(home: Home) -> Iterator[Terminal]:
    editor = home.write("bin/vim", EDITOR, base=home.folder)
    editor.chmod(0o755)
    home.write(".config/harness/commands/mine.md", "---\ndescription: Mine\n", base=home.folder)
    home.variables["EDITOR"] = f"{editor} "
    terminal = Terminal([str(BIN / "harness")], cwd=home.project, env=home.environ(), columns=100, rows=30)
    terminal.mark = home.mark
    yield terminal
    terminal.close()


def test_a_problem_is_mended_in_the_editor_also_after_one_was_interrupted(home: Home, shell: Terminal) -> None:
    file = home.folder / ".config/harness/commands/mine.md"
    shell.wait_for("files ✗1")
    given = shell.attributes()
    shell.send("/doctor")
    shell.settle(0.3)
    shell.send("\r")
    shell.wait_for("unterminated-frontmatter")
    shell.send("\r")
    shell.wait_for("opened +1 ")
    assert "lines are read" in shell.text()
    shell.send("\x03")  # Ctrl+C is the editor's
    shell.wait_for("the editor vim was ended by SIGINT")
    assert shell.pump(lambda: "opened" not in shell.text(), 10.0), "what the editor wrote is still on the screen"
    assert shell.attributes() == given
    shell.send("\r")
    shell.wait_for("opened +1 ")
    shell.send("Mended\n")
    shell.wait_for("Nothing is wrong with any command")
    assert file.read_text() == "Mended"
    shell.send("\x1b")
    assert shell.pump(lambda: "Problems 0" not in shell.text(), 10.0), "the list is still there"
    assert shell.pump(lambda: "files ✗" not in shell.text(), 10.0), "the count is still there"
    shell.send("/mine now")
    shell.wait_for("F3 opens")
    assert "Mended" in shell.text()
    shell.send("\x15")
    shell.wait_for("? for help")
    shell.send("/quit")
    shell.settle(0.3)
    shell.send("\r")
    assert shell.wait_exit() == 0
