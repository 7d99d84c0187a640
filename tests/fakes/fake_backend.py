"""A workspace that plays event lists: what the TUI is tested against."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fakes.fake_servers import FakeServers
from fakes.fake_settings import FakeSettings

from harness_tui.core import events as ev
from harness_tui.core import intents as it
from harness_tui.core.bus import EventStream, Subscription
from harness_tui.core.envelope import Envelope
from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.seams import ProposedFile


@dataclass(frozen=True, slots=True)
class FakeTrustItem:
    kind: str
    text: str
    source: str


@dataclass(frozen=True, slots=True)
class FakeTrust:
    trusted: bool = True
    ask: bool = False
    items: tuple[FakeTrustItem, ...] = ()


@dataclass(frozen=True, slots=True)
class FakeInfo:
    root: str = "/srv/project"
    version: str = "0"
    trust: FakeTrust = FakeTrust()
    problems: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class FakeFinding:
    path: str
    line: int
    code: str
    message: str
    level: str = "warning"


@dataclass(frozen=True, slots=True)
class FakeOffer:
    name: str
    description: str = ""
    argument_hint: str = ""
    source: str = "project"
    kind: str = "command"
    alias_of: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FakeCommand:
    name: str
    description: str = ""
    argument_hint: str = ""
    source: str = "project"
    trusted: bool = True
    hidden_reason: str | None = None
    shadowed_by: str | None = None
    usable: bool = True
    agent: str | None = None
    model: str | None = None
    findings: tuple[FakeFinding, ...] = ()
    own: bool = True
    aliases: tuple[str, ...] = ()
    kind: str = "command"

    @property
    def slash(self) -> str:
        return self.name if self.trusted and self.usable and self.shadowed_by is None else ""

    @property
    def path(self) -> str:
        return f"/{self.kind}s/{self.name}.md"


@dataclass(frozen=True, slots=True)
class FakeSkill(FakeCommand):
    source: str = "user"
    kind: str = "skill"

    @property
    def path(self) -> str:
        return f"/skills/{self.name}/SKILL.md"


@dataclass(frozen=True, slots=True)
class FakeShell:
    command: str
    decision: str = "ask"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FakeAttachment:
    name: str
    kind: str = "text"
    bytes: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class FakePreview:
    kind: str = "command"
    name: str = "review"
    source: str = "/commands/review.md"
    message: str = ""
    agent: str | None = None
    model: str | None = None
    subtask: bool = False
    attachments: tuple[FakeAttachment, ...] = ()
    shell: tuple[FakeShell, ...] = ()
    words: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    error: str | None = None
    error_text: str | None = None


@dataclass(frozen=True, slots=True)
class FakeLibraryRows:
    offers: tuple[FakeOffer, ...] = ()
    commands: tuple[FakeCommand, ...] = ()
    skills: tuple[FakeCommand, ...] = ()
    problems: tuple[FakeFinding, ...] = ()


@dataclass
class FakeLibrary:
    """Commands and skills. ``look_gate`` and ``preview_gates`` hold answers back; ``previewed`` are the lines asked."""

    backend: FakeBackend
    previewed: list[str] = field(default_factory=list[str])
    answer: Callable[[str], FakePreview] = lambda line: FakePreview(message=f"text of {line}")
    preview_gates: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])
    extra_offers: tuple[FakeOffer, ...] = ()
    looks: int = 0

    async def look(self) -> FakeLibraryRows:
        self.looks += 1
        backend = self.backend
        rows = [*backend.command_rows, *backend.skill_rows]
        offers = [
            FakeOffer(
                row.name,
                row.description,
                row.argument_hint,
                row.source,
                row.kind,
                reason="" if row.trusted else "untrusted folder: /trust",
            )
            for row in rows
            if row.hidden_reason is None or not row.trusted
        ]
        offers += [FakeOffer(alias, row.description, alias_of=row.name) for row in rows for alias in row.aliases]
        return FakeLibraryRows(
            (*offers, *self.extra_offers),
            tuple(backend.command_rows),
            tuple(backend.skill_rows),
            tuple(backend.finding_rows),
        )

    async def changes(self) -> AsyncIterator[None]:
        while True:
            await self.backend.library_changed.wait()
            self.backend.library_changed.clear()
            yield

    async def text(self, path: str) -> str:
        return f"---\nname: x\n---\n# Text of {path}\n"

    async def preview(self, line: str) -> FakePreview:
        self.previewed.append(line)
        if (gate := self.preview_gates.get(line)) is not None:
            await gate.wait()
        return self.answer(line)

    async def create(self, kind: str, name: str, *, user: bool) -> str:
        self.backend.calls.append(f"create {kind} {name} {user}")
        if name == "taken":
            raise UsageError("there is such a command already", where="/commands/taken.md")
        made = FakeCommand(name, "new", source="user" if user else "project")
        self.backend.command_rows = [*self.backend.command_rows, made]
        return made.path

    async def edit(self, path: str, line: int | None = None) -> None:
        self.backend.calls.append(f"edit {path} {line}")


@dataclass(frozen=True, slots=True)
class FakeSessionRow:
    session: str
    title: str | None = None
    updated: str = "2026-01-02T03:04:05.000Z"
    messages: int = 4
    live: bool = False


@dataclass(frozen=True, slots=True)
class FakeForkPoint:
    seq: int
    text: str


@dataclass(frozen=True, slots=True)
class FakeRecords:
    calls: list[str]
    recorded_changes: Sequence[Any] = ()

    async def fork_points(self, session: str) -> Sequence[FakeForkPoint]:
        return [FakeForkPoint(11, "second message"), FakeForkPoint(1, "first message")]

    async def fork(self, session: str, at: int | None) -> str:
        self.calls.append(f"fork {session} {at}")
        return "ses_copy"

    async def text(self, session: str) -> str:
        return f"# What was said\n\nin {session}\n"

    async def changes(self, session: str) -> Sequence[Any]:
        return self.recorded_changes

    async def differences(self, files: Sequence[tuple[str, str | None, str | None]]) -> str:
        self.calls.append(f"differences {', '.join(path for path, _, _ in files)}")
        return "".join(
            f"diff {path}\n--- {path}\n+++ {path}\n@@ -1 +1 @@\n-{old}\n+{new}\n" for path, old, new in files
        )

    async def export(self, session: str, target: str) -> str:
        self.calls.append(f"export {session} {target}")
        if target == "taken.md":
            raise HarnessError("there is such a file already", where=target, mend="name another one")
        return "~/out.md, 7 bytes"


@dataclass(frozen=True, slots=True)
class FakeNamed:
    name: str
    description: str = ""
    context: int | None = None
    available: bool = True
    reason: str | None = None
    mend: str | None = None
    price: str | None = None
    aliases: tuple[str, ...] = ()
    favourite: bool = False
    wants_key: str | None = None


@dataclass(frozen=True, slots=True)
class FakeDescendant:
    pid: int
    ppid: int
    command: tuple[str, ...] = ("helper",)
    rss: int = 2 * 1_048_576
    cpu: float = 0.0


@dataclass(frozen=True, slots=True)
class FakeProcess:
    owner: str
    pid: int
    command: tuple[str, ...] = ("server",)
    started: str = "2026-01-02T03:04:05.000Z"
    rss: int = 20 * 1_048_576
    cpu: float = 0.5
    restarts: int = 0
    tree: tuple[FakeDescendant, ...] = ()


@dataclass(frozen=True, slots=True)
class FakeRule:
    permission: str
    pattern: str
    action: str
    layer: str
    source: str


@dataclass(frozen=True, slots=True)
class FakeApproval:
    scope: str
    permission: str
    pattern: str
    added: str = "2026-01-02T03:04:05.000Z"
    bound: bool = False


@dataclass(frozen=True, slots=True)
class FakePermissions:
    agent: str = "build"
    mode: str = "ask"
    rules: tuple[FakeRule, ...] = ()
    approvals: tuple[FakeApproval, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FakeMention:
    insert: str
    label: str
    about: str = ""
    source: str = ""
    is_folder: bool = False


@dataclass(frozen=True, slots=True)
class FakePastText:
    text: str
    root: str = "/srv/project"
    time: str = "2026-01-02T03:04:05.000Z"


class FakePromptAids:
    """Finds paths that hold what is typed; a ``gate`` is waited for first. ``edited`` is what an editor leaves."""

    def __init__(self, backend: FakeBackend) -> None:
        self._backend = backend
        self.mentions = self
        self.paths: list[str] = ["README.md", "src/", "src/app.py", "my notes.txt"]
        self.past: list[FakePastText] = []
        self.remembered: list[str] = []
        self.gate: asyncio.Event | None = None
        self.edited: Callable[[str], str] = lambda text: text
        self.image: str | HarnessError = "@/data/ses_1/images/clipboard.png"

    async def find(self, typed: str, *, agents: bool) -> Sequence[FakeMention]:
        self._backend.calls.append(f"find {typed}{'' if agents else ' no agents'}")
        if self.gate is not None:
            await self.gate.wait()
        rows = [FakeMention("@explore", "explore", "Looks around", "agent")] if agents and not typed else []
        for path in self.paths:
            if typed in path:
                mention = f'@"{path}"' if " " in path else f"@{path}"
                rows.append(FakeMention(mention, path, source="folder", is_folder=path.endswith("/")))
        return rows

    async def refreshed(self) -> bool:
        return False

    async def history(self) -> Sequence[FakePastText]:
        return self.past

    async def remember(self, text: str) -> None:
        self.remembered.append(text)

    async def edit_text(self, text: str) -> str:
        self._backend.calls.append(f"edit_text {text}")
        return self.edited(text)

    async def edit_named(self, name: str, text: str) -> str:
        self._backend.calls.append(f"edit_named {name}")
        return self.edited(text)

    async def clipboard_image(self, session: str) -> str:
        if isinstance(self.image, HarnessError):
            raise self.image
        return self.image


@dataclass(frozen=True, slots=True)
class FakeTurn:
    run: str
    text: str
    files: tuple[tuple[str, int, int], ...] = ()
    outside: bool = False


class FakeSession:
    """A session whose events a test publishes. ``sent`` holds the intents."""

    def __init__(self, session: str = "ses_1", on_send: Callable[[FakeSession, it.Intent], None] | None = None) -> None:
        self.id = session
        self.sent: list[it.Intent] = []
        self.turn_rows: tuple[FakeTurn, ...] = ()
        self.stream = EventStream(session)
        self.recorded: list[Envelope] = []
        self.stream.listen(self.recorded.append)
        self._on_send = on_send
        self.proposals: dict[str, Sequence[ProposedFile]] = {}
        self.publish(ev.SessionStarted("/srv/project"))
        self.publish(ev.SessionChanged(agent="build", model="replay/demo", mode="ask"))

    def publish(self, *events: ev.Event, run: str | None = None) -> None:
        for event in events:
            self.stream.publish(event, run=run)

    def publish_foreign(self, session: str, event: ev.Event, *, run: str | None = None) -> None:
        """Publish an event of a subagent's session."""
        stream = EventStream(session)
        stream.listen(self.stream.forward)
        stream.publish(event, run=run)

    def subscribe(self) -> Subscription:
        return self.stream.subscribe()

    async def history(self) -> Sequence[Envelope]:
        return list(self.recorded)

    async def proposal(self, request: str) -> Sequence[ProposedFile]:
        return self.proposals.get(request, ())

    async def turns(self) -> Sequence[FakeTurn]:
        return self.turn_rows

    async def send(self, intent: it.Intent) -> None:
        self.sent.append(intent)
        if self._on_send is not None:
            self._on_send(self, intent)


