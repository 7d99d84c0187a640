"""A fault of the program costs the part that it happened in, not the session.

Textual ends the whole program at the first exception of any widget. Here a widget that fails at a message goes on with
the next one, one that cannot be drawn shows why in its place, and the person is told once. Faults that come one after
another, or before there is anything to go on with, end the program: the terminal is given back first, a short report
stands on it, and the whole of it in a file.
"""

from __future__ import annotations

import logging
import os
import platform
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.segment import Segment
from textual.geometry import Region
from textual.message_pump import MessagePump
from textual.strip import Strip
from textual.widget import Widget

from harness_tui._version import __version__
from harness_tui.core.text import clean_for_display

if TYPE_CHECKING:
    from harness_tui.tui.app import HarnessApp

FAULTS: Final = 100
WITHIN_S: Final = 10.0
"""So many faults in so short a time are no accident of one part."""

REPORTS: Final = 10
"""How many reports are kept."""

_TOLD: Final = 50

# Textual has no door for any of these.
_HANDLE: Final = "_handle_exception"
_DISPATCH: Final = "_dispatch_message"
_RETURN_CODE: Final = "_return_code"
_CLOSE: Final = "_close_messages_no_wait"


class Guard:
    """Decides what a fault of ``app`` costs. ``fatal`` is the one that ended it, ``report`` its file."""

    def __init__(self, app: HarnessApp) -> None:
        self._app = app
        self._times: list[float] = []
        self._told: set[str] = set()
        self.fatal: BaseException | None = None

    def take(self, error: Exception, where: str, *, counts: bool = True) -> bool:
        """Take a fault and tell the person; return whether the program can go on."""
        now = time.monotonic()
        if counts:
            self._times = [at for at in self._times if now - at < WITHIN_S]
            self._times.append(now)
        controller = self._app.controller
        if controller is None or len(self._times) > FAULTS or self.fatal is not None:
            return False
        text = f"{where}: {type(error).__name__}: {error}"
        if text not in self._told and len(self._told) < _TOLD:
            self._told.add(text)
            logging.getLogger(__name__).error("in %s", where, exc_info=error)
            try:
                controller.tell_failure(error)
            except Exception:  # telling fails for the same reason: the log has it
                logging.getLogger(__name__).exception("while telling of a fault in %s", where)
        return True

    def handle(self, error: Exception) -> None:
        """Go on where that is possible; else end the program. In the place of Textual's own."""
        if self.take(error, "the program"):
            return
        if self.fatal is None:
            self.fatal = error
        setattr(self._app, _RETURN_CODE, 1)
        getattr(self._app, _CLOSE)()


def install(app: HarnessApp) -> Guard:
    """Guard ``app``, the one of this process: every widget of Textual is changed for it."""
    guard = Guard(app)
    setattr(app, _HANDLE, guard.handle)
    dispatch, render = getattr(MessagePump, _DISPATCH), Widget.render_lines

    async def guarded_dispatch(self: MessagePump, message: Any) -> None:
        try:
            await dispatch(self, message)
        except Exception as error:
            if not guard.take(error, type(self).__name__):
                raise

    def guarded_render(self: Widget, crop: Region) -> list[Strip]:
        try:
            return render(self, crop)
        except Exception as error:
            if not guard.take(error, type(self).__name__, counts=False):  # it may be drawn many times a second
                raise
            return _error_strips(type(self).__name__, error, crop)

    setattr(MessagePump, _DISPATCH, guarded_dispatch)
    Widget.render_lines = guarded_render
    return guard


def _error_strips(name: str, error: Exception, crop: Region) -> list[Strip]:
    text = clean_for_display(f"{name} cannot be drawn: {type(error).__name__}: {error}", one_line=True)
    first = Strip([Segment(text)]).crop_extend(crop.x, crop.right, None)
    blank = Strip.blank(crop.width)
    return [first if y == 0 else blank for y in range(crop.y, crop.bottom)]


def write_report(error: BaseException, folder: Path) -> Path | None:
    """Write what is known of ``error`` to a file of ``folder`` that only its owner reads; keep the latest.

    ``None`` where that cannot be. No values of variables are in it, and secrets are taken out.
    """
    from harness_tui.core.paths import make_private_folder, write_atomic
    from harness_tui.core.redaction import redact

    lines = [
        f"harness {__version__}, Python {platform.python_version()}, {platform.system()} {platform.release()}",
        f"TERM={os.environ.get('TERM', '')} {time.strftime('%Y-%m-%d %H:%M:%S %z')}",
        "",
        *traceback.format_exception(error),
    ]
    path = folder / f"fault-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    try:
        make_private_folder(folder)
        write_atomic(path, redact("\n".join(lines)).encode("utf-8", "backslashreplace"), mode=0o600)
        for old in sorted(folder.glob("fault-*.txt"))[:-REPORTS]:
            old.unlink(missing_ok=True)
    except OSError:
        return None
    return path


def short_report(error: BaseException, path: Path | None) -> str:
    """Return what stands on the terminal after the program ended by ``error``."""
    text = clean_for_display(f"{type(error).__name__}: {error}", one_line=True)
    lines = [
        f"harness: a fault of the program ended it: {text}",
        "harness: the session is recorded up to here; `harness --continue` goes on with it",
    ]
    if path is not None:
        lines.append(f"harness: the whole report: {clean_for_display(str(path), one_line=True)}")
    return "\n".join(lines)
