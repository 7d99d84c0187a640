"""The language servers that are known without configuration, as data: in the order in which they are preferred.

Of a group the first found serves. Facts about a server (its settle time, what it needs, what it must be told) were
measured with the server itself.
"""

from __future__ import annotations

from typing import Final

from harness_tui.lsp.spec import LANGUAGE_IDS, Need, ServerSpec

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
_SCRIPTS: Final = {
    extension: LANGUAGE_IDS[extension] for extension in (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
}
_SCRIPT_ROOTS: Final = ("tsconfig.json", "jsconfig.json", "package.json")
_CLANG: Final = {
    extension: LANGUAGE_IDS[extension] for extension in (".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx")
} | {".m": "objective-c", ".mm": "objective-cpp"}
_STYLES: Final = {".css": "css", ".scss": "scss", ".less": "less"}

_PYTHON_SERVERS: Final = (
    ServerSpec(
        name="ty",
        command=("ty", "server"),
        languages=_PYTHON,
        roots=_PYTHON_ROOTS,
        group="python types",
        settle=0.0,
        probe=("--version",),
        install="pip install ty",
    ),
    ServerSpec(
        name="basedpyright",
        command=("basedpyright-langserver", "--stdio"),
        languages=_PYTHON,
        roots=_PYTHON_ROOTS,
        group="python types",
        install="pip install basedpyright",
    ),
    ServerSpec(
        name="pyright",
        command=("pyright-langserver", "--stdio"),
        languages=_PYTHON,
        roots=_PYTHON_ROOTS,
        group="python types",
        install="npm install -g pyright",
    ),
    ServerSpec(
        name="pyrefly",
        command=("pyrefly", "lsp"),
        languages=_PYTHON,
        roots=_PYTHON_ROOTS,
        group="python types",
        # Without this it hides type errors in a project that has no configuration of its own.
        settings={"python": {"pyrefly": {"displayTypeErrors": "force-on"}}},
        # For a change of another file it publishes what was true before first: the usual silence is waited for.
        probe=("--version",),
        install="pip install pyrefly",
    ),
    ServerSpec(
        name="ruff",
        command=("ruff", "server"),
        languages=_PYTHON,
        roots=("pyproject.toml", "ruff.toml", ".ruff.toml"),
        settle=0.0,
        probe=("--version",),
        install="pip install ruff",
    ),
)

_RENAMES: Final = {
    language: {"preferences": {"useAliasesForRenames": False}} for language in ("typescript", "javascript", "js/ts")
}
"""A rename goes through all files; as editors have it, it would stop at the next import with an alias there."""

_SCRIPT_SERVERS: Final = (
    ServerSpec(
        name="typescript",
        command=("tsc", "--lsp", "--stdio"),
        languages=_SCRIPTS,
        roots=_SCRIPT_ROOTS,
        group="typescript",
        typescript="native",
        settings=_RENAMES,
        install="npm install --save-dev typescript",
    ),
    ServerSpec(
        name="typescript-language-server",
        command=("typescript-language-server", "--stdio"),
        languages=_SCRIPTS,
        roots=_SCRIPT_ROOTS,
        group="typescript",
        typescript="classic",
        # One process instead of three: nothing here needs the second one, and types are not fetched from the network.
        initialization={
            "disableAutomaticTypingAcquisition": True,
            "tsserver": {"useSyntaxServer": "never"},
            "preferences": {"providePrefixAndSuffixTextForRename": False},
        },
        install="npm install -g typescript-language-server typescript@5",
    ),
    ServerSpec(
        name="vtsls",
        command=("vtsls", "--stdio"),
        languages=_SCRIPTS,
        roots=_SCRIPT_ROOTS,
        group="typescript",
        settings=_RENAMES | {"typescript": _RENAMES["typescript"] | {"disableAutomaticTypeAcquisition": True}},
        install="npm install -g @vtsls/language-server",
    ),
    ServerSpec(
        name="eslint",
        command=("vscode-eslint-language-server", "--stdio"),
        languages=_SCRIPTS,
        roots=("eslint.config.*", ".eslintrc", ".eslintrc.*"),
        only_with_root=True,
        settings={
            "validate": "probe",
            "run": "onType",
            "problems": {},
            "rulesCustomizations": [],
            "nodePath": None,
            "workingDirectory": {"mode": "location"},
            "experimental": {},
            "codeAction": {},
        },
        install="npm install -g vscode-langservers-extracted",
    ),
    ServerSpec(
        name="biome",
        command=("biome", "lsp-proxy"),
        languages=_SCRIPTS | {".json": "json", ".jsonc": "jsonc", ".css": "css"},
        roots=("biome.json", "biome.jsonc"),
        only_with_root=True,
        probe=("--version",),
        install="npm install --save-dev @biomejs/biome",
    ),
)

_COMPILED_SERVERS: Final = (
    ServerSpec(
        name="gopls",
        command=("gopls",),
        languages={".go": "go", "go.mod": "go.mod", "go.work": "go.work"},
        roots=("go.work", "go.mod"),
        needs=(Need("go", "which it compiles with"),),
        settle=0.3,
        probe=("version",),
        install="go install golang.org/x/tools/gopls@latest",
    ),
    ServerSpec(
        name="rust-analyzer",
        command=("rust-analyzer",),
        languages={".rs": "rust"},
        roots=("Cargo.toml",),
        needs=(Need("cargo", "which it checks with"),),
        start_timeout=60.0,
        # A launcher for a component that is not installed is on many machines.
        probe=("--version",),
        install="rustup component add rust-analyzer",
    ),
    ServerSpec(
        name="clangd",
        command=("clangd",),
        languages=_CLANG,
        roots=("compile_commands.json", "compile_flags.txt", ".clangd"),
        # It then says when it has finished with a file: the last set before that is the whole one.
        initialization={"clangdFileStatus": True},
        tells_idle=True,
        probe=("--version",),
        install="the package clangd",
    ),
    ServerSpec(
        name="zls",
        command=("zls",),
        languages={".zig": "zig", ".zon": "zig"},
        roots=("build.zig",),
        needs=(Need("zig", "which it compiles with"),),
        probe=("--version",),
        install="zls of the same version as zig",
    ),
    ServerSpec(
        name="jdtls",
        command=("jdtls",),
        languages={".java": "java"},
        roots=("pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", ".project"),
        needs=(Need("java", "which it runs on"),),
        start_timeout=120.0,
        settle=0.3,
        install="the package jdtls",
    ),
)

_OTHER_SERVERS: Final = (
    ServerSpec(
        name="bash",
        command=("bash-language-server", "start"),
        languages={".sh": "shellscript", ".bash": "shellscript", ".bats": "shellscript"},
        # Without it the server calls every script clean.
        needs=(Need("shellcheck", "which finds the errors"),),
        settle=0.0,
        install="npm install -g bash-language-server",
    ),
    ServerSpec(
        name="yaml",
        command=("yaml-language-server", "--stdio"),
        languages={".yaml": "yaml", ".yml": "yaml"},
        # Schemas are not fetched from the network unless somebody asks for it.
        settings={"yaml": {"schemaStore": {"enable": False}, "validate": True}, "redhat": {"telemetry": {}}},
        settle=0.0,
        install="npm install -g yaml-language-server",
    ),
    ServerSpec(
        name="json",
        command=("vscode-json-language-server", "--stdio"),
        languages={".json": "json", ".jsonc": "jsonc"},
        settings={"json": {"validate": {"enable": True}}},
        settle=0.0,
        install="npm install -g vscode-langservers-extracted",
    ),
    ServerSpec(
        name="css",
        command=("vscode-css-language-server", "--stdio"),
        languages=_STYLES,
        settings={kind: {"validate": True} for kind in ("css", "scss", "less")},
        install="npm install -g vscode-langservers-extracted",
    ),
    ServerSpec(
        name="html",
        command=("vscode-html-language-server", "--stdio"),
        languages={".html": "html", ".htm": "html"},
        initialization={"embeddedLanguages": {"css": True, "javascript": True}},
        install="npm install -g vscode-langservers-extracted",
    ),
    ServerSpec(
        name="lua",
        command=("lua-language-server",),
        languages={".lua": "lua"},
        roots=(".luarc.json", ".luarc.jsonc"),
        settle=0.3,
        probe=("--version",),
        install="the package lua-language-server",
    ),
    ServerSpec(
        name="dockerfile",
        command=("docker-langserver", "--stdio"),
        languages={"Dockerfile": "dockerfile", "Containerfile": "dockerfile", ".dockerfile": "dockerfile"},
        settle=0.0,
        install="npm install -g dockerfile-language-server-nodejs",
    ),
    ServerSpec(
        name="terraform",
        command=("terraform-ls", "serve"),
        languages={".tf": "terraform", ".tfvars": "terraform-vars"},
        roots=(".terraform", "*.tf"),
        needs=(Need("terraform", "which knows the providers"),),
        settle=0.3,
        probe=("--version",),
        install="the package terraform-ls",
    ),
)

BUILT_IN: Final[tuple[ServerSpec, ...]] = (*_PYTHON_SERVERS, *_SCRIPT_SERVERS, *_COMPILED_SERVERS, *_OTHER_SERVERS)
"""In the order in which they are preferred: of the type checkers for Python the first found serves, ruff beside it."""
