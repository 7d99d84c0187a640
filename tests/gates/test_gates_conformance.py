"""The verdict on the official conformance suite: a fault that is put into its results is found."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[1] / "servers" / "conformance.py"


@pytest.fixture(scope="module")
def judge() -> ModuleType:
    spec = importlib.util.spec_from_file_location("conformance_judge", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def checks(*ended: tuple[str, str]) -> list[dict[str, str]]:
    return [{"id": one, "status": status} for one, status in ended]


@pytest.mark.parametrize(
    ("name", "ended", "wrong"),
    [
        ("tools_call", [("tool-add-numbers", "SUCCESS"), ("wire-schema-valid", "SUCCESS")], []),
        ("tools_call", [("tool-add-numbers", "SUCCESS")], ["did not happen: wire-schema-valid"]),
        (
            "tools_call",
            [("tool-add-numbers", "SUCCESS"), ("wire-schema-valid", "FAILURE")],
            ["failed: wire-schema-valid", "did not happen: wire-schema-valid"],
        ),
        ("initialize", [("a", "SUCCESS"), ("a", "FAILURE")], ["failed: a"]),
        ("initialize", [("a", "SUCCESS"), ("b", "SKIPPED")], ["skipped: b"]),
        ("initialize", [("a", "SUCCESS"), ("a", "SKIPPED"), ("request", "INFO")], []),
        ("initialize", [("request", "INFO"), ("wire-schema-valid", "SUCCESS")], ["no check of its own succeeded"]),
        ("initialize", [], ["no check of its own succeeded"]),
        ("sep-2640-client-no-prefetch", [("x", "SUCCESS")], ["did not happen: sep-2640-host-no-prefetch"]),
    ],
)
def test_a_scenario_has_passed_only_when_its_checks_say_so(
    judge: ModuleType, name: str, ended: list[tuple[str, str]], wrong: list[str]
) -> None:
    assert judge.faults(name, judge.Outcome.of(checks(*ended))) == wrong


def test_a_leg_that_passes_over_scenarios_has_not_passed(judge: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    good = judge.Outcome.of(checks(("a", "SUCCESS")))
    assert judge.report("all", {"initialize": good}, 1)
    assert not judge.report("all", {"initialize": good}, 2)
    assert "all: 2 scenarios were to be run" in capsys.readouterr().out
