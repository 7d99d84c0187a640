"""Shell parts: where they begin, what they are given, and how they end."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.fake_gates import FakeShellGate
from library_scene import Expand, Scene

from harness_tui.children.registry import ChildRegistry
from harness_tui.library.arguments import read_line
from harness_tui.library.expand import TemplateSource, expand_template
from harness_tui.library.expansion import Surroundings
from harness_tui.library.forms import Argument
from harness_tui.library.header import Header
from harness_tui.library.one_file import expand_file
from harness_tui.library.shell_source import read_shell
from harness_tui.library.template import compile_template, fill


def commands(body: str) -> list[str]:
    return [part.source.written for part in compile_template(body, {}, hinted=False, shell=True).shell_parts]


@pytest.mark.rule("3.3.1")
@pytest.mark.parametrize("before", ["", "x\n", "a ", "(", "[", "{", '"', "'", ":", ">"])
def test_a_part_may_begin_here(before: str) -> None:
    assert commands(f"{before}!`date`") == ["date"]


@pytest.mark.rule("3.3.1", "3.3.3")
@pytest.mark.parametrize(
    "body",
    [
        "KEY=!`date`",
        "wow!`date`",
        "`` !`date` ``",
        "`!`date`",
        "```\n!`date`\n```",
        "```!x\ndate\n```",
        "<!-- !`date` -->",
        "!`a\nb`",
        "! `date`",
        "!``date``",
        "!` `",
        "```!\n \n```",
    ],
)
def test_nothing_begins_here(body: str) -> None:
    assert commands(body) == []


@pytest.mark.rule("3.3.2")
def test_a_fence_with_a_bang_is_one_part() -> None:
    assert commands("a\n~~~~ !\none\n```\ntwo\n~~~~\nb") == ["one\n```\ntwo"]


@pytest.mark.rule("3.3.4")
async def test_a_backslash_keeps_a_part_as_text(shell: Expand) -> None:
    gate = FakeShellGate()
    assert (await shell("Type \\!`date` here", gate=gate)).message == "Type !`date` here"
    assert gate.asked == []


@pytest.mark.rule("3.3.5")
async def test_words_arrive_as_parameters_and_never_as_program_text(shell: Expand, scene: Scene) -> None:
    line = 'it\'s $(touch PWNED) ; touch PWNED2 "two words"'
    found = await shell('!`printf \'[%s]\' "$@" "$ARGUMENTS"`', line)
    assert found.message == f"[it's][$(touch][PWNED)][;][touch][PWNED2][two words][{line}]"
    assert list(scene.root.iterdir()) == []


@pytest.mark.rule("3.3.6")
async def test_indexed_and_named_forms_become_parameters(shell: Expand) -> None:
    text = "---\narguments: [from, to]\n---\n!`echo $ARGUMENTS[1] $from ${to:-x} ${from}s`"
    assert (await shell(text, "a b")).message == "b a b as"


@pytest.mark.rule("3.3.5")
async def test_text_in_single_quotes_is_the_commands_own(shell: Expand) -> None:
    found = await shell("!`echo one two | awk '{print $2}'`", "rest")
    assert found.message == "two\n\nrest"


@pytest.mark.rule("3.3.5", "3.2.28")
def test_a_part_that_uses_parameters_takes_the_arguments() -> None:
    for command in ('echo "$1"', "echo $@", 'echo "${*}"', "echo $ARGUMENTS", "echo ${2:-x}"):
        assert compile_template(f"!`{command}`", {}, hinted=False, shell=True).takes_arguments is True
    for command in ("echo '$1'", "echo \\$1", "echo $0", "echo $HOME", "echo $'$1'"):
        assert compile_template(f"!`{command}`", {}, hinted=False, shell=True).takes_arguments is False


@pytest.mark.rule("3.2.21")
def test_a_number_in_a_part_makes_numbers_in_fences_live() -> None:
    template = compile_template('!`echo "$1"`\n```\n$2\n```', {}, hinted=False, shell=True)
    assert template.highest == 2
    indexed = compile_template("!`echo $ARGUMENTS[0]`\n```\n$2\n```", {}, hinted=False, shell=True)
    assert [token for token in indexed.tokens if isinstance(token, Argument)] == []


@pytest.mark.rule("3.2.18")
def test_a_word_that_a_part_uses_is_not_swallowed_by_the_text() -> None:
    for part in ('!`echo "$2"`', "!`echo $ARGUMENTS[1]`", "!`echo ${12}`"):
        template = compile_template(f"$1 {part}", {}, hinted=False, shell=True)
        assert fill(template.tokens, read_line("a b c"), template.highest, {}) == "a "


@pytest.mark.rule("3.3.6")
@pytest.mark.parametrize(
    ("command", "run"),
    [
        ("# don't\necho $x", "# don't\necho ${1}"),
        ("echo a#$x", "echo a#${1}"),
        ("cat <<E\ndon't say \"$x\nE\necho '$x'", "cat <<E\ndon't say \"${1}\nE\necho '$x'"),
        ("cat <<-'E' && echo $x\n\t$x\n\tE\necho $x", "cat <<-'E' && echo ${1}\n\t$x\n\tE\necho ${1}"),
        ("cat <<\\E\n$x\nE", "cat <<\\E\n$x\nE"),
        ("cat <<< $x", "cat <<< ${1}"),
        ("echo \"$(awk '{print $x}' $x)\" '$x'", "echo \"$(awk '{print $x}' ${1})\" '$x'"),
        ("echo `echo '$x' $x` \\$x", "echo `echo '$x' ${1}` \\$x"),
        ('echo $((1 + $x)) "it\'s $x"', 'echo $((1 + ${1})) "it\'s ${1}"'),
    ],
)
def test_names_are_rewritten_where_a_shell_would_read_them(command: str, run: str) -> None:
    assert read_shell(command, {"x": 1}).command == run


@pytest.mark.rule("3.3.6")
@pytest.mark.parametrize(
    "command", ["cat <<E", "cat <<'E'\n$1", "echo '$1", '"$(', "`", "$((", "<<", "<<'", "# x", "$"]
)
def test_a_command_that_is_cut_off_is_read_to_its_end(command: str) -> None:
    assert read_shell(command, {"x": 1}).command == command


@pytest.mark.rule("3.3.6")
def test_rewriting_leaves_everything_else_as_written() -> None:
    source = read_shell("a \"$x\" '$x' $xy $ARGUMENTS[0]", {"x": 3})
    assert source.command == "a \"${3}\" '$x' $xy ${1}"
    assert source.numbers == {3, 1}


@pytest.mark.rule("3.1.7")
async def test_output_is_never_read_again(shell: Expand, scene: Scene) -> None:
    scene.write("root/out.txt", "$1 @out.txt !`exit 5` /help\n\n")
    found = await shell("Out: !`cat out.txt`!", "arg")
    assert found.message == "Out: $1 @out.txt !`exit 5` /help!\n\narg"
    assert found.attachments == ()


@pytest.mark.rule("3.3.17", "3.3.19")
async def test_a_failing_part_tells_output_and_code(shell: Expand) -> None:
    assert (await shell("!`echo bad; echo worse >&2; exit 3`")).message == "bad\nworse\n[exit code 3]"
    assert (await shell("A !`exit 7` B")).message == "A [exit code 7] B"
    assert (await shell("!`kill -9 $$`")).message == "[exit code 137]"


@pytest.mark.rule("3.3.20")
async def test_a_part_is_cut_off_at_its_limit_with_what_it_wrote(shell: Expand) -> None:
    assert (await shell("!`echo part; sleep 30`", seconds=0.5)).message == "part\n[timed out after 0.5 s]"


@pytest.mark.rule("3.3.15")
async def test_the_files_own_limit_counts_below_the_callers(shell: Expand) -> None:
    found = await shell("---\ntimeout: 1\n---\n!`sleep 30`", seconds=20)
    assert found.message == "[timed out after 1 s]"


@pytest.mark.rule("3.3.17")
async def test_escape_sequences_and_nul_are_removed(shell: Expand) -> None:
    assert (await shell(r"!`printf '\033[31mred\033[0m\0!\r\n\n'`")).message == "red!"


@pytest.mark.rule("3.3.18")
async def test_long_output_is_cut_with_a_line_that_says_so(shell: Expand) -> None:
    found = await shell("!`head -c 400000 /dev/zero | tr '\\0' x`")
    head, line = found.message.split("\n")
    assert head == "x" * 30_000
    assert "truncated" in line


@pytest.mark.rule("3.3.13", "3.6.11")
async def test_a_part_gets_no_input_and_the_project_as_its_folder(shell: Expand, scene: Scene) -> None:
    found = await shell("!`cat; pwd; echo ${HARNESS_PROJECT_DIR}`")
    assert found.message == f"{scene.root}\n{scene.root}"


@pytest.mark.rule("3.3.14")
async def test_a_part_has_a_process_group_of_its_own(shell: Expand) -> None:
    group, pid = (await shell("!`ps -o pgid= -p $$; echo $$`")).message.split()
    assert group == pid


@pytest.mark.rule("3.3.7")
async def test_without_a_bash_sh_runs_it(shell: Expand, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = scene.base / "tools"
    tools.mkdir()
    (tools / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(tools))
    assert (await shell('!`printf "<%s>" "$0" "$1" "$ARGUMENTS"`', "a 'b c'")).message == "<harness><a><a 'b c'>"


@pytest.mark.rule("3.6.7", "3.2.28")
async def test_where_parts_do_not_count_they_are_text(around: Surroundings) -> None:
    source = TemplateSource("s", "s.md", Header(), "Now !`echo $1`\n```!\necho 2\n```", shell=False)
    found = await expand_template(source, "w", around)
    assert found.message == "Now !`echo w`\n```!\necho 2\n```"


@pytest.mark.rule("3.3.14")
async def test_what_a_part_left_in_the_background_does_not_hold_it(shell: Expand) -> None:
    started = time.monotonic()
    assert (await shell("!`sleep 60 & echo done`")).message == "done"
    assert time.monotonic() - started < 30


@pytest.mark.rule("3.3.9", "3.3.11")
async def test_the_gate_sees_every_part_before_any_runs(shell: Expand, scene: Scene) -> None:
    gate = FakeShellGate(allow=False)
    found = await shell("!`touch a`\n```!\ntouch b\n```\n", "x 'y z'", gate=gate)
    assert found.error == "shell-denied"
    assert gate.asked == [(["touch a", "touch b"], ["x", "y z"])]
    assert list(scene.root.iterdir()) == []


@pytest.mark.rule("3.3.12")
async def test_the_gate_is_given_the_files_grants(shell: Expand) -> None:
    gate = FakeShellGate()
    await shell("---\nallowed-tools: Bash(echo:*)\n---\n!`echo x`", gate=gate)
    assert [(rule.permission, rule.pattern) for rule in gate.grants] == [("bash", "echo *")]


@pytest.mark.rule("3.3.10")
async def test_without_anyone_to_ask_a_part_is_denied(expand: Expand) -> None:
    assert (await expand("!`echo x`")).error == "shell-denied"


@pytest.mark.rule("3.3.16")
async def test_more_than_twenty_parts_run_not_at_all(shell: Expand) -> None:
    gate = FakeShellGate()
    found = await shell("!`echo x`\n" * 21, gate=gate)
    assert found.error == "shell-denied"
    assert "20" in (found.error_text or "")
    assert gate.asked == []
    assert (await shell("!`echo x`\n" * 20)).message == "\n".join("x" * 20)


@pytest.mark.rule("3.1.5")
async def test_parts_run_one_after_the_other(shell: Expand) -> None:
    assert (await shell("!`echo 1 > f; sleep 0.2; echo a`\n!`cat f`")).message == "a\n1"


@pytest.mark.rule("3.3.21", "3.3.14")
async def test_cancelling_ends_the_part_and_sends_nothing(
    scene: Scene, around: Surroundings, spawner: ChildRegistry
) -> None:
    file = scene.write("t.md", "!`touch started; sleep 60`")
    able = replace(around, spawner=spawner, shell_gate=FakeShellGate())
    task = asyncio.create_task(expand_file(file, "", able))
    await _appears(scene.root / "started")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 20)
    assert spawner.list() == []


async def _appears(path: Path) -> None:
    async with asyncio.timeout(20):
        while not path.exists():
            await asyncio.sleep(0.02)
