"""The network rules of configuration: what is accepted, how files add up, and what an untrusted folder may say."""

from __future__ import annotations

import pytest

from harness_tui.config.risk import config_risk
from harness_tui.config.settings import EgressEntry, EgressSettings


def rules(entries: tuple[EgressEntry, ...]) -> list[str]:
    return [entry.rule for entry in entries]


def test_without_configuration_public_addresses_are_open_and_nothing_else(world):
    assert world.load().settings.egress == EgressSettings((), (), "allow")


def test_a_rule_carries_its_place(world):
    path = world.write_user('egress:\n  allow:\n    - "localhost:8000"\n    - "*.corp.test"\n  deny: ["10.0.0.0/8"]\n')
    egress = world.load().settings.egress
    assert egress.allow == (
        EgressEntry("localhost:8000", f"{path}:3"),
        EgressEntry("*.corp.test", f"{path}:4"),
    )
    assert egress.deny == (EgressEntry("10.0.0.0/8", f"{path}:5"),)


def test_one_wrong_rule_costs_its_neighbours_nothing(world):
    world.write_user(
        'egress:\n  deny:\n    - "https://a.test/x"\n    - b.test\n    - 7\n    - "c.test:x"\n  default: maybe\n'
    )
    loaded = world.load()
    assert rules(loaded.settings.egress.deny) == ["b.test"]
    assert loaded.settings.egress.default == "allow"
    messages = [str(problem).rpartition("config.yaml:")[2] for problem in loaded.problems]
    assert [message[:2] for message in messages] == ["3:", "5:", "6:", "7:"]
    assert "egress.deny.0: 'https://a.test/x' is an address of a page; write its host alone" in messages[0]
    assert "egress.deny.2: expected text, got the number 7" in messages[1]
    assert "a port is a number from 1 to 65535" in messages[2]
    assert "egress.default: expected one of allow, deny, got 'maybe'" in messages[3]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("egress: 5", "egress: expected a mapping, got the number 5"),
        ("egress: {allow: a.test}", "egress.allow: expected a list, got text"),
        ("egress: {alow: [a.test]}", "did you mean 'allow'?"),
        ('egress: {allow: ["{env:HOST}"]}', "{env:} and {file:} are not read in rules"),
    ],
)
def test_a_section_of_another_shape_is_a_problem(world, text, words):
    world.write_user(text + "\n")
    loaded = world.load()
    assert any(words in str(problem) for problem in loaded.problems)
    assert loaded.settings.egress == EgressSettings()


def test_the_lists_of_several_files_are_one(world):
    world.write_user("egress: {allow: [a.test], deny: [x.test]}\n")
    world.write(".harness/config.yaml", "egress: {allow: [b.test], deny: [y.test]}\n")
    egress = world.trusted().settings.egress
    assert (rules(egress.allow), rules(egress.deny)) == (["a.test", "b.test"], ["x.test", "y.test"])


def test_an_untrusted_folder_can_only_close(world):
    world.write_user("egress: {allow: [a.test]}\n")
    world.write(".harness/config.yaml", "egress: {allow: [b.test], deny: [y.test], default: deny}\n")
    loaded = world.load()
    egress = loaded.settings.egress
    assert (rules(egress.allow), rules(egress.deny), egress.default) == (["a.test"], ["y.test"], "deny")
    (problem,) = [problem for problem in loaded.problems if problem.code == "untrusted"]
    assert problem.message == "not used until this folder is trusted: egress.allow"


def test_an_untrusted_folder_does_not_open_what_the_person_closed(world):
    world.write_user("egress: {default: deny}\n")
    world.write(".harness/config.yaml", "egress: {default: allow}\n")
    assert world.load().settings.egress.default == "deny"
    assert world.trusted().settings.egress.default == "allow"


@pytest.mark.parametrize(
    ("egress", "covered"),
    [
        ({"allow": ["a.test"]}, True),
        ({"default": "allow"}, True),
        ({"deny": ["a.test"]}, False),
        ({"default": "deny"}, False),
        ({"allow": []}, False),
        ({"deny": ["a.test"], "allow": ["b.test"]}, True),
    ],
)
def test_trust_is_asked_for_what_opens_the_network(egress, covered):
    risk = config_risk({"egress": egress})
    assert (risk.covered, bool(risk.digest)) == (covered, covered)


def test_an_added_deny_asks_for_no_new_trust_and_an_added_allow_does(world):
    world.write(".harness/config.yaml", "egress: {allow: [b.test]}\n")
    assert world.trusted().trust.usable
    world.write(".harness/config.yaml", "egress: {allow: [b.test], deny: [c.test]}\n")
    assert world.load().trust.usable
    world.write(".harness/config.yaml", "egress: {allow: [b.test, c.test]}\n")
    assert not world.load().trust.usable


def test_each_rule_is_shown_with_its_own_place(world):
    user = world.write_user("egress: {deny: [x.test]}\n")
    project = world.write(".harness/config.yaml", "egress:\n  deny: [y.test]\n")
    shown = [origin for origin in world.trusted().origins if origin.key == "egress.deny"]
    assert [(origin.value, origin.source, origin.state) for origin in shown] == [
        ("x.test", f"{user}:1", "used"),
        ("y.test", f"{project}:2", "used"),
    ]
