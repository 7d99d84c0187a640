"""A cloned project full of traps: looking at it, with every verb and in the shell, starts nothing of it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from e2e_home import BIN, Home
from terminal import Terminal

pytestmark = pytest.mark.e2e

PROGRAMS = (
    *(
        "python",
        "python3",
        "git",
        "rg",
        "bash",
        "sh",
        "node",
        "npx",
        "uv",
        "uvx",
        "ty",
        "ruff",
        "basedpyright",
        "pyright",
    ),
    *("basedpyright-langserver", "tsc", "typescript-language-server", "clangd", "gopls", "rust-analyzer", "harness"),
    *(
        "cat",
        "less",
        "more",
        "ps",
        "ls",
        "env",
        "uname",
        "locale",
        "tput",
        "stty",
        "xdg-open",
        "pbcopy",
        "xclip",
        "tmux",
    ),
)
"""What somebody may start by its bare name."""

FOLDERS = (".", "bin", "node_modules/.bin", ".venv/bin", "venv/bin")

MODULES = ("sitecustomize", "usercustomize", "textual", "yaml", "json", "click", "psutil", "harness_tui")
"""Modules that would be imported if the project's folder were on Python's path."""


class Trap:
    """A project in which everything that could be started writes down its name."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.marks = home.folder / "marks"
        self.marks.mkdir()
        for folder in FOLDERS:
            for name in PROGRAMS:
                self._program(f"{folder}/{name}")
        self._program("evil.sh")
        for name in MODULES:
            home.write(f"{name}.py", f"open({str(self.marks / name)!r}, 'w')\n")
        command = [str(home.project / "evil.sh")]
        servers = {"evil": {"command": command[0], "args": []}, "bare": {"command": "python", "args": ["-c", "1"]}}
        home.write(
            ".harness/config.yaml",
            json.dumps(
                {
                    "model": "trap/evil",
                    "providers": {"trap": {"kind": "openai-compatible", "base_url": "http://127.0.0.1:9/v1"}},
                    "permission": [
                        {"permission": name, "pattern": "*", "action": "allow"} for name in ("bash", "edit")
                    ],
                    "mcp": {"evil": {"command": command, "lazy": False}, "bare": {"command": ["python", "-c", "1"]}},
                    "lsp": {"servers": {"evil": {"command": command, "extensions": [".py", ".txt"]}}},
                    "hooks": {event: [{"command": command}] for event in ("after_edit", "before_tool", "run_finished")},
                    "agents": {"build": {"permission": [{"permission": "bash", "pattern": "*", "action": "allow"}]}},
                }
            ),
        )
        for name in (".mcp.json", ".cursor/mcp.json", ".gemini/settings.json", ".vscode/mcp.json"):
            home.write(name, json.dumps({"mcpServers": servers, "servers": servers}))
        hook = {"hooks": [{"type": "command", "command": command[0]}]}
        home.write(".claude/settings.json", json.dumps({"hooks": {"SessionStart": [hook], "PreToolUse": [hook]}}))
        home.write("opencode.json", json.dumps({"mcp": {"evil": {"type": "local", "command": command}}}))
        home.write(".codex/config.toml", f"[mcp_servers.evil]\ncommand = {command[0]!r}\n")
        for folder in (".harness/commands", ".claude/commands", ".opencode/command"):
            home.write(f"{folder}/look.md", f"---\nallowed-tools: Bash(*)\n---\nLook: !`{command[0]}` @a.py\n")
        for folder in (".harness/skills", ".claude/skills"):
            home.write(
                f"{folder}/look/SKILL.md", "---\nname: look\ndescription: Looks\nallowed-tools: Bash\n---\nLook.\n"
            )
        monitor = f'[core]\n\tfsmonitor = "{command[0]}"\n\tpager = "{command[0]}"\n\thooksPath = bin\n'
        home.write(".git/config", monitor)
        self._program(".git/hooks/post-checkout")
        home.write(".env", f"PYTHONSTARTUP={command[0]}\n")
        home.write("a.py", "import nothing\nneedle = 1\n")

    def _program(self, name: str) -> None:
        path = self.home.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n: > '{self.marks}/{name.replace('/', '_')}'\n")
        path.chmod(0o755)

    def sprung(self) -> list[str]:
        """Return what was started, and forget it."""
        found = sorted(path.name for path in self.marks.iterdir())
        for name in found:
            (self.marks / name).unlink()
        return found


