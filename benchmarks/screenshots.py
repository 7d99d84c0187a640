"""Plays the tour in the shell and takes pictures of it: ``make screenshots``.

The app runs with its real backend and Textual's headless driver, so that a picture is an SVG with real text. Sizes are
80x24 and 140x40, each dark (the colours of the terminal) and, in ``light``, with the theme ``harness-light``. The
scenes are those that a newcomer meets.

    python benchmarks/screenshots.py [--out FOLDER] [--only WORD] [--size 80x24]...
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from harness_tui.cli.demo import MESSAGE, Scene, scene
from harness_tui.tui.app import HarnessApp
from harness_tui.tui.run import BACKEND, Options
from harness_tui.tui.themes import BUILT_IN, TERMINAL, built_in

ROOT = Path(__file__).parents[1]
SIZES = ((80, 24), (140, 40))
WAIT_S = 60.0
_FONTS = re.compile(r"@font-face \{.*?\}\n", re.DOTALL)  # a picture fetches nothing
_SCRATCH = re.compile(r"harness-demo-\w+")
_HOME = re.compile(r"(?<=harness-pictures-)\w{8}")  # of the same width: what stands behind it stays in its place

WORK = """\
turns:
  - tools: [{name: bash, arguments: {command: "while sleep 30; do date; done", background: true}}]
  - tools: [{name: bash, arguments: {command: "ls && rm -rf build && make test 2>&1 | tee test.log"}}]
  - text: "The tests run, and their output is in `test.log`."
answers:
  - {kind: permission, match: "sleep *", action: allow}
"""
"""What the model of the scene ``work`` plays: a command in the background, then one of several parts."""

RULES = """\
permission:
  - {permission: bash, pattern: "ls *", action: allow}
  - {permission: bash, pattern: "git diff *", action: allow}
  - {permission: bash, pattern: "git push *", action: deny}
"""

LIBRARY = {
    "config.yaml": 'permission:\n  - {permission: bash, pattern: "git push *", action: deny}\n',
    "commands/release.md": """\
---
description: Write the notes of a release and publish it
argument-hint: "[version] [channel]"
agent: plan
---
Write the notes of version $1 for the channel ${2:-stable}, from @CHANGES.md and what was committed:

!`git log --oneline -20`

!`make notes VERSION="$1"`

!`git push origin "v$1"`

Name what breaks first.
""",
    "commands/standup.md": "---\ndescription: What I did yesterday\n\nSum up my commits of yesterday.\n",
    "commands/tidy.md": "---\ndescription: Tidy up: imports, names\nsubtask: perhaps\n---\nTidy up $ARGUMENTS\n",
    "skills/release-notes/SKILL.md": """\
---
name: release-notes
description: Writes release notes as our customers read them. Use it for anything about the notes of a release.
---
# Release notes

1. Read the changes since the last tag.
2. Say what changes for a customer, in one sentence each, the most important first.
3. Leave out what nobody outside notices.
""",
    "skills/Invoices/SKILL.md": "---\nname: Invoices\ndescription: Checks an invoice.\n---\nAdd up the lines.\n",
    "~/.claude/skills/release-notes/SKILL.md": "---\nname: release-notes\ndescription: An old copy.\n---\nOld.\n",
}

SHOP = """\
import os


class Shelf:
    def total(self) -> int:
        return 1


def label(shelf: Shelf) -> str:
    return shelf.total()
