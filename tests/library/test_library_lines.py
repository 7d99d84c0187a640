"""Lines that a person types: which command, skill or prompt they mean, and what they become."""

from __future__ import annotations

import pytest
from fakes.fake_gates import FakePrompts, FakeReadGate, FakeShellGate
from library_scene import Scene

from harness_tui.children.registry import ChildRegistry
from harness_tui.core.messages import Attachment
from harness_tui.core.seams import PromptArgument, PromptMessage, PromptSpec
from harness_tui.library.expansion import Expansion
from harness_tui.library.invocation import read_invocation
from harness_tui.library.library import Library


async def expand(library: Library, line: str, prompts: FakePrompts | None = None) -> Expansion:
    return await library.expand(
        line, agents=["build"], models=lambda _: True, read_gate=FakeReadGate(), prompts=prompts
    )


@pytest.mark.rule("3.2.1")
@pytest.mark.parametrize(
    ("line", "name", "args"),
    [
        ("/x", "x", ""),
        ("  /x  a  b ", "x", "a  b"),
        ("/x\ta", "x", "a"),
        ("/x\na\nb", "x", "a\nb"),
        ("/git:pr it", "git:pr", "it"),
    ],
)
def test_a_line_is_taken_apart_whatever_separates(line: str, name: str, args: str) -> None:
    call = read_invocation(line)
    assert call is not None
    assert (call.name, call.args_line) == (name, args)


@pytest.mark.rule("4.6")
@pytest.mark.parametrize("line", ["x", "", "/", "/ x", "//x", "a /x"])
def test_what_is_no_command_line(line: str) -> None:
    assert read_invocation(line) is None


@pytest.mark.rule("4.6")
async def test_arguments_never_change_whether_a_name_is_known(scene: Scene) -> None:
    scene.command("project", "x", "X $ARGUMENTS")
    library = scene.library()
    for line in ("/x", "/x a", "/x\ta", "/x  a"):
        assert (await expand(library, line)).message.startswith("X")


@pytest.mark.rule("4.2")
async def test_an_unknown_name_is_refused_with_a_suggestion(scene: Scene) -> None:
    scene.command("project", "deploy")
    found = await expand(scene.library(), "/deplyo now")
    assert found.error == "unknown-command"
    assert "/deploy" in (found.error_text or "")


@pytest.mark.rule("4.6", "3.1.8")
async def test_a_line_that_begins_with_a_path_is_a_message(scene: Scene) -> None:
    scene.write("root/a", "1")
    library = scene.library()
    found = await expand(library, "/srv/demo/readme.txt:12 looks wrong, see @a")
    assert (found.error, found.command) == (None, None)
    assert found.message == "/srv/demo/readme.txt:12 looks wrong, see @a"
    assert [item.path for item in found.attachments] == ["a"]
    assert (await expand(library, "//x y")).message == "/x y"


@pytest.mark.rule("3.7.12")
async def test_a_name_of_the_shells_own_is_no_template(scene: Scene) -> None:
    scene.command("project", "help", "Mine")
    library = scene.library()
    assert (await expand(library, "/help")).error == "unknown-command"
    assert (await expand(library, "/project:help")).message == "Mine"


@pytest.mark.rule("3.7.15")
async def test_what_only_an_untrusted_folder_has_says_how_to_trust_it(scene: Scene) -> None:
    scene.command("project", "sub/go")
    scene.skill("project", "fly")
    library = scene.library(trusted=False)
    for line in ("/go", "/sub:go x", "/project:sub/go", "/fly", "/skill:fly"):
        found = await expand(library, line)
        assert (line, found.error) == (line, "untrusted")
        assert "harness trust" in (found.error_text or "")


@pytest.mark.rule("3.3.12")
async def test_nothing_is_granted_while_the_folder_is_not_trusted(scene: Scene) -> None:
    scene.command("user", "x", "---\nallowed-tools: Read\n---\nGo")
    assert (await expand(scene.library(trusted=False), "/x")).grants == ()
    assert len((await expand(scene.library(), "/x")).grants) == 1


@pytest.mark.rule("3.7.16")
async def test_an_edit_counts_at_once(scene: Scene) -> None:
    path = scene.command("project", "x", "one")
    library = scene.library()
    path.write_text("second")
    assert (await expand(library, "/x")).message == "second"
    scene.command("project", "new/er", "fresh")
    assert (await expand(library, "/er")).message == "fresh"


# --- skills as commands ------------------------------------------------------------------------


@pytest.mark.rule("3.6.6", "3.6.11")
async def test_a_skill_gives_its_body_its_folder_and_its_files(scene: Scene) -> None:
    path = scene.skill(
        "user", "log-trim", "---\nname: log-trim\ndescription: D.\n---\nTrim ${1:-all} in ${CLAUDE_SKILL_DIR}.\n"
    )
    scene.write("home/.config/harness/skills/log-trim/scripts/run.py", "x")
    found = await expand(scene.library(), "/log-trim a.log")
    folder = path.parent
    assert found.message == (
        f"Trim a.log in {folder}.\n\nFolder of the skill: {folder}\nFiles in it, not read yet:\n- scripts/run.py"
    )
    assert (found.skill, found.command and found.command.source) == ("log-trim", str(path))


@pytest.mark.rule("3.6.6", "3.2.28")
async def test_a_skill_without_a_place_for_arguments_gets_them_at_the_end(scene: Scene) -> None:
    scene.skill("user", "s")
    assert (await expand(scene.library(), "/s with care")).message.endswith("\n\nwith care")


