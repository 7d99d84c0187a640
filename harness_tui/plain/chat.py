"""The line front end's loop: one reader of lines, events printed as they come, questions asked one at a time.

A line is an answer while something is asked, else a message or a command. Nothing that is typed is ever lost: what
comes while a run goes on waits in the session's queue.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeVar

from harness_tui.core import events as ev
from harness_tui.core import intents as it
from harness_tui.core.bus import LaggedError, Subscription
from harness_tui.core.envelope import Envelope
from harness_tui.core.errors import HarnessError
from harness_tui.core.event_parts import QueueItem
from harness_tui.core.text import clean_for_display
from harness_tui.library.own_commands import OwnCommand, find_own, split_command
from harness_tui.plain.commands import ChatCommands
from harness_tui.plain.forms import answer_question
from harness_tui.plain.printer import EventPrinter
from harness_tui.plain.requests import answer_permission
from harness_tui.plain.terminal import Interrupted, Lines, Terminal
from harness_tui.workspace.front import OpenSession, WorkspaceBackend

PROMPT: Final = "> "
GRACE_S: Final = 1.0
"""A line that is ready so soon after a question was shown was not typed as its answer."""

T = TypeVar("T")
Talk = Callable[[Lines], Awaitable[None]]
"""Something that asks and reads answers."""


class Chat:
    """One chat at ``terminal``. ``grace`` as :data:`GRACE_S`, 0 where lines are not typed."""

    def __init__(self, backend: WorkspaceBackend, terminal: Terminal, *, grace: float = GRACE_S) -> None:
        self.backend = backend
        self._terminal = terminal
        self._grace = grace if terminal.interactive else 0.0
        self._commands = ChatCommands(self)
        self._session: OpenSession | None = None
        self._reading: Subscription | None = None
        self._following: asyncio.Task[None] | None = None
        self._talks: deque[tuple[str, Talk]] = deque()
        self._talking: asyncio.Task[None] | None = None
        self._talk = ""
        self._answers: asyncio.Queue[str | None] | None = None
        self._asked_at = 0.0
        self._fresh = False
        self._calm = asyncio.Event()
        self._left = asyncio.Event()
        self._ended = False
        self._reads = False
        self._queue: Sequence[QueueItem] = ()
        self._servers: dict[tuple[str, str], str] = {}
        self.running = False
        self.printer = EventPrinter(terminal.write, "")
        self.end: ev.RunFinished | None = None

    # --- life ----------------------------------------------------------------------------------------

    async def run(self) -> ev.RunFinished | None:
        """Talk until the input ends or somebody leaves; return how the last run ended. Raises ``HarnessError``."""
        info = await self.backend.open()
        await self._terminal.use(self.backend)
        self.write(f"Harness {info.version} in {info.root}")
        self.write("/help lists commands; Ctrl+C cancels, Ctrl+D ends")
        for problem in info.problems:
            where = f"{problem.where}: " if problem.where else ""
            self.write(f"{problem.level}: {where}{problem.text}{f' ({problem.mend})' if problem.mend else ''}")
        await self.use(await self.backend.start_session())
        if info.trust.ask and self._terminal.interactive:
            self.talk("trust", self._commands.ask_trust)
        elif info.trust.ask:
            self.write("note: this folder brings things along that are not trusted (harness trust shows them)")
        try:
            await self._read_lines()
        finally:
            await self._end_talk()
            if self._following is not None:
                self._following.cancel()
        return self.end

    async def _read_lines(self) -> None:
        self._reads = True
        self._look_whether_calm()
        while not self._ended:
            if not self._terminal.interactive:
                await self._calm.wait()  # what is piped in is no answer to what was not asked yet
            try:
                line = await self._next_line()
            except Interrupted:
                await self.interrupt()
                continue
            if self._ended:
                break
            if line is None:
                await self._input_ended()
                return
            await self._take(line)
        if self.running:
            await self.send(it.Cancel())

    async def _next_line(self) -> str | None:
        """Return the next line; ``None`` at the end of the input, and when somebody leaves meanwhile."""
        prompt = PROMPT if self._is_calm and self._answers is None else ""
        reading = asyncio.ensure_future(self._terminal.read_line(prompt))
        leaving = asyncio.ensure_future(self._left.wait())
        try:
            await asyncio.wait((reading, leaving), return_when=asyncio.FIRST_COMPLETED)
            return reading.result() if reading.done() else None
        finally:
            for task in (reading, leaving):
                task.cancel()
            await asyncio.wait((reading, leaving))

    async def _input_ended(self) -> None:
        """Nobody answers any more: what waits is refused. A person has left; what was piped in is worked off."""
        self._ended = True
        if self._session is None:
            return
        if self._terminal.interactive:
            if self.running:
                await self._session.send(it.Cancel())
            return
        self._session.live.end_of_input()
        while self.running or self._talking is not None or self._session.live.going_on:
            self._give(None)
            await asyncio.sleep(0.02)

    async def interrupt(self) -> None:
        """Ctrl+C: leave a question, else cancel the run."""
        if self._give(None):
            return
        if self.running and self._session is not None:
            await self._session.send(it.Cancel())
        elif self._terminal.interactive:
            self.write("(nothing runs; Ctrl+D or /quit leaves)")
        else:
            self.leave()

    @property
    def session_id(self) -> str:
        """The present session."""
        return self._session.id if self._session is not None else ""

    def servers(self, kind: str) -> list[str]:
        """Return how each server of ``kind`` stands, a line for each."""
        return [text for (of, _), text in sorted(self._servers.items()) if of == kind]

    async def lend(self, work: Awaitable[T]) -> T:
        """Let ``work`` have the terminal. Raises what it raises."""
        return await self._terminal.lend(work)

    def leave(self) -> None:
        """End after this line."""
        self._ended = True
        self._left.set()
        self._calm.set()

    # --- lines ---------------------------------------------------------------------------------------

    def write(self, text: str) -> None:
        """Show lines."""
        self._terminal.write(text)

    async def _take(self, line: str) -> None:
        if self._answers is not None:
            if time.monotonic() - self._asked_at < self._grace:
                self.write("(that came too soon to be an answer, and was not taken; type it again)")
                return
            self._give(line)
            return
        if not line.strip():
            return
        with contextlib.suppress(HarnessError):
            await self.backend.prompt.remember(line)
        command = split_command(line)
        own = find_own(command[0]) if command is not None else None
        if command is not None and own is not None:
            self._run_own(own, command[1])
        elif line.startswith("!") and line[1:].strip():
            await self.send(it.Shell(line[1:].strip()))
        else:
            await self.submit(line)

    def _give(self, line: str | None) -> bool:
        """Answer what is asked, once; return whether something is."""
        answers, self._answers = self._answers, None
        if answers is None:
            return False
        answers.put_nowait(line)
        self._look_whether_calm()
        return True

    def _run_own(self, own: OwnCommand, arguments: str) -> None:
        async def work(lines: Lines) -> None:
            await self._commands.run(own, arguments, lines)

        self.talk(f"/{own.name}", work)

    async def submit(self, text: str) -> None:
        """Send a message, or let it wait while a run goes on."""
        if self.running:
            await self.send(it.Submit(text, when="queue"))
            return
        self.printer.expected = text
        await self.send(it.Submit(text))

    async def send(self, intent: it.Intent) -> None:
        """Send an intent to the session."""
        if self._session is not None:
            await self._session.send(intent)
            self._set_running(self._session.live.going_on)

    # --- questions -----------------------------------------------------------------------------------

    def talk(self, name: str, talk: Talk) -> None:
        """Begin ``talk`` when those before it are over."""
        self._talks.append((name, talk))
        self._begin_talk()
        self._look_whether_calm()

    def _begin_talk(self) -> None:
        if self._talking is None and self._talks:
            self._talk, talk = self._talks.popleft()
            self._talking = asyncio.ensure_future(self._run_talk(talk))
            self._talking.add_done_callback(self._talk_ended)

    async def _run_talk(self, talk: Talk) -> None:
        try:
            await talk(self)
        except HarnessError as error:
            self.write(f"error: {error}")
        except OSError as error:
            self.write(f"error: {error.strerror or error}")

    def _talk_ended(self, task: asyncio.Task[None]) -> None:
        self._talking, self._answers, self._talk = None, None, ""
        if not task.cancelled() and (error := task.exception()) is not None:
            self.write(f"error: {type(error).__name__}: {error} (this is a fault of the program itself)")
        self._begin_talk()
        self._look_whether_calm()

    async def _end_talk(self) -> None:
        self._talks.clear()
        if self._talking is not None:
            self._talking.cancel()
            await asyncio.wait([self._talking])

    async def read_line(self, prompt: str) -> str | None:
        """Return the answer to what was written last, for the present talk; ``None`` leaves it."""
        if self._ended:
            return None
        answers = self._answers = asyncio.Queue[str | None]()
        # Only the first answer: what follows it is typed by somebody who reads along.
        self._asked_at = time.monotonic() if self._fresh else float("-inf")
        self._fresh = False
        self.write(prompt.rstrip())
        self._look_whether_calm()
        try:
            return await answers.get()
        finally:
            self._answers = None
            self._look_whether_calm()

    # --- events --------------------------------------------------------------------------------------

    async def use(self, session: OpenSession) -> None:
        """Make ``session`` the present one, and tell how it stands."""
        if self._following is not None:
            self._following.cancel()
        subscription = session.subscribe()
        history = await session.history()
        self._session, self._reading = session, subscription
        self.printer = EventPrinter(self.write, session.id)
        self._set_running(session.live.going_on)
        self._tell_history(history)
        self._following = asyncio.ensure_future(self._follow(subscription, history[-1].seq if history else 0))

    def _tell_history(self, history: Sequence[Envelope]) -> None:
        answers = [item.event.text for item in history if isinstance(item.event, ev.TextFinished)]
        runs = sum(isinstance(item.event, ev.RunStarted) for item in history)
        if runs and self._session is not None:
            self.write(f"(session {self._session.id}, {runs} messages so far; the last answer:)")
            self.write(clean_for_display(answers[-1]) if answers else "(none)")

    async def _follow(self, subscription: Subscription, seen: int) -> None:
        while True:
            try:
                async for envelope in subscription:
                    own = self._session is not None and envelope.session == self._session.id
                    if own and envelope.seq <= seen:
                        continue
                    self._event(envelope, own=own)
                return
            except LaggedError:
                if self._session is None:
                    return
                self.write("(some lines were left out: they came quicker than they could be written)")
                subscription = self._session.subscribe()

    def _event(self, envelope: Envelope, *, own: bool) -> None:
        event = envelope.event
        self.printer.print(envelope)
        match event:
            case ev.PermissionRequested():
                self.talk(event.request, self._ask(answer_permission, event))
            case ev.QuestionAsked():
                self.talk(event.request, self._ask(answer_question, event))
            case ev.PermissionResolved(request=str(request)) | ev.QuestionAnswered(request=request):
                self._no_longer_asked(request)
            case ev.ServerChanged(kind=kind, name=name, state=state, reason=reason):
                self._servers[kind, name] = f"{name}: {state}{f', {reason}' if reason else ''}"
            case ev.RunStarted() if own:
                self._set_running(True)
            case ev.RunFinished() if own:
                self.end = event
                self._set_running(False)
                if self._queue and event.reason not in ("completed", "step_limit") and self._terminal.interactive:
                    self.talk("queue", self._ask_about_queue)
            case ev.QueueChanged(items=items) if own:
                self._queue = items
            case _:
                pass

    def _ask(self, ask: Callable[[Any, Lines], Awaitable[it.Answer]], event: ev.Event) -> Talk:
        async def talk(lines: Lines) -> None:
            self._fresh = True
            await self.send(await ask(event, lines))

        return talk

    async def _ask_about_queue(self, lines: Lines) -> None:
        """After a run that was ended, what waited is not sent by itself."""
        choices = [("send", "send what waits"), ("drop", "drop it"), ("keep", "let it wait for the next run")]
        chosen = await self._commands.choose(lines, f"{len(self._queue)} waiting:", choices)
        waiting = self._queue
        if chosen in (None, "keep") or self.running:
            return
        await self.send(it.EditQueue(()))
        for item in waiting if chosen == "send" else ():
            when = "queue" if self.running else "now"
            await self.send(it.Submit(item.text, item.attachments, item.agent, item.model, when, item.piped))

    def _no_longer_asked(self, request: str) -> None:
        self._talks = deque(item for item in self._talks if item[0] != request)
        if self._talk == request and self._answers is not None and self._talking is not None:
            self._talking.cancel()
            self.write("(no longer asked)")

    def _set_running(self, running: bool) -> None:
        self.running = running
        self._look_whether_calm()

    def _look_whether_calm(self) -> None:
        """Let piped input go on where a message can be sent, or an answer is waited for."""
        if self._answers is None and not self._is_calm:
            self._calm.clear()
            return
        self._calm.set()
        if self._answers is None and self._reads and not self._ended:
            self._terminal.remind(PROMPT)

    @property
    def _is_calm(self) -> bool:
        return not self.running and self._talking is None and not self._talks