"""
USE = "from shop import Shelf\n\nprint(Shelf().total(), Shelf().totl())\n"
FAULTS = {
    "turns": [
        {
            "tools": [
                {"name": "write", "arguments": {"path": path, "content": text}}
                for path, text in {"shop.py": SHOP, "use.py": USE, "NOTES.md": "# Notes\n", "stock.txt": "3\n"}.items()
            ]
        },
        {"tools": [{"name": "rename", "arguments": {"symbol": "total", "to": "amount", "path": "shop.py"}}]},
        {"text": "`Shelf.total` is called `amount` now, in both files."},
    ]
}
"""What the model of the scene ``faults`` plays: files with errors and warnings, then a rename through both."""

TODOS = [
    {"id": "1", "text": "Read how shelves are counted", "state": "done"},
    {"id": "2", "text": "Count in whole boxes, with a test for the last one", "state": "active"},
    {"id": "3", "text": "Say in the notes what a box is", "state": "pending"},
    {"id": "4", "text": "Run the tests", "state": "pending"},
]
BOXES = SHOP.replace("return 1\n", "return self.boxes * BOX_SIZE\n").replace("import os\n", "BOX_SIZE = 12\n")
CHANGES = {
    "turns": [
        {
            "tools": [
                {"name": "todo", "arguments": {"items": TODOS}},
                {"name": "read", "arguments": {"path": "shop.py"}},
            ]
        },
        {
            "tools": [
                {"name": "write", "arguments": {"path": "shop.py", "content": BOXES}},
                {"name": "write", "arguments": {"path": "NOTES.md", "content": "# Notes\n\nA box holds twelve.\n"}},
                {
                    "name": "write",
                    "arguments": {"path": "tests/test_boxes.py", "content": "def test_last():\n    ...\n"},
                },
                {"name": "bash", "arguments": {"command": "git status"}},
            ]
        },
        {"text": "Shelves are counted in boxes of twelve."},
    ]
}
"""What the model of the scene ``changes`` plays: a list of steps, and three files."""
CHANGE_RULES = """\
permission:
  - {permission: edit, pattern: "*", action: allow}
  - {permission: edit, pattern: "shop.py", action: ask}
  - {permission: bash, pattern: "git status", action: allow}
lsp: {enabled: false}
"""

FAULT_SERVERS = """\
permission:
  - {permission: edit, pattern: "*", action: allow}
  - {permission: edit, pattern: "use.py", action: ask}
lsp:
  wait_ms: 3000
  cold_wait_ms: 6000
  servers:
    notes-server: {command: [sleep, "600"], extensions: [.md]}
    stock-server: {command: [sh, -c, "echo cannot read its index >&2; exit 3"], extensions: [.txt]}
