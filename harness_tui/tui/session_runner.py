"""What ``/resume``, ``/fork`` and ``/export`` do. Imported with the host, after the first frame."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from harness_tui.core.text import clean_for_display
from harness_tui.tui.host import Host
from harness_tui.tui.lines import Line, wrap
from harness_tui.tui.screens.reader import Reader

if TYPE_CHECKING:
    from harness_tui.tui.app import HarnessApp
    from harness_tui.tui.backend_rows import SessionRow

Pick: TypeAlias = Callable[[str, Sequence[tuple[str, str, str]], str], Awaitable[str | None]]
"""Lets the person choose one of ``(key, left, right)`` under a title; the last text stands where there is none."""

_READ, _COPY, _END = "read", "copy", "end"


class SessionRunner:
    """Opens, copies and writes sessions for the app."""

    def __init__(self, app: HarnessApp, host: Host, pick: Pick) -> None:
        self._app = app
        self._host = host
        self._pick = pick

    async def run(self, name: str, argument: str) -> None:
        """Run one of the three commands."""
        match name:
            case "resume":
                await self.resume(argument)
            case "fork":
                await self.fork(argument)
            case _:
                await self.export(argument)

    async def resume(self, session: str) -> None:
        """Open a recorded session: the one that is named, or that the person picks."""
        sessions = await self._host.backend.sessions()
        if not session:
            rows = [_session_row(row) for row in sessions if row.session != self._present and row.messages]
            picked = await self._pick("Resume a session", rows, "No other session in this project.")
            if picked is None:
                return
            session = picked
        found = [row for row in sessions if row.session.startswith(session)]
        if len(found) == 1 and found[0].live and found[0].session != self._present:
            await self._open_elsewhere(found[0])
            return
        await self._app.use_session(self._host.backend.resume(session))

    async def _open_elsewhere(self, row: SessionRow) -> None:
        choices = [(_READ, "Read it as it is now", "nothing is changed"), (_COPY, "Go on in a copy", "a fork of it")]
        chosen = await self._pick("This session is open in another program", choices, "")
        if chosen == _COPY:
            await self._go_on_in(row.session, None)
        elif chosen == _READ:
            text = await self._host.guarded(self._host.backend.records.text(row.session))
            if text is not None:
                self._read(row.title or row.session, text)

    async def fork(self, argument: str) -> None:
        """Go on in a copy of the present session: whole, or before a message, which comes back into the prompt."""
        present = self._present
        if not present:
            self._host.tell("warning", "there is no session yet")
            return
        if argument and not argument.isdecimal():
            self._host.tell("warning", "/fork takes the number of an event, or nothing", "/fork alone lists messages")
            return
        if argument:
            await self._go_on_in(present, int(argument))
            return
        points = await self._host.guarded(self._host.backend.records.fork_points(present))
        if points is None:
            return
        rows = [(_END, "From here, with everything", "")]
        rows += [(str(place), _one_line(point.text), "before this message") for place, point in enumerate(points)]
        picked = await self._pick("Go on in a copy", rows, "")
        if picked is None:
            return
        point = None if picked == _END else points[int(picked)]
        if await self._go_on_in(present, point.seq if point else None) and point is not None:
            self._app.insert_prompt(point.text)

    async def _go_on_in(self, session: str, at: int | None) -> bool:
        backend = self._host.backend
        made = await self._host.guarded(backend.records.fork(session, at))
        if made is None:
            return False
        await self._app.use_session(backend.resume(made))
        return self._present == made

    async def export(self, target: str) -> None:
        """Write the present session to a file."""
        if not self._present:
            self._host.tell("warning", "there is no session yet")
            return
        done = await self._host.guarded(self._host.backend.records.export(self._present, target))
        if done is not None:
            self._host.tell("info", f"written to {done}")

    @property
    def _present(self) -> str:
        return self._host.session.id if self._host.session is not None else ""

    def _read(self, title: str, text: str) -> None:
        def at(width: int) -> list[Line]:
            return [line for row in text.split("\n") for line in wrap([(clean_for_display(row), "")], width)]

        self._app.push_screen(Reader(self._app.palette, f"{_one_line(title)} (read only)", at, at_end=True))


def _one_line(text: str) -> str:
    return clean_for_display(text, one_line=True)


def _session_row(row: SessionRow) -> tuple[str, str, str]:
    when = row.updated[:16].replace("T", " ")
    note = " · open elsewhere" if row.live else ""
    return row.session, row.title or row.session, f"{row.messages} messages · {when}{note}"