@dataclass
class FakeBackend:
    """What the TUI asks of a workspace. ``calls`` names what was asked."""

    on_send: Callable[[FakeSession, it.Intent], None] | None = None
    info: FakeInfo = FakeInfo()
    command_rows: Sequence[FakeCommand] = ()
    skill_rows: Sequence[FakeSkill] = ()
    finding_rows: Sequence[FakeFinding] = ()
    session_rows: Sequence[FakeSessionRow] = ()
    process_rows: Sequence[FakeProcess] = (FakeProcess("mcp:time", 4711, ("mcp-server-time",)),)
    permission_rows: FakePermissions = FakePermissions()
    outputs: dict[str, str] = field(default_factory=dict[str, str])
    traces: dict[str, str] = field(default_factory=dict[str, str])
    stop_gate: asyncio.Event | None = None
    stop_error: HarnessError | None = None
    model_rows: Sequence[FakeNamed] = (
        FakeNamed("replay/demo"),
        FakeNamed("anthropic/claude-sonnet", available=False, reason="no key", mend="set ANTHROPIC_API_KEY"),
    )
    found_rows: Sequence[FakeNamed] = ()
    surveyed: asyncio.Event = field(default_factory=asyncio.Event)
    library_changed: asyncio.Event = field(default_factory=asyncio.Event)
    screen: dict[str, Any] = field(default_factory=dict[str, Any])
    servers: FakeServers = field(default_factory=FakeServers)
    settings: FakeSettings = field(default_factory=FakeSettings)
    recorded_changes: Sequence[Any] = ()
    copied: list[str] = field(default_factory=list[str])
    copy_tool: str = "tool"
    open_error: HarnessError | None = None
    start_error: HarnessError | None = None
    calls: list[str] = field(default_factory=list)
    sessions_made: list[FakeSession] = field(default_factory=list)
    prepared: dict[str, FakeSession] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.library = FakeLibrary(self)
        self.prompt = FakePromptAids(self)

    @property
    def session(self) -> FakeSession:
        return self.sessions_made[-1]

    async def open(self) -> FakeInfo:
        self.calls.append("open")
        if self.open_error is not None:
            raise self.open_error
        return self.info

    async def start_session(self) -> FakeSession:
        self.calls.append("start_session")
        if self.start_error is not None:
            raise self.start_error
        return self._made(self.prepared.get("start"))

    async def new_session(self) -> FakeSession:
        self.calls.append("new_session")
        return self._made(None)

    async def resume(self, session: str) -> FakeSession:
        self.calls.append(f"resume {session}")
        if session not in self.prepared:
            raise HarnessError("there is no such session", where=session)
        return self._made(self.prepared[session])

    def _made(self, session: FakeSession | None) -> FakeSession:
        made = session or FakeSession(f"ses_{len(self.sessions_made) + 1}", self.on_send)
        self.sessions_made.append(made)
        return made

    async def sessions(self) -> Sequence[FakeSessionRow]:
        return self.session_rows

    @property
    def records(self) -> FakeRecords:
        return FakeRecords(self.calls, self.recorded_changes)

    async def models(self) -> Sequence[FakeNamed]:
        return self.model_rows

    async def survey_models(self) -> Sequence[FakeNamed]:
        self.calls.append("survey_models")
        await self.surveyed.wait()
        return self.found_rows or self.model_rows

    async def keep_key(self, provider: str, key: str) -> str:
        if " " in key:
            raise UsageError("a key holds no blanks and no special characters", where=provider)
        self.calls.append(f"key {provider} {key}")
        self.model_rows = tuple(
            replace(row, available=True, reason=None, mend=None, wants_key=None) if row.wants_key == provider else row
            for row in self.model_rows
        )
        return "the keyring"

    async def set_favourite(self, name: str, favourite: bool) -> None:
        self.calls.append(f"favourite {name} {favourite}")
        rows = (self.found_rows or self.model_rows) if self.surveyed.is_set() else self.model_rows
        changed = [replace(row, favourite=favourite) if row.name == name else row for row in rows]
        if self.found_rows:
            self.found_rows = changed
        else:
            self.model_rows = changed

    async def copy_text(self, text: str) -> str:
        self.copied.append(text)
        return self.copy_tool

    async def agents(self) -> Sequence[FakeNamed]:
        return [FakeNamed("build", "Builds"), FakeNamed("plan", "Plans")]

    async def tools(self) -> Sequence[str]:
        return ["bash", "read"]

    async def processes(self) -> Sequence[FakeProcess]:
        self.calls.append("processes")
        return self.process_rows

    async def stop_process(self, owner: str, pid: int) -> None:
        self.calls.append(f"stop {owner} {pid}")
        if self.stop_gate is not None:
            await self.stop_gate.wait()
        if self.stop_error is not None:
            raise self.stop_error
        self.process_rows = [row for row in self.process_rows if row.pid != pid]

    async def process_output(self, owner: str, pid: int | None) -> str:
        self.calls.append(f"output {owner} {pid}")
        return self.outputs.get(owner, "")

    async def server_trace(self, name: str) -> str:
        self.calls.append(f"trace {name}")
        return self.traces.get(name, "")

    async def permissions(self) -> FakePermissions:
        return self.permission_rows

    async def revoke(self, scope: str, permission: str, pattern: str) -> int:
        self.calls.append(f"revoke {scope} {permission} {pattern}")
        kept = tuple(
            one
            for one in self.permission_rows.approvals
            if (one.scope, one.permission, one.pattern) != (scope, permission, pattern)
        )
        gone = len(self.permission_rows.approvals) - len(kept)
        self.permission_rows = replace(self.permission_rows, approvals=kept)
        return gone

    async def explain(self, text: str) -> Sequence[str]:
        self.calls.append(f"explain {text}")
        if text.startswith("nonsense"):
            raise UsageError("there is no tool 'nonsense'", mend="known are bash, read")
        return [
            "allow",
            "",
            "bash git diff: allow by bash git * allow (config.yaml:3)",
            "  bundled: ask by bash * ask (bundled)",
        ]

    async def grant_trust(self) -> FakeTrust:
        self.calls.append("grant_trust")
        return FakeTrust(trusted=True)

    async def dismiss_trust(self) -> None:
        self.calls.append("dismiss_trust")

    async def restart_server(self, kind: str, name: str) -> None:
        self.calls.append(f"restart {kind} {name}")

    async def diagnose_server(self, name: str) -> Sequence[str]:
        self.calls.append(f"diagnose {name}")
        return [f"{name}: failed: cannot be reached: Connection refused", "  do    start the server there"]

    async def log_in(self, name: str) -> str:
        self.calls.append(f"log in {name}")
        return f"logged in to {name}"

    async def log_out(self, name: str) -> str:
        self.calls.append(f"log out {name}")
        return f"forgot the login of {name}"

    async def screen_values(self) -> Mapping[str, Any]:
        return dict(self.screen)

    async def keep_screen_value(self, name: str, value: Any) -> None:
        self.screen[name] = value

    async def close(self) -> None:
        self.calls.append("close")
        for session in self.sessions_made:
            session.stream.close()