"""
"""A server that does not come to an end with its start, and one that crashes."""

Play = Callable[["Stage"], Awaitable[None]]


class Stage:
    """One running app, and the keys and waits of a scene."""

    def __init__(self, app: HarnessApp, pilot: object, out: Path, size: tuple[int, int]) -> None:
        self.app = app
        self._pilot = pilot
        self._out = out
        self._size = size

    async def press(self, *keys: str) -> None:
        """Press keys."""
        await self._pilot.press(*keys)  # type: ignore[attr-defined]

    async def type(self, line: str) -> None:
        """Write a line where the cursor is, and send it."""
        names = {" ": "space", "/": "slash", "|": "vertical_line", ".": "full_stop"}
        await self.press(*(names.get(letter, letter) for letter in line), "enter")

    async def wait_for(self, text: str) -> None:
        """Wait until ``text`` is on the screen."""
        end = asyncio.get_running_loop().time() + WAIT_S
        while text not in self.screen_text():
            if asyncio.get_running_loop().time() > end:
                raise SystemExit(f"{text!r} did not come at {self._size}; the screen is:\n{self.screen_text()}")
            await asyncio.sleep(0.1)

    def screen_text(self) -> str:
        """Return the screen as lines."""
        return "\n".join(
            "".join(segment.text for segment in line) for line in self.app.screen._compositor.render_strips()
        )

    async def picture(self, name: str) -> None:
        """Write the screen as ``NAME-COLUMNSxROWS.svg``."""
        columns, rows = self._size
        for theme, folder in ((TERMINAL, self._out), ("harness-light", self._out / "light")):
            self.app.appearance.use_theme(built_in(theme) or BUILT_IN[0])
            await asyncio.sleep(0.5)
            folder.mkdir(exist_ok=True)
            path = folder / f"{name}-{columns}x{rows}.svg"
            svg = _SCRATCH.sub("harness-demo", _FONTS.sub("", self.app.export_screenshot(title="Harness")))
            svg = _HOME.sub("00000000", svg)
            path.write_text("\n".join(line.rstrip() for line in svg.splitlines()) + "\n", encoding="utf-8")
        self.app.appearance.use_theme(BUILT_IN[0])
        print(name, f"{columns}x{rows}")


async def approve(stage: Stage) -> None:
    """Say yes for the session, after the typing grace."""
    await asyncio.sleep(1.3)
    await stage.press("2")


async def tour(stage: Stage) -> None:
    """The tour, with a picture of each approval, of the end and of every panel."""
    await stage.wait_for("Allow mcp")
    await stage.picture("approval-mcp")
    await approve(stage)
    await stage.wait_for("Allow edit")
    await stage.picture("approval-edit")
    await approve(stage)
    await stage.wait_for("6 calls")
    await stage.press("f2")
    await stage.picture("demo")
    await stage.press("f2", "f2", "right")
    await stage.picture("servers")
    await stage.press("right")
    await stage.picture("skills")


async def work(stage: Stage) -> None:
    """A command of several parts, what runs meanwhile, and by which rules that is decided."""
    await stage.wait_for("Space ticks")
    await stage.picture("approval-command")
    await stage.press("down", "enter")
    await stage.wait_for("2 calls")
    await stage.type("/ps")
    await stage.wait_for("● bash")
    await stage.picture("processes")
    await stage.press("f2")
    await stage.type("/permissions")
    await stage.wait_for("Bundled rules")
    await stage.picture("permissions")
    await stage.press("e")
    await stage.type("bash git diff | tee out.txt")
    await stage.wait_for("tee out.txt: ask")
    await stage.picture("explain")


async def faults(stage: Stage) -> None:
    """A rename through two files before the decision, what language servers say, and how they are."""
    await stage.wait_for("Allow edit")
    await asyncio.sleep(1.3)
    await stage.press("1")
    await stage.wait_for("Rename total to amount in 2 files")
    await asyncio.sleep(1.3)
    await stage.picture("approval-rename")
    await stage.press("v")
    await stage.wait_for("[x] part 1")
    await stage.press("space")
    await stage.picture("review")
    await stage.press("space", "escape")
    await stage.wait_for("Rename total to amount in 2 files")
    await stage.press("1")
    await stage.wait_for("5 calls")
    await stage.press("f2")
    await stage.type("/lsp")
    await stage.wait_for("3:25")
    await stage.picture("diagnostics")
    await stage.press("right")
    await stage.wait_for("notes-server")
    await stage.picture("language-servers")


async def changes(stage: Stage) -> None:
    """What a session changed, its differences, and the steps that are left."""
    await stage.wait_for("Allow edit")
    await stage.press("w")
    await asyncio.sleep(1.3)
    await stage.press("w")
    await stage.picture("approval-why")
    await stage.press("1")
    await stage.wait_for("6 calls")
    await stage.press("f2", "right", "right", "right")
    await stage.wait_for("Enter differences")
    await stage.picture("changes")
    await stage.press("down", "enter")
    await stage.wait_for("Changes: shop.py")
    await stage.picture("differences")
    await stage.press("escape", "right")
    await stage.wait_for("of 4 done")
    await stage.picture("todos")


async def first(stage: Stage) -> None:
    """The first screen without any key, and the list of commands."""
    await stage.wait_for("No model yet")
    await stage.picture("first")
    await stage.press("/", "r", "e")
    await stage.wait_for("/review")
    await stage.picture("commands")
    await stage.press("escape", "backspace", "backspace", "backspace", "f1")
    await stage.picture("help")


async def library(stage: Stage) -> None:
    """What a command would send, the skills with why one is not used, and what is wrong with files."""
    await stage.wait_for("files ✗1")
    await stage.press("/", "r", "e", "l", "e", "a", "s", "e", "space", *"3.1", "space", *"beta")
    await stage.wait_for("asks first")
    await stage.picture("preview")
    await stage.press("ctrl+u")
    await stage.type("/skills")
    await stage.wait_for("shadowed")
    await stage.press("down", "down", "down", "down")
    await stage.picture("library-skills")
    await stage.press("left")
    await stage.wait_for("unterminated")
    await stage.picture("library-problems")


async def trust(stage: Stage) -> None:
    """The question that a folder with something to run brings."""
    await stage.wait_for("Trust")
    await stage.picture("trust")


def cloned_project(home: Path) -> Path:
    """Lay out a project that brings a server, a rule and a command with a shell part, and that nobody has trusted."""
    project = home / "cloned-shop"
    (project / ".harness" / "commands").mkdir(parents=True, exist_ok=True)
    (project / ".harness" / "config.yaml").write_text(
        "mcp:\n  stock: {command: [stock-server, --read-only]}\n"
        'permission:\n  - {permission: bash, pattern: "make test", action: allow}\n'
    )
    (project / ".harness" / "commands" / "changes.md").write_text(
        "---\ndescription: Sum up what changed\n---\nSum up these changes:\n\n!`git log --oneline -5`\n"
    )
    return project


def library_home(home: Path, config: Path) -> Path:
    """Lay out a project, and commands and skills of a person, some of them not as they should be."""
    project = home / "shop"
    project.mkdir(exist_ok=True)
    (project / "CHANGES.md").write_text("# 3.1\n\n- Faster check-out\n")
    for path, text in LIBRARY.items():
        file = home / path[2:] if path.startswith("~/") else config / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return project


def played(demo: Scene, script: str, settings: str) -> str:
    """Lay out what the model plays, and the person's configuration; return the model."""
    file = demo.script.with_name("play.yaml")
    file.write_text(script)
    folder = Path(os.environ["XDG_CONFIG_HOME"], "harness")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(settings)
    return f"replay:{file}"


