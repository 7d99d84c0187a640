"""Commands and skills of other tools, where those tools keep them: found, told apart, read in their own dialect."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from fakes.fake_gates import FakeShellGate
from library_scene import Scene

from harness_tui.children.registry import ChildRegistry
from harness_tui.config.folders import Folder, project_folders, user_folders
from harness_tui.config.places import Places
from harness_tui.config.project import Project
from harness_tui.config.trust import TrustStore
from harness_tui.library.expansion import Expansion, Surroundings
from harness_tui.library.one_file import expand_file

Rows = list[tuple[str, str, str, bool]]


def file_in(folder: Folder, base: str) -> tuple[str, str]:
    """Return the place and the text of a command or skill named after its folder."""
    name = folder.path.replace("/", "_").replace("~", "").replace(".", "").strip("_")
    if folder.kind == "skills":
        return f"{base}/{name}/SKILL.md", f"---\nname: {name}\ndescription: About it.\n---\nBody\n"
    return f"{base}/{name}{folder.suffix}", "prompt = 'Go'\n" if folder.suffix == ".toml" else "Go"


@pytest.mark.rule("4.4")
def test_one_file_in_each_folder_of_the_table_is_found_with_its_source(scene: Scene) -> None:
    expected: dict[str, tuple[str, str]] = {}
    for scope, folders in (("project", project_folders), ("user", user_folders)):
        for folder in (*folders("commands"), *folders("skills")):
            base = f"root/{folder.path}" if scope == "project" else f"home/{folder.path.removeprefix('~/')}"
            if scope == "user" and not folder.path.startswith("~/"):
                base = f"home/.config/{folder.path}"
            path, text = file_in(folder, base)
            expected[str(scene.write(path, text))] = (scope, folder.tool)
    library = scene.library()
    commands = {str(item.path): (item.source, item.tool) for item in library.commands()}
    skills = {str(item.path): item.scope for item in library.skills()}
    assert {**commands, **{path: (scope, expected[path][1]) for path, scope in skills.items()}} == expected
    assert len(expected) == 52
    near_misses = [item.message for item in library.problems() if item.code == "folder-name"]
    assert "read as well, but the usual spelling is .claude/skills" in near_misses
    assert "read as well, but the usual spelling is ~/.codex/prompts" in near_misses
    assert not [message for message in near_misses if "opencode" in message]


@pytest.mark.rule("4.4", "3.7.11")
def test_other_tools_folders_stand_below_ours_in_a_fixed_order(scene: Scene) -> None:
    for folder in project_folders("commands"):
        path = scene.write(f"root/{folder.path}/x{folder.suffix}", "prompt = 'x'" if folder.tool == "gemini" else "x")
        found = scene.library().find_command("x")
        assert found is not None
        assert found.path == path


def gemini(scene: Scene, text: str) -> Path:
    return scene.write("root/.gemini/commands/git/log.toml", text)


async def expand(
    scene: Scene,
    line: str,
    around: Surroundings,
    spawner: ChildRegistry | None = None,
    gate: FakeShellGate | None = None,
) -> Expansion:
    return await scene.library().expand(
        line, agents=around.agents, models=around.models, spawner=spawner, shell_gate=gate or FakeShellGate()
    )


@pytest.mark.rule("3.6.9")
async def test_a_gemini_command_takes_its_arguments_and_leaves_our_marks_alone(
    scene: Scene, around: Surroundings
) -> None:
    scene.write("root/notes.txt", "n")
    path = gemini(
        scene, 'description = "Look  back"\nprompt = """\nAbout {{args}}, $1 and $ARGUMENTS.\n@{notes.txt}"""\n'
    )
    found = await expand(scene, "/git:log it's $(x) {{args}}", around)
    assert found.message == "About it's $(x) {{args}}, $1 and $ARGUMENTS.\n@notes.txt"
    assert [item.path for item in found.attachments] == ["notes.txt"]
    command = scene.library().find_command("git/log")
    assert command is not None
    assert command.description == "Look back"
    assert [str(item) for item in command.diagnostics] == [
        f"{path}:3: dialect: $ARGUMENTS is a mark of another tool and stays as it is; write {{{{args}}}}"
    ]


@pytest.mark.rule("3.6.9", "3.2.28")
async def test_a_gemini_command_without_a_place_for_arguments_gets_them_at_the_end(
    scene: Scene, around: Surroundings
) -> None:
    gemini(scene, "prompt = 'Look back'\n")
    assert (await expand(scene, "/git/log far", around)).message == "Look back\n\nfar"


EVIL = 'it\'s "q" $(touch PWNED) `touch PWNED` ; touch PWNED *'


@pytest.mark.rule("3.6.9")
@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("printf '<%s>' {{args}}", f"<{EVIL}>"),
        ("printf '<%s>' \"a {{args}}\"", f"<a {EVIL}>"),
        ("printf '<{{args}}>' | cat", None),
        ("printf '<%s>' 'b {{args}} c'", f"<b {EVIL} c>"),
        ("printf '<%s>' \"$(printf '%s' {{args}})\"", f"<{EVIL}>"),
        ("printf '<%s>' \"$(printf '%s' \"{{args}}\")\" {x}", f"<{EVIL}><{{x}}>"),
    ],
)
async def test_arguments_in_a_gemini_shell_part_are_a_value_whatever_the_quotes(
    scene: Scene, around: Surroundings, spawner: ChildRegistry, written: str, printed: str | None
) -> None:
    quoted = written.replace("\\", "\\\\").replace('"', '\\"')
    gemini(scene, f'prompt = "Out: !{{{quoted}}}"\n')
    gate = FakeShellGate()
    found = await expand(scene, f"/git/log {EVIL}", around, spawner, gate)
    assert found.error is None
    if printed is not None:
        assert found.message == f"Out: {printed}"
    assert not list(scene.base.rglob("PWNED"))
    assert len(gate.asked) == 1
    assert "{{args}}" not in gate.asked[0][0][0]


@pytest.mark.rule("3.3.11")
async def test_a_gemini_shell_part_that_is_not_allowed_stops_the_whole(scene: Scene, around: Surroundings) -> None:
    gemini(scene, "prompt = '!{touch PWNED} {{args}}'\n")
    found = await expand(scene, "/git/log x", around, ChildRegistry(scene.base / "p"), FakeShellGate(allow=False))
    assert (found.error, found.message) == ("shell-denied", "")
    assert not (scene.root / "PWNED").exists()


@pytest.mark.rule("3.8.8")
@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ('description = \'x\'\nprompt = """\na\n""\nb\n', 6, "toml"),
        ("---\ndescription: x\n---\nprompt = 'x'\n", 1, "toml"),
        ("description = 'x'\n", 1, "no-prompt"),
        ("a = 1\nprompt = [1]\n", 2, "no-prompt"),
        (b"a = 1\n# \x00\n", 2, "binary-file"),
        (b"prompt = '" + b"x" * 262_144 + b"'", 1, "template-too-large"),
        ("x = " + "[" * 100_000, 1, "toml"),
    ],
    ids=["syntax", "yaml", "none", "list", "nul", "large", "deep"],
)
async def test_a_broken_gemini_command_is_told_with_its_line_and_costs_no_other(
    scene: Scene, around: Surroundings, text: str | bytes, line: int, code: str
) -> None:
    path = gemini(scene, text) if isinstance(text, str) else scene.write("root/.gemini/commands/git/log.toml", text)
    scene.write("root/.gemini/commands/good.toml", "prompt = 'Good'")
    (problem,) = scene.library().problems()
    assert (problem.path, problem.line, problem.code, problem.level) == (str(path), line, code, "error")
    assert (await expand(scene, "/git/log", around)).error == code
    assert (await expand(scene, "/good", around)).message == "Good"