@pytest.mark.rule("3.9.4", "3.9.5")
async def test_a_skill_is_reached_by_slug_name_and_prefix(scene: Scene) -> None:
    scene.skill("user", "folder", "---\nname: Log Trimmer\ndescription: D.\n---\nTrim.\n")
    library = scene.library()
    for line in ("/log-trimmer", "/Log-Trimmer", "/skill:log-trimmer", "/skill:folder", "/folder"):
        assert (await expand(library, line)).skill == "Log Trimmer"


@pytest.mark.rule("3.6.8")
@pytest.mark.parametrize(
    ("command", "skill", "winner"),
    [("user", "user", None), ("user", "project", "both"), ("project", "user", None), ("bundled", "user", "both")],
)
async def test_a_command_beats_a_skill_of_its_scope_and_a_nearer_scope_beats_both(
    scene: Scene, command: str, skill: str, winner: str | None
) -> None:
    scene.command(command, "both", "the command")
    scene.skill(skill, "both")
    library = scene.library()
    assert (await expand(library, "/both")).skill == winner
    assert (await expand(library, "/skill:both")).skill == "both"
    assert (await expand(library, f"/{command}:both")).message == "the command"
    other = "skill:both" if winner is None else f"{command}:both"
    assert [item.name for item in library.complete("both")] == ["both", other]


@pytest.mark.rule("3.6.7")
async def test_shell_parts_of_a_skill_run_behind_the_gate(scene: Scene, spawner: ChildRegistry) -> None:
    scene.skill("user", "s", "---\nname: s\ndescription: D.\n---\nNow !`echo ran`\n")
    gate = FakeShellGate()
    found = await scene.library().expand("/s", agents=[], models=lambda _: True, spawner=spawner, shell_gate=gate)
    assert found.message.startswith("Now ran\n")
    assert gate.asked == [(["echo ran"], [])]


@pytest.mark.rule("3.5.7")
async def test_a_skill_for_the_model_only_is_refused(scene: Scene) -> None:
    scene.skill("user", "s", "---\nname: s\ndescription: D.\nuser-invocable: false\n---\nx\n")
    library = scene.library()
    assert (await expand(library, "/s")).error == "not-user-invocable"
    assert library.complete("s") == []


# --- prompts of servers ------------------------------------------------------------------------

SPEC = PromptSpec("git hub", "make pr", "Opens one.", (PromptArgument("title", required=True), PromptArgument("body")))


@pytest.mark.rule("3.6.1", "3.6.2")
async def test_a_prompt_is_reached_by_each_spelling_and_filled_in_order(scene: Scene) -> None:
    prompts = FakePrompts(SPEC, messages=[PromptMessage("user", "Do it.")])
    library = scene.library()
    for line in ("/mcp:git_hub:make_pr", "/git_hub:make_pr", "/mcp__git_hub__make_pr"):
        found = await expand(library, f"{line} 'Big fix' and  more", prompts)
        assert (found.error, found.message) == (None, "Do it.")
    assert prompts.fetched == [("git hub", "make pr", {"title": "Big fix", "body": "and  more"})] * 3
    assert [item.name for item in library.complete("mcp:", prompts)] == ["mcp:git_hub:make_pr"]


@pytest.mark.rule("3.6.3")
async def test_a_missing_argument_is_named_before_any_request(scene: Scene) -> None:
    prompts = FakePrompts(SPEC)
    for line in ("/mcp:git_hub:make_pr", '/mcp:git_hub:make_pr ""'):
        found = await expand(scene.library(), line, prompts)
        assert found.error == "missing-argument"
        assert "title" in (found.error_text or "")
    assert prompts.fetched == []


@pytest.mark.rule("3.6.4", "3.6.5")
async def test_a_servers_text_is_never_read_as_a_template(scene: Scene) -> None:
    scene.write("root/a", "1")
    text = "$1 $ARGUMENTS !`touch PWNED` @a /help \\$1"
    picture = Attachment("image", "image/png", 3, uri="x", content="AAAA")
    messages = [PromptMessage("user", text), PromptMessage("assistant", "Fine.", (picture,))]
    found = await expand(scene.library(), "/s:p", FakePrompts(PromptSpec("s", "p"), messages=messages))
    assert found.message == f"{text}\n\nFine."
    assert found.attachments == (picture,)


@pytest.mark.rule("3.6.2")
async def test_words_that_a_prompt_does_not_take_are_told(scene: Scene) -> None:
    prompts = FakePrompts(PromptSpec("s", "p"), messages=[PromptMessage("user", "x")])
    found = await expand(scene.library(), "/s:p left over", prompts)
    assert "left over" in found.warnings[0]


@pytest.mark.rule("3.5.10")
async def test_a_prompt_that_fails_or_is_empty_sends_nothing(scene: Scene) -> None:
    library = scene.library()
    spec = PromptSpec("s", "p")
    found = await expand(library, "/s:p", FakePrompts(spec, error="the server is gone"))
    assert found.error == "prompt-failed"
    assert "gone" in (found.error_text or "")
    assert (await expand(library, "/s:p", FakePrompts(spec))).error == "empty-command"


@pytest.mark.rule("3.6.1")
async def test_a_command_file_of_that_name_comes_before_a_prompt(scene: Scene) -> None:
    scene.command("project", "s/p", "the file")
    prompts = FakePrompts(PromptSpec("s", "p"), messages=[PromptMessage("user", "the prompt")])
    library = scene.library()
    assert (await expand(library, "/s:p", prompts)).message == "the file"
    assert (await expand(library, "/mcp:s:p", prompts)).message == "the prompt"
