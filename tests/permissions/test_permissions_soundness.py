"""Ways round the rules that a text can find: other folders than it seems, other words, other repositories."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from shell_escapes import ESCAPES, make_victim
from shell_escapes import RULES as ESCAPED

from harness_tui.core.seams import Check, GateDecision

Decide = Callable[..., GateDecision]

RULES = (
    *(f"bash {program} * allow" for program in ("cat", "cd", "cp", "echo", "export", "find", "ls", "touch", "wc")),
    "bash git * allow",
    "edit out/* allow",
)


def why(decision: GateDecision) -> str:
    assert decision.action == "ask", decision
    return f"{decision.reason} {[part.check.value for part in decision.parts if part.decision == 'ask']}"


@pytest.mark.parametrize(
    "command",
    [
        "for A in 1 2; do touch out/x; cd src; done",
        "for A in 1 2; do touch out/x; command -- builtin -- cd src; done",
        "while true; do touch out/x; eval 'cd src'; done",
        "trap 'touch out/x' EXIT; cd src",
        "eval \"trap 'touch out/x' EXIT\"; cd src",
        "echo() { touch out/x; }; cd src; echo",
        "function echo { touch out/x; }; cd src; echo",
        "A=cd; $A src; touch out/x",
        "source a; touch out/x",
        "cd $A; cd /; touch out/x",
        "find src -execdir touch out/x \\;",
        "find src -okdir touch out/x \\;",
    ],
)
def test_a_file_is_not_known_where_the_folder_may_be_another(decide: Decide, project, command: str) -> None:
    (project.root / "src").mkdir()
    assert "folder is computed" in why(decide("bash", command, (*RULES, "bash * allow", "external_directory * allow")))


@pytest.mark.parametrize(
    "command",
    [
        "touch out/x; cd src",
        "for A in 1 2; do touch out/x; done; cd src",
        "echo() { touch out/x; }; echo",
        "trap 'touch out/x' EXIT",
        "find src -exec touch out/x \\;",
        "cd src; touch out/x",
    ],
)
def test_a_change_of_folder_asks_nothing_where_it_changes_nothing(decide: Decide, project, command: str) -> None:
    (project.root / "src/out").mkdir(parents=True)
    assert decide("bash", command, (*RULES, "edit src/out/* allow")).action == "allow"


def test_a_program_named_by_its_folder_is_another_one_in_another_folder(decide: Decide) -> None:
    rules = (*RULES, "bash ./run.sh * allow")
    assert decide("bash", "./run.sh a; cd src", rules).action == "allow"
    for text in ("cd src; ./run.sh a", "for A in 1 2; do ./run.sh a; cd src; done", "find . -execdir ./run.sh a \\;"):
        assert "depends on the working folder" in why(decide("bash", text, rules))
    assert decide("bash", "cd src; ./run.sh a", (*RULES, "bash cd src; ./run.sh a allow")).action == "allow"


def test_a_program_named_by_its_folder_is_not_kept_for_other_working_folders(project, make_call) -> None:
    gate = project.gate(("bash ./run.sh allow", "bash ./run.sh * allow"))
    call = make_call(("bash", "./run.sh"))
    assert gate.decide(call).action == "allow"
    elsewhere = replace(call, checks=(Check("bash", "./run.sh", folder=str(project.root / "src")),))
    assert "depends on the working folder" in why(gate.decide(elsewhere))
    assert gate.decide(elsewhere).offers == ()
    assert project.gate(("bash * allow",)).decide(elsewhere).action == "allow"


@pytest.mark.parametrize("shell", ["sh", "dash"])
@pytest.mark.parametrize("runner", ["eval", "trap"])
def test_what_another_shell_evaluates_is_read_as_that_shell_does(decide: Decide, shell: str, runner: str) -> None:
    end = " EXIT" if runner == "trap" else ""
    text = f"{shell} -c '{runner} \"[[ a > out ]]; echo a\"{end}'"
    assert "another shell than bash" in why(decide("bash", text, RULES))
    assert decide("bash", text.replace(f"{shell} -c", "bash -c"), RULES).action == "allow"


@pytest.mark.parametrize(
    ("command", "action"),
    [
        ("export A=$B; cat a", "allow"),
        ("command export A=$B; cat a", "ask"),
        ("builtin export A=$B; cat a", "ask"),
        ("sh -c 'export A=$B; cat a'", "ask"),
        ('command export A="$B"; cat a', "allow"),
        ("sh -c 'export A=\"$B\"; cat a'", "allow"),
        ('command export A="$@"; cat a', "ask"),
    ],
)
def test_a_value_that_may_become_several_words_may_set_other_variables(
    decide: Decide, command: str, action: str
) -> None:
    assert decide("bash", command, RULES).action == action


@pytest.mark.parametrize(
    ("command", "action"),
    [
        ("echo /etc/passwd | xargs -I zz -n 2 cat", "ask"),
        ("echo /etc/passwd | xargs -L 1 -I zz cat", "ask"),
        ("echo /etc/passwd | xargs -I zz --max-args=1 cat", "ask"),
        ("echo a | xargs -I zz -n 1 echo zz", "allow"),
        ("echo a | xargs -I zz echo zz", "allow"),
        ("find . -exec touch + b \\;", "ask"),
        ("find . -exec echo {} +", "allow"),
        ("env -u PATH cat a", "ask"),
        ("env --unset=LD_PRELOAD cat a", "ask"),
        ("env -uHOME cat a", "ask"),
        ("env -u EMPTY cat a", "allow"),
    ],
)
def test_options_of_a_wrapper_change_what_it_starts(decide: Decide, command: str, action: str) -> None:
    assert decide("bash", command, RULES).action == action


@pytest.mark.parametrize("end", ["~", "$HOME", "`a`"])
def test_nothing_is_expanded_in_the_end_of_a_here_document(decide: Decide, project, end: str) -> None:
    text = f"cat <<{end}\n{end}\nrm a\n{project.home}"
    assert "here-document whose end is not plain" in why(decide("bash", text, RULES))


@pytest.mark.parametrize(
    "command",
    [
        "ls .*",
        "cat .*/a",
        "cat x:~/a",
        "cat x=~/a",
        "cat <(echo a)/../a",
        "cat -n/etc/passwd",
        "cat -nb/etc/passwd",
        "cat -n@/etc/passwd",
        "wc --files0-from=a",
        "cat link/a",
        "touch link/out/x",
    ],
)
def test_a_name_that_shells_or_programs_read_otherwise_is_asked(decide: Decide, project, command: str) -> None:
    (project.root / "link").symlink_to("/proc/self/cwd")
    assert decide("bash", command, RULES).action == "ask"


@pytest.mark.parametrize(
    ("command", "action"),
    [
        ("git switch -c a", "allow"),
        ("git commit -C HEAD", "allow"),
        ("git ls-files -o", "allow"),
        ("git cherry-pick -x HEAD", "allow"),
        ("git -c core.pager=x log", "ask"),
        ("git -C src log", "ask"),
        ("git --git-dir=a log", "ask"),
        ("git --exec-path a log", "ask"),
        ("git config core.pager x", "ask"),
        ("git --no-pager config core.pager x", "ask"),
        ("git submodule foreach x", "ask"),
        ("git bisect run x", "ask"),
        ("git difftool -x a", "ask"),
        ("git rebase -x a HEAD", "ask"),
        ("git rebase --exec=a HEAD", "ask"),
        ("git clone -u x y", "ask"),
        ("git clone -c a=b y", "ask"),
        ("git grep -Ox a", "ask"),
        ("git archive -o a.tar HEAD", "ask"),
        ("git archive -o out/a.tar HEAD", "allow"),
        ("git fetch --upload-pack=x y", "ask"),
        ("git push --receive-pack x", "ask"),
    ],
)
def test_what_git_is_told_to_run_is_asked_though_git_is_allowed(decide: Decide, command: str, action: str) -> None:
    assert decide("bash", command, RULES).action == action


def test_a_rule_that_names_what_git_runs_covers_it(decide: Decide) -> None:
    assert decide("bash", "git config a.b c", ("bash git config * allow",)).action == "allow"
    assert decide("bash", "git -C src log", ("bash git -C * allow",)).action == "allow"


def test_a_repository_that_lies_open_in_the_project_is_not_gits_own(decide: Decide, project) -> None:
    def repository(at: Path) -> None:
        for folder in ("objects", "refs"):
            (at / folder).mkdir(parents=True)
        (at / "HEAD").write_text("ref: refs/heads/main\n")

    repository(project.root / ".git")
    repository(project.root / "evil")
    (project.root / "evil/deep").mkdir()
    assert decide("bash", "git status", RULES).action == "allow"
    assert decide("bash", "git status; cd evil", RULES).action == "allow"
    for command in ("cd evil && git status", "cd evil/deep && git status", "(cd evil; true); git status"):
        assert "is a repository by itself" in why(decide("bash", command, (*RULES, "bash true allow")))


def test_no_escape_is_allowed(decide: Decide, project) -> None:
    make_victim(project.root)
    rules = tuple(f"bash {pattern} allow" for pattern in ESCAPED)
    assert len(set(ESCAPES)) == len(ESCAPES) > 250
    assert [text for text in ESCAPES if decide("bash", text, rules).action != "ask"] == []


@pytest.mark.parametrize("text", ESCAPES[::8])
def test_an_escape_is_one_where_nobody_looks(project, text: str) -> None:
    make_victim(project.root)
    subprocess.run(
        ["bash", "-c", text],
        cwd=project.root,
        env={"PATH": "/bin:/usr/bin", "HOME": str(project.home), "E": "!touch PWNED"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=30,
        start_new_session=True,
    )
    found = (list(project.root.rglob("PWNED")) for _ in range(200))
    assert next((files for files in found if files), None), "what runs in the background had time enough"