@pytest.mark.rule("3.6.10")
async def test_a_brace_that_is_never_closed_is_text_with_a_warning(scene: Scene, around: Surroundings) -> None:
    path = gemini(scene, 'prompt = """\none\n!{echo {a} two"""\n')
    found = await expand(scene, "/git/log", around)
    assert found.message == "one\n!{echo {a} two"
    assert found.warnings[0] == f"{path}:3: braces: !{{ is never closed: it stays as text"


@pytest.mark.rule("4.7")
@pytest.mark.parametrize(
    ("trusted", "changed"),
    [
        ("prompt = \"!{awk '{print}' a; true}\"", "prompt = \"!{awk '{print}' a; touch PWNED}\""),
        ("prompt = 'Go'", 'prompt = "\\u0021{touch PWNED}"'),
    ],
    ids=["behind a brace", "escaped"],
)
async def test_a_gemini_shell_part_that_changed_after_trust_is_refused(
    scene: Scene, around: Surroundings, trusted: str, changed: str
) -> None:
    path = gemini(scene, trusted)
    project = Project(scene.root, scene.start)
    places = Places(scene.home / ".config/harness", scene.base / "data", scene.base / "state", scene.base / "cache")
    store = TrustStore(places)
    store.grant(project)
    path.write_text(changed)
    assert not store.status(project).trusted
    library = scene.library(covers=lambda path, text: store.covers(project, path, text))
    found = await library.expand("/git/log", agents=around.agents, models=around.models, shell_gate=FakeShellGate())
    assert found.error == "untrusted"
    path.write_text(trusted)
    assert store.status(project).trusted


