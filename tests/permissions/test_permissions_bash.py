"""A deny is not talked round, and an allow covers what its pattern fits and nothing beside it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness_tui.core.seams import GateDecision
from harness_tui.permissions.bash import parts

Decide = Callable[..., GateDecision]

ROUNDABOUT = [
    "rm a",
    "/bin/rm a",
    "cd x; rm a",
    "cd x;rm a",
    "cd x && rm a",
    "true || rm a",
    "true & rm a",
    "true | rm a",
    "true |& rm a",
    "true\nrm a",
    "(rm a)",
    "{ rm a; }",
    "echo $(rm a)",
    "echo `rm a`",
    "echo <(rm a)",
    'echo "$(rm a)"',
    "X=1 rm a",
    "X=1 Y=2 rm a",
    "\\rm a",
    'r"m" a',
    "'rm' a",
    "! rm a",
    "if true; then rm a; fi",
    "while true; do rm a; done",
    "coproc rm a",
    "exec rm a",
    "command rm a",
    "time rm a",
    "env rm a",
    "env -i X=1 rm a",
    "sudo -n rm a",
    "sudo /usr/bin/rm a",
    "nohup rm a",
    "timeout 5 rm a",
    "nice -n 10 rm a",
    "xargs rm a",
    "find . -exec rm a +",
    "bash -c 'rm a'",
    "bash -c 'true; rm a'",
    "eval 'rm a'",
    "rm \\\n a",
    "  rm   a  ",
    "f() { rm a; }; f",
]


@pytest.mark.parametrize("command", ROUNDABOUT)
def test_a_deny_is_not_talked_round(decide: Decide, command: str) -> None:
    assert decide("bash", command, ("bash * allow", "bash rm * deny")).action == "deny"


@pytest.mark.parametrize("command", ROUNDABOUT)
def test_an_ask_rule_is_not_talked_round_either(decide: Decide, command: str) -> None:
    assert decide("bash", command, ("bash * allow", "bash rm * ask")).action == "ask"


@pytest.mark.parametrize("command", ["rmx a", "echo rm", "grep -r 'farm a' .", "./rm.sh", "ls"])
def test_a_deny_does_not_reach_other_programs(decide: Decide, command: str) -> None:
    assert decide("bash", command, ("bash * allow", "bash rm * deny")).action == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "echo a && touch PWNED",
        "echo a\ntouch PWNED",
        "echo $(touch PWNED)",
        "echo `touch PWNED`",
        "echo <(touch PWNED)",
        "echo a & touch PWNED",
        "X=1 touch PWNED",
        "bash -c 'touch PWNED'",
        "$'\\x74ouch' PWNED",
        "echo a > PWNED",
        "cat <<< $(touch PWNED)",
        "echo a |& tee PWNED",
    ],
)
def test_an_allow_reaches_no_command_beside_its_own(decide: Decide, command: str) -> None:
    assert decide("bash", command, ("bash echo * allow",)).action == "ask"
    assert decide("bash", command, ("bash echo a allow",)).action == "ask"


def test_an_allow_covers_its_very_text_and_nothing_else(decide: Decide) -> None:
    rules = ("bash make test && make lint allow",)
    assert decide("bash", "make test && make lint", rules).action == "allow"
    assert decide("bash", "make test && make lint && x", rules).action == "ask"
    assert decide("bash", "make test", rules).action == "ask"


def test_a_star_allows_every_command(decide: Decide) -> None:
    assert decide("bash", "cd x; make | cat", ("bash * allow",)).action == "allow"


def test_a_star_on_commands_is_none_on_files(decide: Decide) -> None:
    assert decide("bash", "make | tee log", ("bash * allow",)).action == "ask"
    assert decide("bash", "make | tee log", ("bash * allow", "edit log allow")).action == "allow"
    assert decide("bash", "make > .bashrc", ("bash * allow", "edit * allow")).action == "ask"


@pytest.mark.parametrize("command", ["$'\\x72m' a", "$X a", "X=rm; $X a", "r? a", "sh script.sh", ". ./env", "eval $Y"])
def test_beside_a_deny_a_star_is_no_proof_for_programs_that_cannot_be_read(decide: Decide, command: str) -> None:
    assert decide("bash", command, ("bash * allow",)).action == "allow"
    assert decide("bash", command, ("bash * allow", "bash rm * deny")).action == "ask"
    assert decide("bash", command, ("bash * allow", "bash rm * deny", f"bash {command} allow")).action == (
        "ask" if "?" in command else "allow"
    )


def test_a_piece_is_held_back_by_its_own_last_rule(decide: Decide) -> None:
    rules = ("bash * allow", "bash rm * deny", "bash rm a ask")
    assert decide("bash", "rm a", rules).action == "ask"
    assert decide("bash", "rm b; rm a", rules).action == "deny"


def test_a_very_long_command_still_ends_and_is_asked(decide: Decide) -> None:
    command = "env " + "A=1 " * 50_000 + "rm a"
    assert decide("bash", command, ("bash * allow", "bash rm * deny")).action in ("ask", "deny")


def test_pieces_are_named_without_the_whole() -> None:
    assert parts("ls") == ()
    assert parts("cd x && sudo rm a") == ("cd x", "sudo rm a", "rm a", "a")
