"""What the own slash commands do line by line: numbered lists in the place of screens. One table names them all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from harness_tui.core import intents as it
from harness_tui.core.errors import UsageError
from harness_tui.core.paths import short
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.library.own_commands import MODES, OWN_COMMANDS, OwnCommand
from harness_tui.plain.terminal import Lines

if TYPE_CHECKING:
    from harness_tui.plain.chat import Chat

_SCREENLESS: Final = (
    "help new resume fork model agent mode call compact context undo redo mcp lsp skills commands trust ps permissions"
    " export editor doctor quit"
)
COMMANDS: Final = frozenset(_SCREENLESS.split())
"""Those that work here; the others need the full screen."""

_CALL: Final = 'write /call tool {"name": "value"}'
_MOST: Final = 60
_CHARS: Final = 160


class ChatCommands:
    """Runs own commands for ``chat``."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._backend = chat.backend

    async def run(self, own: OwnCommand, arguments: str, lines: Lines) -> None:
        """Run one command. Raises ``HarnessError``."""
        if own.name not in COMMANDS or own.missing:
            raise UsageError(f"/{own.name} works in the full screen only", mend="open it with: harness")
        if arguments and not own.hint:
            raise UsageError(
                f"/{own.name} takes nothing behind it, and nothing was done",
                mend="leave the rest out, or begin with // to send it as a message",
            )
        match own.name:
            case "help":
                self._help(lines)
            case "quit":
                self._chat.leave()
            case "new":
                await self._chat.use(await self._backend.new_session())
                lines.write("(a new session)")
            case "model" | "agent" | "mode":
                await self._set(own.name, arguments, lines)
            case "resume" | "fork" | "export":
                await self._records(own.name, arguments, lines)
            case "call":
                await self._call(arguments)
            case "editor":
                await self._edit(lines)
            case "trust":
                await self.ask_trust(lines, asked=True)
            case "compact" | "context" | "undo" | "redo":
                await self._chat.send(_intent(own.name, arguments or None))
            case _:
                await self._list(own.name, arguments, lines)

    def _help(self, lines: Lines) -> None:
        for own in OWN_COMMANDS:
            if own.name in COMMANDS and not own.missing:
                lines.write(f"/{own.name} {own.hint}".rstrip() + f": {own.description}")
        lines.write("!command: run a command of the shell. //text: a message that begins with a slash.")
        lines.write("A \\ at the end of a line goes on in the next one. @path attaches a file.")
        lines.write("What is typed while a run goes on waits for its end. Ctrl+C cancels, Ctrl+D ends.")

    async def choose(self, lines: Lines, title: str, rows: Sequence[tuple[str, str]]) -> str | None:
        """Let the person choose one of ``(key, text)`` by its number, or by its key; ``None`` for none."""
        if not rows:
            lines.write("there is nothing to choose from")
            return None
        lines.write(title)
        for number, (_, text) in enumerate(rows[:_MOST], 1):
            lines.write(f"  {number} {_short(text)}")
        if len(rows) > _MOST:
            lines.write(f"  ... {len(rows) - _MOST} more: write the name")
        while answer := (await lines.read_line(f"1-{min(len(rows), _MOST)}, empty for none: ") or "").strip():
            if answer.isdecimal() and 1 <= int(answer) <= len(rows):
                return rows[int(answer) - 1][0]
            if any(answer == key for key, _ in rows):
                return answer
            lines.write(f"there is no {_short(answer)}")
        return None

    # --- the session -------------------------------------------------------------------------------

    async def _set(self, what: str, value: str, lines: Lines) -> None:
        if not value:
            if what == "model":
                models = [model for model in await self._backend.models() if model.available]
                rows = [(model.name, model.name) for model in models if not model.name.endswith("/*")]
            elif what == "agent":
                rows = [(agent.name, f"{agent.name}: {agent.description}") for agent in await self._backend.agents()]
            else:
                rows = [(name, f"{name}: {about}") for name, about in MODES]
            value = await self.choose(lines, f"choose the {what}:", rows) or ""
        if value:
            intents = {
                "model": it.SetSession(model=value),
                "agent": it.SetSession(agent=value),
                "mode": it.SetSession(mode=value),
            }
            await self._chat.send(intents[what])

    async def _records(self, name: str, arguments: str, lines: Lines) -> None:
        session = self._chat.session_id
        if name == "export":
            lines.write(f"(written: {await self._backend.records.export(session, arguments)})")
            return
        if name == "resume":
            sessions = await self._backend.sessions()
            rows = [(row.session, f"{row.title or row.session}, {row.messages} messages") for row in sessions]
            chosen = arguments or await self.choose(lines, "choose the session:", rows)
        else:
            points = [
                (str(point.seq), f"before: {point.text}") for point in await self._backend.records.fork_points(session)
            ]
            at = arguments or await self.choose(lines, "fork it", [("", "whole"), *points])
            if at is None:
                return
            if at and not at.isdecimal():
                raise UsageError(f"{at} is no number of an event", mend="write /fork alone to choose")
            chosen = await self._backend.records.fork(session, int(at) if at else None)
        if chosen is not None:
            await self._chat.use(await self._backend.resume(chosen))

    async def _call(self, arguments: str) -> None:
        tool, _, text = arguments.partition(" ")
        if not tool:
            raise UsageError("name a tool", mend=f'write /call tool {{"name": "value"}}; tools: {await self._tools()}')
        try:
            data = json.loads(text.strip() or "{}")
        except (ValueError, RecursionError) as error:
            raise UsageError(
                f"the arguments are no JSON: {error}", mend='write /call tool {"name": "value"}'
            ) from error
        if not isinstance(data, dict):
            raise UsageError("the arguments must be a JSON object", mend='write /call tool {"name": "value"}')
        await self._chat.send(it.CallTool(tool, data))

    async def _tools(self) -> str:
        return ", ".join(await self._backend.tools())

    async def _edit(self, lines: Lines) -> None:
        text = await self._chat.lend(self._backend.prompt.edit_text(""))
        if not text.strip():
            lines.write("(nothing was written, nothing is sent)")
            return
        lines.write(text)
        sure = (await lines.read_line("send this? (y/n): ") or "").strip().casefold()
        if sure in ("y", "yes"):
            await self._chat.submit(text)

    async def ask_trust(self, lines: Lines, *, asked: bool = False) -> None:
        """Ask whether what the folder brings along may be used."""
        trust = self._backend.trust
        if trust.trusted or not trust.items:
            if asked:
                lines.write("This folder is trusted." if trust.trusted else "There is nothing here that needs trust.")
            return
        lines.write("This folder brings along what is not used until you trust it:")
        for item in trust.items:
            lines.write(f"  {_short(' '.join(filter(None, (item.kind, item.text))))} ({_short(item.source)})")
        chosen = await self.choose(lines, "Trust it?", [("trust", "Trust"), ("later", "Not now")])
        if chosen == "trust":
            await self._backend.grant_trust()
            lines.write("(trusted)")
        else:
            await self._backend.dismiss_trust()

    # --- what there is -----------------------------------------------------------------------------

    async def _list(self, name: str, arguments: str, lines: Lines) -> None:
        match name:
            case "mcp" | "lsp":
                await self._servers(name, arguments, lines)
            case "skills" | "commands":
                rows = await self._backend.library.look()
                wanted = arguments.casefold()
                for entry in rows.skills if name == "skills" else rows.commands:
                    if wanted in entry.name.casefold():
                        off = "" if entry.usable else " (not usable)"
                        lines.write(f"{entry.slash or entry.name}{off}: {_short(entry.description)} [{entry.source}]")
            case "doctor":
                problems = (await self._backend.library.look()).problems
                for problem in problems:
                    lines.write(f"{problem.level}: {short(problem.path)}:{problem.line}: {problem.message}")
                if not problems:
                    lines.write("nothing is wrong with commands, skills and configuration files")
            case "ps":
                processes = await self._backend.processes()
                for process in processes:
                    lines.write(f"{process.owner} {process.pid}: {_short(' '.join(process.command))}")
                if not processes:
                    lines.write("no processes")
            case _:
                await self._permissions(arguments, lines)

    async def _servers(self, kind: str, arguments: str, lines: Lines) -> None:
        action, _, name = arguments.partition(" ")
        if action == "restart" and name:
            await self._backend.restart_server("mcp" if kind == "mcp" else "lsp", name.strip())
            return
        if action:
            raise UsageError(f"/{kind} {action} works in the full screen only", mend=f"here: /{kind} restart name")
        states = self._chat.servers(kind)
        for row in states:
            lines.write(row)
        if not states:
            lines.write(f"no {kind.upper()} servers")

    async def _permissions(self, arguments: str, lines: Lines) -> None:
        word, _, call = arguments.partition(" ")
        if word == "explain" and call:
            lines.write("\n".join(await self._backend.explain(call)))
            return
        rows = await self._backend.permissions()
        lines.write(f"agent {rows.agent}, mode {rows.mode}; the last that fits decides within a layer")
        for rule in rows.rules:
            lines.write(
                f"  {rule.action} {rule.permission} {_short(rule.pattern)} [{rule.layer}: {short(rule.source)}]"
            )
        for approval in rows.approvals:
            lines.write(f"  allowed for the {approval.scope}: {approval.permission} {_short(approval.pattern)}")


def _intent(name: str, argument: str | None) -> it.Intent:
    match name:
        case "compact":
            return it.Compact(argument)
        case "context":
            return it.ReportContext()
        case "undo":
            return it.Undo(argument)
        case _:
            return it.Redo()


def _short(text: str) -> str:
    return cut_end(clean_for_display(text, one_line=True, show_invisible=True), _CHARS)