def take_work(home: Path, out: Path, sizes: Sequence[tuple[int, int]]) -> None:
    """Take the pictures of the scene ``work``."""
    for size in sizes:
        with scene(answers=False, within=home) as demo:
            (demo.project / "Makefile").write_text('test:\n\t@echo "3 passed"\n')
            chosen = Options(model=played(demo, WORK, RULES), message="Run the tests and keep their output")
            asyncio.run(one(work, demo.project, chosen, out, size))


def take_faults(home: Path, out: Path, sizes: Sequence[tuple[int, int]]) -> None:
    """Take the pictures of the scene ``faults``."""
    for size in sizes:
        with scene(answers=False, within=home) as demo:
            project = home / f"shop-{size[0]}"
            project.mkdir()
            model = played(demo, json.dumps(FAULTS), FAULT_SERVERS)
            chosen = Options(model=model, message="Call the total of a shelf its amount")
            asyncio.run(one(faults, project, chosen, out, size))


def take_changes(home: Path, out: Path, sizes: Sequence[tuple[int, int]]) -> None:
    """Take the pictures of the scene ``changes``."""
    for size in sizes:
        with scene(answers=False, within=home) as demo:
            project = home / f"boxes-{size[0]}"
            project.mkdir()
            (project / "shop.py").write_text(SHOP)
            (project / "NOTES.md").write_text("# Notes\n")
            model = played(demo, json.dumps(CHANGES).replace("NOTES.md", "BOXES.md"), CHANGE_RULES)
            asyncio.run(one(changes, project, Options(model=model, message="Count in boxes of twelve"), out, size))


def wanted() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "screenshots")
    parser.add_argument("--size", type=lambda text: tuple(int(part) for part in text.split("x")), action="append")
    parser.add_argument("--only", choices=["tour", "work", "faults", "changes", "first", "trust", "library"])
    return parser.parse_args()


def main() -> int:
    """Take the pictures."""
    options = wanted()
    options.out.mkdir(exist_ok=True)
    sizes = options.size or SIZES
    for key in [key for key in os.environ if key.endswith("_API_KEY")]:
        del os.environ[key]
    with tempfile.TemporaryDirectory(prefix="harness-pictures-") as name:
        home = Path(name).resolve()
        os.environ["HOME"] = str(home)
        os.environ["COLORTERM"] = "truecolor"  # whoever looks at a picture has all colours
        os.environ.pop("NO_COLOR", None)
        if options.only in (None, "tour"):
            for size in sizes:
                with scene(answers=False, within=home) as demo:
                    chosen = Options(model=f"replay:{demo.script}", message=MESSAGE)
                    asyncio.run(one(tour, demo.project, chosen, options.out, size))
        for name, take in (("work", take_work), ("faults", take_faults), ("changes", take_changes)):
            if options.only in (None, name):
                take(home, options.out, sizes)
        if options.only in (None, "first", "trust"):
            with scene(answers=False, within=home):
                empty = home / "notes"
                empty.mkdir()
                for size in sizes:
                    if options.only in (None, "first"):
                        asyncio.run(one(first, empty, Options(), options.out, size))
                    if options.only in (None, "trust"):
                        asyncio.run(one(trust, cloned_project(home), Options(), options.out, size))
        if options.only in (None, "library"):
            for size in sizes:
                with scene(answers=False, within=home):
                    project = library_home(home, Path(os.environ["XDG_CONFIG_HOME"], "harness"))
                    asyncio.run(one(library, project, Options(), options.out, size))
    return 0


async def one(play: Play, start: Path, options: Options, out: Path, size: tuple[int, int]) -> None:
    """Run one scene at one size."""
    app = HarnessApp(start, options, BACKEND)
    async with app.run_test(size=size) as pilot:
        await play(Stage(app, pilot, out, size))
        app.leave(0)
    await app.close_backend()


if __name__ == "__main__":
    sys.exit(main())
