"""A gate over a project of its own, with the bundled rules and whatever rules a test adds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from harness_tui.config.bundled_rules import BUNDLED_RULES
from harness_tui.config.places import Places
from harness_tui.config.settings import RuleLayer
from harness_tui.core.errors import HarnessError
from harness_tui.core.seams import Check, GateCall, GateDecision
from harness_tui.core.values import Rule
from harness_tui.permissions.approvals import Approvals
from harness_tui.permissions.gate import Gate


def rules(*lines: str) -> tuple[Rule, ...]:
    """Return rules written as ``permission pattern action``; the pattern may hold blanks."""
    parsed: list[Rule] = []
    for number, line in enumerate(lines, 1):
        permission, rest = line.split(" ", 1)
        pattern, action = rest.rsplit(" ", 1)
        parsed.append(Rule(permission, pattern, action, f"rules:{number}"))  # pyright: ignore[reportArgumentType]
    return tuple(parsed)


@dataclass
class Project:
    """A project folder with a home beside it, and its gate."""

    root: Path
    home: Path
    places: Places
    faults: list[HarnessError] = field(default_factory=list[HarnessError])

    def approvals(self, root: Path | None = None) -> Approvals:
        return Approvals(self.places, root or self.root, report=self.faults.append)

    def gate(
        self, user: tuple[str, ...] = (), project: tuple[str, ...] = (), approvals: Approvals | None = None
    ) -> Gate:
        layers = [
            RuleLayer("bundled", BUNDLED_RULES),
            RuleLayer("user", rules(*user)),
            RuleLayer("project", rules(*project)),
        ]
        return Gate(layers, approvals or self.approvals(), root=self.root, cwd=self.root, home=self.home)


def call(*checks: tuple[str, str], **options: object) -> GateCall:
    """Return a call of session ``s1`` with these checks, in mode ``ask`` by the model unless told otherwise."""
    values: dict[str, object] = {"session": "s1", "agent": "build", "mode": "ask"} | options
    return GateCall("c1", "tool", tuple(Check(*check) for check in checks), **values)  # pyright: ignore[reportArgumentType]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    base = tmp_path.resolve()
    (base / "project").mkdir()
    (base / "home").mkdir()
    places = Places(config=base / "config", data=base / "data", state=base / "state", cache=base / "cache")
    return Project(base / "project", base / "home", places)


@pytest.fixture
def make_call() -> Callable[..., GateCall]:
    return call


@pytest.fixture
def decide(project: Project) -> Callable[..., GateDecision]:
    """Decide one check by the bundled rules and the given ones."""

    def _decide(
        permission: str, value: str, user: tuple[str, ...] = (), project_rules: tuple[str, ...] = (), **options: object
    ) -> GateDecision:
        gate = project.gate(user, project_rules)
        return gate.decide(call((permission, value), **options))

    return _decide


@pytest.fixture
def make_rules() -> Callable[..., tuple[Rule, ...]]:
    return rules