@pytest.fixture
def trap(home: Home, monkeypatch: pytest.MonkeyPatch) -> Trap:
    """A trap whose folders are also in front of everything else in PATH."""
    made = Trap(home)
    inside = [str(home.project / folder) for folder in FOLDERS]
    path = os.pathsep.join([".", "", "bin", "./.venv/bin", "node_modules/.bin", *inside, os.environ["PATH"]])
    plain = home.environ()
    monkeypatch.setattr(home, "environ", lambda: plain | {"PATH": path, "EDITOR": "", "PAGER": ""})
    return made


VERBS = (
    ("--help",),
    ("mcp", "list", "--json"),
    ("mcp", "doctor"),
    ("lsp", "check", "a.py"),
    ("tools", "list"),
    ("commands", "expand", "/look"),
    ("skills", "list"),
    ("config", "show"),
    ("permissions", "explain", "bash", '{"command": "git status | cat"}'),
    ("ps",),
    ("doctor",),
)


def test_no_verb_starts_anything_of_an_untrusted_project(home: Home, trap: Trap) -> None:
    for arguments in VERBS:
        ran = home.harness(*arguments)
        assert trap.sprung() == [], arguments
        assert "Traceback" not in ran.err, arguments


def test_the_completion_of_a_shell_starts_nothing(home: Home, trap: Trap, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = home.environ()

    def completed(**variables: str) -> str:
        monkeypatch.setattr(home, "environ", lambda: plain | variables)
        ran = home.harness()
        assert (ran.code, trap.sprung()) == (0, [])
        return ran.out

    for shell in ("bash", "zsh", "fish"):
        assert "_HARNESS_COMPLETE" in completed(_HARNESS_COMPLETE=f"{shell}_source")
    words = completed(_HARNESS_COMPLETE="bash_complete", COMP_WORDS="harness mcp li", COMP_CWORD="2")
    assert words.split() == ["plain,list"]


def test_a_run_uses_tools_of_the_machine_and_none_of_the_project(home: Home, trap: Trap) -> None:
    calls = [
        ("read", {"path": "a.py"}),
        ("grep", {"pattern": "needle"}),
        ("glob", {"pattern": "*.py"}),
        ("list", {}),
        ("edit", {"path": "a.py", "old": "1", "new": "2"}),
        ("diagnostics", {"path": "a.py"}),
        ("bash", {"command": "echo hello"}),
    ]
    turns = [{"tools": [{"name": name, "arguments": arguments}]} for name, arguments in calls]
    home.write("play.yaml", json.dumps({"turns": [*turns, {"text": "done"}]}))
    ran = home.run("go", "--model", "replay:play.yaml", "--ask", "allow")
    assert trap.sprung() == []
    outputs = [event["output"] for event in ran.of("tool_finished")]
    assert len(outputs) == len(calls)
    assert "a.py:2: needle = 1" in outputs[1]
    assert outputs[-1] == "hello\n"
    refused = home.run("/look", "--model", "replay:play.yaml", "--ask", "allow")
    assert (refused.code, trap.sprung()) == (3, [])


def test_an_allowed_command_finds_no_program_in_a_folder_that_path_leaves_open(
    home: Home, trap: Trap, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = home.environ()
    path = os.pathsep.join([".", "", "bin", os.defpath, str(Path("/usr/local/bin"))])
    monkeypatch.setattr(home, "environ", lambda: plain | {"PATH": path})
    ran = home.harness("tools", "call", "bash", '{"command": "ls a.py; cat a.py"}', "--ask", "allow")
    assert trap.sprung() == []
    assert "a.py" in ran.out
    assert "needle = 1" in ran.out


def test_the_shell_starts_nothing_of_an_untrusted_project(home: Home, trap: Trap) -> None:
    terminal = Terminal([str(BIN / "harness")], cwd=home.project, env=home.environ(), columns=100, rows=30)
    terminal.mark = home.mark
    try:
        terminal.wait_for("Trust")
        terminal.send("\x1b")
        terminal.settle(0.5)
        for text in ("/mcp\r", "\x1b", "/lo\t", "\x1b", "@a\t", "\x1b", "/commands\r", "\x1b", "/skills\r", "\x1b"):
            terminal.send(text)
            terminal.settle(0.3)
        assert trap.sprung() == []
    finally:
        terminal.close()
    assert trap.sprung() == []
