"""The same front end behind a page in a browser: what it draws and is sent goes through pipes, not to a terminal.

    python -P -m harness_tui.tui.page '{"folder": "...", "width": 80, "height": 24, "model": null, ...}'

``harness web`` starts one for each page that is open; with its page, or with the server, it ends.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any, cast

from harness_tui.tui.run import BACKEND, Options, prepare_process, run_app

SIZE_LIMIT = 1_000
"""The most columns and rows that a page may ask for."""


def run_in_page(start: Path, size: tuple[int, int], *, options: Options | None = None, backend: str = BACKEND) -> int:
    """Run the TUI in ``start`` at ``size`` columns and rows until the page is closed; return the exit code."""
    prepare_process()
    from textual.drivers.web_driver import WebDriver

    from harness_tui.tui.app import HarnessApp

    class PageDriver(WebDriver):
        """Leaves when its input ends: the page or its server has gone, however that came."""

        def run_input_thread(self) -> None:
            super().run_input_thread()
            if self._loop.is_running():
                self._loop.call_soon_threadsafe(app.leave)

    app = HarnessApp(start, options or Options(), backend)
    app.driver_class = PageDriver
    return asyncio.run(run_app(app, lambda code: os._exit(code), size=size))


def main() -> int:
    """Read the one argument and run."""
    asked = cast(dict[str, Any], json.loads(sys.argv[1]))
    width, height = (max(1, min(int(asked.pop(name)), SIZE_LIMIT)) for name in ("width", "height"))
    return run_in_page(Path(asked.pop("folder")), (width, height), options=Options(**asked))


if __name__ == "__main__":
    sys.exit(main())
