"""Harness's own slash commands: one table that completion, help and dispatch of every front end read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class OwnCommand:
    """One own command. ``hint`` names its arguments; ``missing`` says why it does not work yet."""

    name: str
    description: str
    hint: str = ""
    aliases: tuple[str, ...] = ()
    missing: str = ""


OWN_COMMANDS: Final = (
    OwnCommand("help", "Keys and commands"),
    OwnCommand("new", "Start a new session", aliases=("clear",)),
    OwnCommand("resume", "Open a recorded session", "[session]", aliases=("sessions",)),
    OwnCommand("model", "Choose the model", "[name]"),
    OwnCommand("agent", "Choose the agent", "[name]"),
    OwnCommand("mode", "Choose what is asked: ask, accept-edits or plan", "[mode]"),
    OwnCommand("call", "Call a tool by hand", "tool {json}"),
    OwnCommand("skills", "Skills: search, read, use, edit, make one", "[part of a name]"),
    OwnCommand("commands", "Commands: search, read, use, edit, make one", "[part of a name]"),
    OwnCommand(
        "mcp",
        "MCP servers, their tools and resources, and notices",
        "[tools|resources|doctor|login|logout|restart|stop|log name]",
    ),
    OwnCommand("lsp", "Diagnostics of language servers", "[restart|stop|log|trace name]"),
    OwnCommand("trust", "What this folder brings along, and whether it may be used"),
    OwnCommand("ps", "Subagents and processes that run now: stop, restart, read"),
    OwnCommand("permissions", "Rules and approvals, and why a call is decided as it is", "[explain tool ...]"),
    OwnCommand("quit", "Leave", aliases=("exit",)),
    OwnCommand("fork", "Go on in a copy, from here or from before a message", "[event]"),
    OwnCommand("compact", "Sum up the history, to save room", "[what matters most]"),
    OwnCommand("context", "What a request is made of, with a switch for each part"),
    OwnCommand("undo", "Take back the latest run: its messages and its changes of files", "[run]"),
    OwnCommand("redo", "Put the run in force again that was taken back last"),
    OwnCommand("config", "Settings: search, read what they mean, change them", "[part of a name]"),
    OwnCommand("theme", "Choose the colours", "[name]"),
    OwnCommand("logs", "The program's own log"),
    OwnCommand("export", "Write the session to a file", "[md|json|html|file]"),
    OwnCommand("copy", "Copy the last answer, its last code block, or what is marked", "[answer|code|block]"),
    OwnCommand("rewind", "Go back to before an earlier message: what was said, the files, or both"),
    OwnCommand("find", "Search the whole session, folded parts too", "[text]"),
    OwnCommand("editor", "Write the message in your own editor"),
    OwnCommand("doctor", "What is wrong with commands, skills and configuration files", "[part of a name]"),
)

MODES: Final = (
    ("ask", "Edits and commands are asked for"),
    ("accept-edits", "Edits inside the project are allowed"),
    ("plan", "Nothing is edited; a plan is made"),
)


def find_own(name: str) -> OwnCommand | None:
    """Return the own command of this name or alias."""
    return next((command for command in OWN_COMMANDS if name == command.name or name in command.aliases), None)


def split_command(text: str) -> tuple[str, str] | None:
    """Return name and arguments of ``/name args``; ``None`` for a plain message.

    A first word with a second ``/`` or a dot is a path, and ``//`` is a literal slash; what follows a nested command's
    name is decided by whoever knows the commands.
    """
    if not text.startswith("/") or text.startswith("//"):
        return None
    name, _, rest = text[1:].partition(" ")
    if "\n" in name:
        name, _, more = name.partition("\n")
        rest = f"{more} {rest}".strip()
    return (name, rest.strip()) if name else None
