"""The full-screen shell with one fault in it, to see how it leaves the terminal: ``python e2e_faults.py WHERE``."""

from __future__ import annotations

import asyncio
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness_tui.children.registry import ChildRegistry
from harness_tui.tui import run
from harness_tui.tui.app import HarnessApp
from harness_tui.tui.prompt.editor import MessageEditor
from harness_tui.tui.status import StatusLine

KEY = "x"
REGISTRY = ChildRegistry()
EDITORS = itertools.count(1)


def fail(*_: Any, **__: Any) -> Any:
    raise RuntimeError("the fault of the test")


def leave_python(*_: Any, **__: Any) -> Any:
    raise SystemExit(7)


def at_key(act: Callable[[HarnessApp], Any]) -> None:
    """Let a widget do something when the key comes."""

    async def on_key(self: MessageEditor, event: Any) -> None:
        if event.key == KEY:
            act(self.app)  # type: ignore[arg-type]

    MessageEditor._on_key = on_key  # type: ignore[method-assign]


def failing_worker(app: HarnessApp) -> None:
    async def worker() -> None:
        await asyncio.sleep(0)
        fail()

    app.run_worker(worker())  # it ends the program, as workers do by default


def failing_render(app: HarnessApp) -> None:
    StatusLine.render_line = fail  # type: ignore[method-assign]
    app.status.refresh()


def failing_callback(app: HarnessApp) -> None:
    asyncio.get_running_loop().call_soon(leave_python)


async def failing_close(self: HarnessApp) -> None:
    fail()


def editor(app: HarnessApp) -> None:
    """Give the terminal to a program that breaks it, as an editor that crashes does."""
    number = next(EDITORS)
    code = f"import sys, tty; tty.setraw(0); print('in the editor {number}'); sys.stdin.read(1); sys.exit(3)"

    async def edit() -> None:
        with app.suspend():
            status = await REGISTRY.foreground([sys.executable, "-u", "-c", code])
        app.prompt.set_text(f"it gave {status}")

    app.run_worker(edit())


FAULTS: dict[str, Callable[[], Any]] = {
    "compose": lambda: setattr(HarnessApp, "compose", fail),
    "key": lambda: at_key(fail),
    "render": lambda: at_key(failing_render),
    "worker": lambda: at_key(failing_worker),
    "exit of python in the loop": lambda: at_key(failing_callback),
    "editor": lambda: at_key(editor),
    "close": lambda: setattr(HarnessApp, "close_backend", failing_close),
}

if __name__ == "__main__":
    FAULTS[sys.argv[1]]()
    sys.exit(run.run(Path.cwd()))
