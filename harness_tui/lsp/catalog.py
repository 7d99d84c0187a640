"""Which servers there are: the built-in list as data, and what configuration makes of it.

An entry of the configuration with a known name changes that entry; one with another name is a server of its own and
needs ``command`` and ``extensions``. An entry that cannot be used stays in the list and says why.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from harness_tui.config.settings import LspServerSettings, LspSettings

_PYTHON: Final = {".py": "python", ".pyi": "python"}
_PYTHON_ROOTS: Final = (
    "pyproject.toml",
    "ty.toml",
    "pyrefly.toml",
    "pyrightconfig.json",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "Pipfile",
)

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


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """One language server, before it is known whether it can be found.

    ``command[0]`` is looked up. ``languages`` maps a lower-case extension with its dot to a language identifier. Of the
    servers of one ``group`` the first found serves. ``root_rule``: the ``outermost`` folder with one of ``roots`` (one
    server for a repository of many packages), or the ``nearest``. ``settle`` is the silence in seconds after which a
    pushed set counts as whole. ``probe`` are arguments that make a working binary exit with 0; they are only tried when
    the server ended before it had answered. ``blocked`` says why configuration keeps it from starting.
    """

    name: str
    command: tuple[str, ...]
    languages: dict[str, str]
    roots: tuple[str, ...] = ()
    root_rule: Literal["outermost", "nearest"] = "outermost"
    group: str | None = None
    initialization: dict[str, Any] = field(default_factory=dict[str, Any])
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    env: dict[str, str] = field(default_factory=dict[str, str])
    settle: float = 0.15
    start_timeout: float = 30.0
    probe: tuple[str, ...] = ()
    blocked: str | None = None
    configured: bool = False

    @property
    def extensions(self) -> tuple[str, ...]:
        """The extensions that it serves."""
        return tuple(self.languages)

    def serves(self, path: Path) -> bool:
        """Tell whether the name of ``path`` is one of its."""
        return path.suffix.lower() in self.languages


BUILT_IN: Final[tuple[ServerSpec, ...]] = (
    ServerSpec(
        name="ty",
        command=("ty", "server"),
        languages=_PYTHON,
        roots=_PYTHON_ROOTS,
        group="python types",
        settle=0.0,
        probe=("--version",),
    ),
    ServerSpec(
        name="basedpyright",
        command=("basedpyright-langserver", "--stdio"),
        languages=_PYTHON,
        roots=_PYTHON_ROOTS,
        group="python types",
    ),
    ServerSpec(
        name="pyright",
        command=("pyright-langserver", "--stdio"),
        languages=_PYTHON,
        roots=_PYTHON_ROOTS,
        group="python types",
    ),
    ServerSpec(
        name="pyrefly",
        command=("pyrefly", "lsp"),
        languages=_PYTHON,
        roots=_PYTHON_ROOTS,
        group="python types",
        # Without this it hides type errors in a project that has no configuration of its own.
        settings={"python": {"pyrefly": {"displayTypeErrors": "force-on"}}},
        settle=0.0,
        probe=("--version",),
    ),
    ServerSpec(
        name="ruff",
        command=("ruff", "server"),
        languages=_PYTHON,
        roots=("pyproject.toml", "ruff.toml", ".ruff.toml"),
        settle=0.0,
        probe=("--version",),
    ),
)
"""In the order in which they are preferred: of the type checkers for Python the first found serves, ruff beside it."""


def catalog(settings: LspSettings) -> tuple[ServerSpec, ...]:
    """Return every server that may serve, built in and configured.

    Inside a group a server whose ``command`` is configured comes before the built-in order: naming it is a choice.
    """
    built_in = {spec.name: spec for spec in BUILT_IN}
    known = [_changed(spec, settings.servers.get(spec.name)) for spec in BUILT_IN]
    added = [_added(entry) for name, entry in settings.servers.items() if name not in built_in]
    chosen = {entry.name for entry in settings.servers.values() if entry.command is not None}
    known.sort(key=lambda spec: not (spec.group is not None and spec.name in chosen))
    return (*known, *added)


def install_hint(specs: tuple[ServerSpec, ...]) -> str:
    """Return what to install for one of ``specs`` to serve, most preferred first."""
    names = [spec.name for spec in specs if spec.blocked is None and spec.group is not None][:3]
    names = names or [spec.command[0] for spec in specs if spec.blocked is None and spec.command][:3]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]


def _changed(spec: ServerSpec, entry: LspServerSettings | None) -> ServerSpec:
    if entry is None:
        return spec
    return replace(
        spec,
        command=spec.command if entry.command is None else entry.command,
        languages=spec.languages if entry.extensions is None else _languages(entry.extensions),
        roots=spec.roots if entry.roots is None else entry.roots,
        env=entry.env,
        initialization=spec.initialization if entry.initialization is None else entry.initialization,
        settings=spec.settings if entry.settings is None else entry.settings,
        # A command of one's own need not understand the probe of the built-in one.
        probe=spec.probe if entry.command is None else (),
        blocked=_blocked(entry, entry.command is not None and not entry.command),
        configured=True,
    )


def _added(entry: LspServerSettings) -> ServerSpec:
    return ServerSpec(
        name=entry.name,
        command=entry.command or (),
        languages=_languages(entry.extensions or ()),
        roots=entry.roots or (),
        env=entry.env,
        initialization=entry.initialization or {},
        settings=entry.settings or {},
        blocked=_blocked(entry, not entry.command or not entry.extensions),
        configured=True,
    )


def _blocked(entry: LspServerSettings, incomplete: bool) -> str | None:
    if entry.disabled:
        return "disabled in the configuration"
    if not entry.trusted:
        return "the folder that configures it is not trusted"
    return "its entry needs command and extensions" if incomplete else None


def _languages(extensions: tuple[str, ...]) -> dict[str, str]:
    dotted = [text.lower() if text.startswith(".") else f".{text.lower()}" for text in extensions]
    return {extension: LANGUAGE_IDS.get(extension, extension[1:]) for extension in dotted}
