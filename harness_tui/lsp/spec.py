"""What is known of a language server before it is started: one entry of the list of servers.

Everything that differs from server to server is data here; what a server can do is learnt from itself.
"""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import Any, Final, Literal

from harness_tui.core.record import record

LANGUAGE_IDS: Final[dict[str, str]] = {
    ".py": "python",
    ".pyi": "python",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".jsx": "javascriptreact",
    ".ts": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".tsx": "typescriptreact",
    ".rs": "rust",
    ".go": "go",
    ".c": "c",
    ".h": "c",
    ".cc": "cpp",
    ".cpp": "cpp",
    ".cxx": "cpp",
    ".hh": "cpp",
    ".hpp": "cpp",
    ".hxx": "cpp",
    ".cs": "csharp",
    ".java": "java",
    ".kt": "kotlin",
    ".rb": "ruby",
    ".php": "php",
    ".lua": "lua",
    ".sh": "shellscript",
    ".bash": "shellscript",
    ".md": "markdown",
    ".json": "json",
    ".jsonc": "jsonc",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".toml": "toml",
    ".html": "html",
    ".css": "css",
    ".scss": "scss",
    ".vue": "vue",
    ".svelte": "svelte",
    ".zig": "zig",
    ".ex": "elixir",
    ".exs": "elixir",
    ".hs": "haskell",
    ".ml": "ocaml",
    ".swift": "swift",
    ".dart": "dart",
    ".tf": "terraform",
}
"""Language identifiers for servers that configuration adds; any other extension is sent without its dot."""


@record
class Need:
    """A program that a server starts itself; without ``program`` it has nothing to say. ``why`` goes on after it."""

    program: str
    why: str


@record
class ServerSpec:
    """One language server, before it is known whether it can be found.

    ``command[0]`` is looked up. ``languages`` maps a lower-case extension with its dot, or the whole name of a file
    (``Dockerfile``), to a language identifier. Of the servers of one ``group`` the first found serves. ``root_rule``:
    the ``outermost`` folder with one of ``roots`` (one server for a repository of many packages), or the ``nearest``;
    a root may hold wildcards (``*.tf``). ``only_with_root``: it serves nothing where no such folder is. ``needs`` are
    programs without which it reports nothing, each with what it is for. ``typescript`` names which kind of TypeScript
    it works with: ``classic`` (up to 6, with ``tsserver.js``) or ``native`` (7 and later, a server of its own).

    ``tells_idle``: it says when it has finished with a file (``textDocument/clangd.fileStatus``). ``settle`` is the
    silence in seconds after which a pushed set counts as whole. ``start_timeout`` in seconds.
    ``probe`` are arguments that make a working binary exit with 0; they are only tried when the server ended before it
    had answered. ``blocked`` says why configuration keeps it from starting.
    """

    name: str
    command: tuple[str, ...]
    languages: dict[str, str]
    roots: tuple[str, ...] = ()
    root_rule: Literal["outermost", "nearest"] = "outermost"
    only_with_root: bool = False
    group: str | None = None
    needs: tuple[Need, ...] = ()
    typescript: Literal["classic", "native"] | None = None
    tells_idle: bool = False
    initialization: dict[str, Any] = field(default_factory=dict[str, Any])
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    env: dict[str, str] = field(default_factory=dict[str, str])
    settle: float = 0.15
    start_timeout: float = 30.0
    probe: tuple[str, ...] = ()
    install: str | None = None
    blocked: str | None = None
    configured: bool = False

    @property
    def extensions(self) -> tuple[str, ...]:
        """The extensions (and whole names) that it serves."""
        return tuple(self.languages)

    def serves(self, path: Path) -> bool:
        """Tell whether the name of ``path`` is one of its."""
        return path.suffix.lower() in self.languages or path.name in self.languages

    def language(self, path: Path) -> str:
        """Return the language identifier that ``path`` is opened with."""
        return self.languages.get(path.name) or self.languages.get(path.suffix.lower(), "plaintext")
