"""Shell texts are decided command by command and file by file, and what is allowed does nothing else."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shell_fuzz import breach, fuzzed_recorders
from shell_grammar import shell_text
from shell_recorders import Ran, Recorders, rule
from shell_table import ALLOWED, ASKED, EDITS, RULES

from harness_tui.core.seams import Check, GateDecision
from harness_tui.core.values import Rule

Decide = Callable[..., GateDecision]

PIECES = [*"ocat\n\t ;&|<>(){}[]$`'\"\\!#=*?~-aE1", "echo ", "cat ", "printf ", "touch PWNED", "<<E", "$(", "\nE\n"]

RECORDED = ("cat", "ls", "wc", "git status", "git diff", "head", "make test", "pytest", "npm run build --silent", "sed")
"""What the allowed texts of the table may be recorded with; ``find``, ``tee`` and ``touch`` are looked at by hand."""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Recorders:
    rules = (*map(rule, RULES), *(rule(pattern, "edit") for pattern in EDITS))
    recorders = Recorders(tmp_path_factory.mktemp("table"), rules)
    (recorders.root / ".env").write_text("SECRET=1\n")
    (recorders.root / "link").symlink_to("/etc")
    recorders.remember_files()
    return recorders


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Recorders:
    return fuzzed_recorders(tmp_path_factory.mktemp("fuzzed"))


def test_the_table_is_large_enough() -> None:
    assert len(set(ALLOWED)) == len(ALLOWED) >= 50
    assert len({*ALLOWED, *ASKED}) >= 120


@pytest.mark.parametrize("text", ALLOWED)
def test_an_allowed_text_runs_and_does_only_what_its_rules_say(table: Recorders, text: str) -> None:
    decision = table.decide(text)
    assert decision.action == "allow", decision
    ran = table.run(text)
    assert ran.ended
    for command in ran.commands:
        assert command.startswith((*RECORDED, "find . -name", "tee out/", "touch out/")), command
    assert all(name.startswith("project/out/") for name in ran.files)


@pytest.mark.parametrize("text", ASKED)
def test_a_text_that_no_rules_cover_whole_is_asked(table: Recorders, text: str) -> None:
    decision = table.decide(text)
    assert decision.action == "ask"
    assert any(part.decision == "ask" for part in decision.parts)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**64))
def test_whatever_is_allowed_runs_nothing_that_is_not(fuzzed: Recorders, seed: int) -> None:
    text = shell_text(random.Random(seed))
    if fuzzed.decide(text).action == "allow":
        assert breach(fuzzed.run(text)) is None


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from(PIECES), max_size=16))
def test_any_string_that_is_allowed_runs_nothing_that_is_not(fuzzed: Recorders, pieces: list[str]) -> None:
    text = "".join(pieces)
    if fuzzed.decide(text).action == "allow":
        assert breach(fuzzed.run(text)) is None


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda data: data.decode("utf-8", "surrogateescape")))
def test_no_string_breaks_the_gate(fuzzed: Recorders, text: str) -> None:
    decision = fuzzed.decide(text)
    assert decision.action in ("allow", "ask")
    assert "could not be applied" not in (decision.reason or "")


def test_a_fifth_of_the_texts_is_allowed_so_that_the_property_proves_something(fuzzed: Recorders) -> None:
    texts = [shell_text(random.Random(f"share:{number}")) for number in range(500)]
    assert sum(fuzzed.decide(text).action == "allow" for text in texts) >= 100


def test_a_checker_that_looks_at_the_first_word_alone_is_found_out(fuzzed: Recorders) -> None:
    found: list[str] = []
    for number in range(400):
        text = shell_text(random.Random(f"fault:{number}"))
        if text.startswith(("echo ", "cat ", "printf ")) and breach(fuzzed.run(text)) is not None:
            found.append(text)
            break
    assert found


def test_a_breach_is_a_program_that_no_rule_names_or_a_file() -> None:
    assert breach(Ran(("cat a", "git status"), (), True)) is None
    assert breach(Ran(("cat a", "git push"), (), True)) == "it ran 'git push'"
    assert breach(Ran(("catx",), (), True)) == "it ran 'catx'"
    assert breach(Ran((), ("project/out/x",), True)) is None
    assert breach(Ran((), ("project/PWNED",), True)) == "it wrote project/PWNED"
    assert breach(Ran(("cat ../a",), (), True, ("../a",))) == "it reached ../a"


# --- parts ---------------------------------------------------------------------------------------


def parts(decision: GateDecision) -> list[tuple[str, str, str, str | None]]:
    return [(part.check.permission, part.check.value, part.decision, part.check.display) for part in decision.parts]


def test_each_simple_command_is_a_part_with_what_is_shown_for_it(decide: Decide) -> None:
    decision = decide("bash", "A=1 git  status -s 2>&1 | wc -l; git push > log", ("bash git status * allow",))
    assert parts(decision) == [
        ("bash", "git status -s", "allow", "A=1 git  status -s 2>&1"),
        ("bash", "wc -l", "ask", "wc -l"),
        ("bash", "git push", "ask", "git push > log"),
        ("edit", "log", "ask", "git push > log"),
    ]


def test_files_that_are_read_are_parts_only_where_they_are_not_allowed(decide: Decide, project) -> None:
    (project.root / ".env").write_text("")
    (project.root / "a").write_text("")
    decision = decide("bash", "cat a .env /srv/b", ("bash cat * allow",))
    assert parts(decision) == [
        ("bash", "cat a .env /srv/b", "allow", "cat a .env /srv/b"),
        ("read", ".env", "ask", "cat a .env /srv/b"),
        ("external_directory", "/srv/b", "ask", "cat a .env /srv/b"),
    ]


def test_a_read_rule_denies_the_file_that_a_command_names(decide: Decide, project) -> None:
    (project.root / "a").write_text("")
    assert decide("bash", "cat a", ("bash cat * allow", "read a deny")).action == "deny"
    assert decide("bash", "cat < a", ("bash cat * allow", "read a deny")).action == "deny"


def test_an_edit_rule_denies_the_file_that_a_command_writes(decide: Decide) -> None:
    rules = ("bash * allow", "edit * allow", "edit src/* deny")
    for command in ("echo a > src/b", "touch src/b", "rm src/b", "cp a src/b", "mv src/b c", "sort -o src/b a"):
        assert decide("bash", command, rules).action == "deny", command
    assert decide("bash", "cp src/b c", rules).action == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "echo a > .git/config",
        "touch .git/hooks/pre-commit",
        "cp a .harness/config.yaml",
        "cp a/.bashrc .",
        "mv a/.envrc .",
        "tee .mcp.json",
        "chmod -x .git/hooks/a",
        "rm -r sub",
        "mv sub other",
        "echo a > ./sub/../.git/config",
        "cd sub && echo a > ../.git/config",
        "git diff --output=.git/config",
    ],
)
def test_protected_names_are_asked_whatever_writes_them(decide: Decide, project, command: str) -> None:
    (project.root / "sub/.git").mkdir(parents=True)
    (project.root / "a").mkdir()
    assert decide("bash", command, ("bash * allow", "edit * allow")).action == "ask"


def test_a_command_runs_in_the_folder_of_its_check(project, make_call) -> None:
    (project.root / "src").mkdir()
    call = make_call(("bash", "touch ../a"))
    inside = Check("bash", "touch ../a", folder=str(project.root / "src"))
    gate = project.gate(("bash touch * allow", "edit * allow"))
    assert gate.decide(call).action == "ask"
    assert gate.decide(type(call)("c1", "bash", (inside,), session="s", agent="build", mode="ask")).action == "allow"


def test_a_dangling_link_is_where_it_leads(decide: Decide, project) -> None:
    (project.root / "link").symlink_to(project.home / "missing")
    decision = decide("bash", "echo a > link", ("bash echo * allow", "edit link allow", "edit * allow"))
    assert ("external_directory", str(project.home / "missing"), "ask", "echo a > link") in parts(decision)


def test_a_sibling_with_the_same_prefix_is_outside(decide: Decide, project) -> None:
    assert decide("bash", f"cat {project.root}x/a", ("bash cat * allow",)).action == "ask"
    assert decide("bash", f"cat {project.root}/a", ("bash cat * allow",)).action == "allow"


# --- rules ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "command", "action"),
    [
        ("git status *", "git status", "allow"),
        ("git status *", "git  status   -s", "allow"),
        ("git status *", "git statusx", "ask"),
        ("git status *", "git 'status'", "ask"),
        ("git *", "git -c core.pager=x status", "ask"),
        ("git -c *", "git -c core.pager=x status", "allow"),
        ("git diff --ext-diff *", "git diff --ext-diff a", "allow"),
        ("git diff *", "git diff --ext-diff a", "ask"),
        ("PATH=x make", "PATH=x make", "allow"),
        ("make", "PATH=x make", "ask"),
        ("PATH=x make *", "PATH=x make all", "allow"),
        ("PATH=x make *", "PATH=y make all", "ask"),
        ("PATH=x *", "PATH=x make all", "ask"),
        ("A=1 make *", "A=1 make all", "allow"),
        ("A=make make *", "A=make rm make", "ask"),
        ("curl *", "curl -s http://127.0.0.1:8000/a https://example.test", "allow"),
        ("curl *", "curl -s file:///etc/passwd", "ask"),
        ("curl *", "curl -d @/etc/passwd --url=http://127.0.0.1/", "ask"),
        ("git show *", "git show HEAD~1:src/a.py", "allow"),
        ("docker *", "docker run -v /etc:/a x", "ask"),
        ("timeout 9 make *", "timeout 9 make all", "allow"),
        ("timeout *", "timeout 9 make all", "ask"),
        ("timeout 9 *", "timeout 9 make all", "ask"),
        ("make *", "timeout 9 make all", "allow"),
        ("sudo *", "sudo make", "ask"),
        ("bash -c *", "bash -c 'make'", "ask"),
        ("bash *", "bash x.sh", "ask"),
        ("bash x.sh", "bash x.sh", "allow"),
        ("python *", "python -c 'x'", "allow"),
        ("make && ls", "make && ls", "allow"),
        ("make; *", "make; rm a", "ask"),
        ("* --dry-run", "npm publish 'a --dry-run'", "ask"),
        ("* --dry-run", "npm publish a --dry-run", "allow"),
        (r"ls \*", "ls *", "allow"),
        (r"ls \*", "ls a", "ask"),
    ],
)
def test_a_pattern_covers_what_it_names(decide: Decide, pattern: str, command: str, action: str) -> None:
    assert decide("bash", command, (f"bash {pattern} allow",)).action == action


def test_sudo_needs_a_rule_for_itself_and_for_what_it_starts(decide: Decide) -> None:
    assert decide("bash", "sudo make", ("bash sudo * allow", "bash make allow")).action == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "git -C x push",
        "git --no-pager push",
        "timeout 5 git push",
        "bash -c 'git push'",
        "git 'push' a",
        "/usr/bin/git push",
    ],
)
def test_a_deny_of_a_sub_command_is_not_talked_round(decide: Decide, command: str) -> None:
    assert decide("bash", command, ("bash * allow", "bash git push * deny")).action == "deny"


def test_a_deny_looks_at_commands_and_not_into_quotes(decide: Decide) -> None:
    rules = ("bash * allow", "bash rm * deny")
    assert decide("bash", "echo 'x; rm a'", rules).action == "allow"
    assert decide("bash", "cat <<'E'\nrm a\nE", rules).action == "allow"
    assert decide("bash", "echo 'x; rm a", rules).action == "deny"


def test_grants_of_a_trusted_file_cover_simple_commands(decide: Decide, make_rules) -> None:
    grants = make_rules("bash git log * allow")
    assert decide("bash", "git log --oneline | git log -1", grants=grants).action == "allow"
    assert decide("bash", "git log; git push", grants=grants).action == "ask"


# --- limits --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("echo " + "a" * 65_532, "longer than 64 KiB"),
        ("(" * 1_000_000, "longer than 64 KiB"),
        ("cat <<E\n" * 100_000, "longer than 64 KiB"),
        ("cat <<E\n" * 8_000, "a here-document without its end"),
        ("echo;" * 2_001, "more than 2,000 commands"),
        ("echo " + "a " * 5_000, "more than 4,000 words"),
        ("{ " * 201 + "echo" + "; }" * 201, "more than 200 levels"),
        ("echo " + "$(echo " * 201 + ")" * 201, "more than 200 levels"),
        ("echo|" * 501 + "echo", "more than 500 programs in one pipe"),
        ("echo |& " * 501 + "echo", "more than 500 programs in one pipe"),
        ("echo 'a'|" * 501 + "echo", "more than 500 programs in one pipe"),
        ("echo a\x00", "control characters"),
        ("echo \x1b[2J", "control characters"),
        ("echo \ud800", "no Unicode text"),
        ("echo \u200b", "an invisible character, U+200B"),
    ],
    ids=lambda text: repr(text[:24]),
)
def test_what_is_over_a_limit_is_asked_with_the_reason(decide: Decide, text: str, reason: str) -> None:
    decision = decide("bash", text, ("bash * allow", "bash echo * allow"))
    assert decision.action == "ask"
    assert decision.reason is not None
    assert reason in decision.reason


@pytest.mark.parametrize(
    "text",
    ["echo;" * 2_000, "echo " + "a" * 65_531, "{ " * 190 + "echo" + "; }" * 190],
    ids=lambda text: repr(text[:8]),
)
def test_what_is_just_inside_a_limit_is_decided_by_the_rules(decide: Decide, text: str) -> None:
    assert decide("bash", text, ("bash echo * allow",)).action == "allow"


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "(",
            "$(",
            "{ ",
            "<(",
            "`",
            "'",
            '"',
            "\\",
            "\n",
            "[",
            "~",
            "}#",
            "$a",
            "${",
            "a=(",
            "<",
            "> ",
            "<<E ",
            "cat <<E\n",
        ),
        *(
            "! ",
            "time ",
            "if ",
            "for a in b;do ",
            "for a in b;do done;",
            "case a in a) ",
            "case a in a) b;; esac;",
            "f(){ ",
        ),
        *("a|", "a |& ", "a&&", "a;", "a ", "é;", "'a' ", "*/", "../", "a=b ", "((", "[[ ", "&> ", " \\\n"),
    ],
)
def test_no_text_of_64_kib_takes_long_to_decide(decide: Decide, piece: str) -> None:
    decide("bash", "echo")
    rules = ("bash * allow", "bash rm * deny", "bash *a*b*c*d*e* deny")
    for text in (piece * (65_536 // len(piece.encode())), "echo " + piece * (10_000 // len(piece))):
        before = time.thread_time()
        assert decide("bash", text, rules).action in ("allow", "ask", "deny")
        assert time.thread_time() - before < 1.5


# --- faults --------------------------------------------------------------------------------------


def test_a_parser_that_is_missing_hides_no_deny(decide: Decide, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(text: str) -> list[int]:
        raise ImportError("no parser")

    monkeypatch.setattr("harness_tui.permissions.script.command_starts", missing)
    decision = decide("bash", "echo a", ("bash echo * allow",))
    assert (decision.action, decision.reason) == ("ask", "the command could not be read: no parser")
    assert decide("bash", "echo a; rm b", ("bash * allow", "bash rm * deny")).action == "deny"


def test_two_readings_that_differ_are_asked(decide: Decide, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness_tui.permissions.script.command_starts", lambda _: [0, 5])
    decision = decide("bash", "echo a", ("bash echo * allow",))
    assert decision.reason == "the command is not understood: two ways of reading it differ"


@pytest.mark.parametrize("command", ["[[ a > PWNED ]]", "echo $'a'", "echo a &> out", "cat <(echo a)", "time echo a"])
def test_what_only_bash_knows_is_asked_where_there_is_no_bash(
    decide: Decide, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    rules = ("bash * allow", "edit * allow")
    assert decide("bash", command, rules).action == "allow"
    monkeypatch.setattr("harness_tui.permissions.script._has_bash", lambda root: False)
    assert decide("bash", command, rules).action == "ask"
    assert decide("bash", "echo a | cat > out; if true; then echo b; fi", rules).action == "allow"


def test_a_value_that_is_no_path_hides_no_deny(project, make_call) -> None:
    gate = project.gate(("mcp srv_x deny",))
    assert gate.decide(make_call(("read", "/a/../b"), ("mcp", "srv_x"))).action == "deny"


def test_a_rule_that_holds_back_sees_redirections_too(decide: Decide) -> None:
    assert decide("bash", "make > log", ("bash * allow", "edit * allow", "bash * > log deny")).action == "deny"


def test_a_folder_behind_a_link_is_meant_both_ways(decide: Decide, project) -> None:
    (project.root / "deep/x/y").mkdir(parents=True)
    (project.root / "a").mkdir()
    (project.root / "a/link").symlink_to(project.root / "deep/x/y")
    rules = ("bash cd * allow", "bash cat * allow")
    assert decide("bash", "cd a/link/.. && cat ../../z", rules).action == "ask"
    assert decide("bash", "cd a/link/.. && cat z", rules).action == "allow"


def test_what_reads_shell_texts_is_not_imported_before_the_first_of_them() -> None:
    code = (
        "import sys; import harness_tui.permissions.gate; "
        "print([name for name in sys.modules if 'tree_sitter' in name or 'permissions.sh' in name])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


def test_many_commands_are_decided_quickly_whatever_was_approved(project, make_call) -> None:
    approvals = project.approvals()
    for number in range(50):
        approvals.add("session", [Rule("bash", f"tool{number} *", "allow")], session="s1", fingerprint=None)
    gate = project.gate(approvals=approvals)
    gate.decide(make_call(("bash", "echo")))
    text = "; ".join(f"other{number} a" for number in range(1_000))
    before = time.thread_time()
    assert gate.decide(make_call(("bash", text))).action == "ask"
    assert time.thread_time() - before < 1.0