@pytest.mark.rule("3.6.10")
@pytest.mark.parametrize("mark", ["{{args}}", "{ARGS}", "${input:topic}", "!{git log}", "@{a.txt}", "${selection}"])
async def test_a_mark_of_another_tool_stays_as_it_is_with_a_hint(scene: Scene, around: Surroundings, mark: str) -> None:
    path = scene.write("root/.cursor/commands/x.md", f"---\ndescription: d\n---\nOne\nGo {mark} and {mark}\n")
    found = await expand(scene, "/x word", around)
    assert found.message == f"One\nGo {mark} and {mark}\n\nword"
    assert found.warnings[0].startswith(f"{path}:5: dialect: {mark} is a mark of another tool and stays as it is; ")


@pytest.mark.rule("3.6.10")
async def test_marks_in_a_fence_and_forms_of_ours_give_no_hint(scene: Scene, around: Surroundings) -> None:
    text = "```jinja\n{{args}} ${input:x}\n```\n$ARGUMENTS ${1} {{name}} {x} ${HOME} a!{b}"
    found = await expand_file(scene.write("x.md", text), "w", replace(around))
    assert found.warnings == ()


CODEX = "---\nargument-hint: FILE=<path> [MODE=<m>]\n---\nLook at $FILE as $MODE in $HOME: $1, $ARGUMENTS"


@pytest.mark.rule("4.4")
async def test_a_codex_prompt_takes_named_arguments_and_leaves_other_names(scene: Scene, around: Surroundings) -> None:
    scene.write("home/.codex/prompts/look.md", CODEX)
    found = await expand(scene, '/look FILE="a b.py" now MODE=$1 X=2', around)
    assert found.message == 'Look at a b.py as $1 in $HOME: now, FILE="a b.py" now MODE=$1 X=2'


@pytest.mark.rule("4.4")
async def test_an_announced_argument_that_is_missing_is_named_and_nothing_is_sent(
    scene: Scene, around: Surroundings
) -> None:
    scene.write("home/.codex/prompts/look.md", CODEX)
    found = await expand(scene, "/look FILE=a", around)
    assert (found.error, found.error_text, found.message) == ("missing-argument", "/look needs MODE=...", "")


@pytest.mark.rule("4.4")
async def test_a_codex_prompt_without_names_is_filled_by_position(scene: Scene, around: Surroundings) -> None:
    scene.write("root/.codex/prompts/say.md", "Say $1 then $2; $PATH stays")
    assert (await expand(scene, "/say a b c", around)).message == "Say a then b c; $PATH stays"
    scene.write("root/.claude/commands/say2.md", "Say $NAME")
    assert (await expand(scene, "/say2 NAME=x", around)).message == "Say $NAME\n\nNAME=x"


@pytest.mark.rule("3.6.10")
async def test_of_very_many_marks_the_first_twenty_are_told(scene: Scene, around: Surroundings) -> None:
    text = " ".join(f"${{input:x{number}}}" for number in range(5_000)) + " !{" * 40_000
    found = await expand_file(scene.write("x.md", text), "w", around)
    assert len([warning for warning in found.warnings if ": dialect: " in warning]) == 20
    assert found.message == f"{text}\n\nw"
