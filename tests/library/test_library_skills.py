"""Skills: what is loaded, under which name, what the model is told, and what the tool gives."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from library_scene import Scene

from harness_tui.core.errors import ToolError
from harness_tui.core.seams import Tool, ToolContext, ToolResult
from harness_tui.core.values import AgentDefinition
from harness_tui.library.catalogue import catalogue_text
from harness_tui.library.skill_file import Skill, read_skill, slug
from harness_tui.library.skill_tool import SkillTool
from harness_tui.library.skills import hidden_reason, read_folder

BUILD = AgentDefinition("build")


def skill(scene: Scene, front: str, body: str = "Do it.\n", folder: str = "trim", file: str = "SKILL.md") -> Skill:
    path = scene.write(f"one/{folder}/{file}", f"---\n{front}\n---\n{body}")
    return read_skill(path, "user", trusted=True)


def told(found: Skill) -> str:
    return "\n".join(str(item) for item in found.diagnostics).lower()


@pytest.mark.rule("3.9.1")
def test_a_skill_by_the_book_has_nothing_to_say(scene: Scene) -> None:
    front = (
        "name: trim\ndescription: >\n  Shorten\n  logs.\nlicense: MIT\ncompatibility: any\n"
        "metadata:\n  author: me\nallowed-tools: Bash(git:*) Read\nversion: 2"
    )
    found = skill(scene, front)
    assert (found.loaded, found.name, found.description) == (True, "trim", "Shorten logs.")
    assert (found.license, found.compatibility, found.metadata) == ("MIT", "any", {"author": "me"})
    assert found.diagnostics == ()


@pytest.mark.rule("3.9.2", "3.8.9")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Trim", ["lowercase", "directory"]),
        ("trim logs", ["characters"]),
        ("trim--it", ["hyphen"]),
        ("trim-", ["hyphen"]),
        ("n" * 65, ["64"]),
        ("other", ["directory"]),
    ],
)
def test_a_name_that_breaks_a_rule_is_told_and_kept(scene: Scene, name: str, words: list[str]) -> None:
    found = skill(scene, f"name: {name}\ndescription: D.")
    assert (found.loaded, found.name) == (True, name)
    for word in words:
        assert word in told(found)


@pytest.mark.rule("3.9.3")
@pytest.mark.parametrize("name", ["a/b", "a\\b", "a<b", "b>", '"a\\x01b"', ""])
def test_a_name_that_cannot_be_one_gives_way_to_the_folders(scene: Scene, name: str) -> None:
    found = skill(scene, f"name: {name}\ndescription: D.")
    assert (found.loaded, found.name) == (True, "trim")
    assert "name" in told(found)


@pytest.mark.rule("3.9.3")
def test_names_are_compared_in_their_compatible_form(scene: Scene) -> None:
    found = skill(scene, "name: cafe\u0301\ndescription: D.", folder="caf\u00e9")
    assert found.name == "caf\u00e9"
    assert found.diagnostics == ()
    assert skill(scene, "name: 日誌\ndescription: D.", folder="日誌").diagnostics == ()


@pytest.mark.rule("3.9.1")
@pytest.mark.parametrize("front", ["name: trim", 'name: trim\ndescription: " "', "name: trim\ndescription: ~"])
def test_without_a_description_nothing_is_loaded(scene: Scene, front: str) -> None:
    found = skill(scene, front)
    assert found.loaded is False
    assert "description" in told(found)


@pytest.mark.rule("3.9.2", "3.8.9")
def test_lengths_count_in_characters(scene: Scene) -> None:
    assert skill(scene, f"name: trim\ndescription: {'é' * 1024}").diagnostics == ()
    long = skill(scene, f"name: trim\ndescription: {'é' * 1025}")
    assert (long.loaded, len(long.description)) == (True, 1025)
    assert "1024" in told(long)
    assert "500" in told(skill(scene, f"name: trim\ndescription: D.\ncompatibility: {'x' * 501}"))


@pytest.mark.rule("3.9.2", "3.8.9")
def test_odd_metadata_and_an_empty_body_are_told(scene: Scene) -> None:
    assert "metadata" in told(skill(scene, "name: trim\ndescription: D.\nmetadata: text"))
    found = skill(scene, "name: trim\ndescription: D.\nmetadata: {a: b, c: [d]}", body=" \n")
    assert found.metadata == {"a": "b"}
    assert "metadata" in told(found)
    assert "body" in told(found)
    assert found.loaded is True


@pytest.mark.rule("3.9.1")
@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("# Just text\n", "front matter"),
        ("---\nname: trim\ndescription: x\n\nBody", "front matter"),
        ("---\n- a\n---\nBody", "mapping"),
        ("---\nname: trim\ndescription: a\x00b\n---\n", "binary"),
    ],
)
def test_what_is_no_skill_is_not_loaded(scene: Scene, text: str, word: str) -> None:
    found = read_skill(scene.write("one/trim/SKILL.md", text), "user", trusted=True)
    assert found.loaded is False
    assert word in told(found)


@pytest.mark.rule("3.9.1")
def test_another_spelling_of_the_file_name(scene: Scene) -> None:
    lower = skill(scene, "name: trim\ndescription: D.", file="skill.md")
    assert lower.loaded is True
    assert "SKILL.md".lower() in told(lower)
    text = read_skill(scene.write("one/note/skill.md", "```\ncode\n```"), "user", trusted=True)
    assert (text.loaded, text.diagnostics) == (False, ())
    other = skill(scene, "name: big\ndescription: D.", folder="big", file="SKILL.MD")
    assert other.loaded is False
    assert "SKILL.md".lower() in told(other)


@pytest.mark.rule("3.9.13")
def test_skills_are_found_in_every_documented_place_nearest_first(scene: Scene) -> None:
    places = [
        "bundled/skills",
        "home/.claude/skills",
        "home/.config/opencode/skills",
        "home/.agents/skills",
        "home/.config/harness/skills",
        "root/.claude/skills",
        "root/.opencode/skills",
        "root/.agents/skills",
        "root/.harness/skill",
        "root/.harness/skills",
        "root/sub/.claude/skills",
    ]
    scene.write("root/sub/x", "")
    scene.start = scene.root / "sub"
    for number, place in enumerate(places):
        scene.write(f"{place}/s/SKILL.md", f"---\nname: s\ndescription: Number {number}.\n---\nx\n")
        library = scene.library()
        found = library.find_skill("s")
        assert found is not None
        assert found.path == scene.base / place / "s/SKILL.md"
        assert len([item for item in library.problems() if item.code == "shadowed"]) == number
    assert [item.code for item in library.problems() if item.level == "info"] == ["folder-name"]
    assert len(library.skills()) == len(places)


@pytest.mark.rule("3.9.14")
def test_copies_that_are_the_same_to_the_byte_are_no_warning(scene: Scene) -> None:
    scene.skill("user", "s")
    scene.skill("project", "s")
    library = scene.library()
    assert library.problems() == []
    assert sorted(item.hidden_reason or "" for item in library.skills()) == ["", "shadowed"]


@pytest.mark.rule("3.9.14")
def test_links_are_followed_and_each_real_file_counts_once(scene: Scene) -> None:
    scene.write("dotfiles/a/SKILL.md", "---\nname: a\ndescription: D.\n---\nx\n")
    scene.write("dotfiles/files/b.md", "---\nname: b\ndescription: D.\n---\nx\n")
    own = scene.home / ".config/harness/skills"
    own.mkdir(parents=True)
    os.symlink(scene.base / "dotfiles/a", own / "a")
    os.symlink(scene.base / "dotfiles/a", own / "again")
    os.symlink(own, own / "loop")
    (own / "b").mkdir()
    os.symlink(scene.base / "dotfiles/files/b.md", own / "b/SKILL.md")
    library = scene.library()
    assert [item.name for item in library.skills()] == ["a", "b"]
    assert [(item.code, item.path) for item in library.problems()] == [("link-loop", str(own / "loop"))]


@pytest.mark.rule("3.9.1")
def test_nested_and_foreign_skill_files_are_not_found(scene: Scene) -> None:
    scene.skill("user", "s")
    for inner in ("s/inner", "group/node_modules/dep", ".hidden"):
        scene.skill("user", inner)
    scene.skill("user", "group/real", "---\nname: real\ndescription: D.\n---\nx\n")
    assert [item.name for item in scene.library().skills()] == ["real", "s"]


@pytest.mark.rule("3.9.5")
def test_every_catalogue_name_leads_to_its_own_skill(scene: Scene) -> None:
    scene.skill("user", "alpha", "---\nname: beta\ndescription: From alpha.\n---\nx\n")
    scene.skill("user", "beta", "---\nname: Gamma Ray\ndescription: From beta.\n---\nx\n")
    library = scene.library()
    for name, folder in (("beta", "alpha"), ("Gamma Ray", "beta"), ("gamma-ray", "beta"), ("alpha", "alpha")):
        found = library.find_skill(name)
        assert found is not None
        assert found.folder.name == folder


@pytest.mark.rule("3.7.15")
def test_an_untrusted_skill_is_listed_and_cannot_be_used(scene: Scene) -> None:
    scene.skill("project", "s")
    library = scene.library(trusted=False)
    assert [item.hidden_reason for item in library.skills()] == ["untrusted"]
    assert library.find_skill("s") is None
    assert library.catalogue(BUILD) == ""
    assert list(library.tools()) == []


@pytest.mark.rule("3.7.16")
def test_an_edit_of_a_description_counts_at_the_next_look(scene: Scene) -> None:
    path = scene.skill("user", "s")
    library = scene.library()
    path.write_text("---\nname: s\ndescription: Quite another.\n---\nx\n")
    assert "Quite another." in library.catalogue(BUILD)


# --- the catalogue -----------------------------------------------------------------------------


@pytest.mark.rule("3.9.6")
def test_the_catalogue_is_sorted_escaped_and_clean(scene: Scene) -> None:
    scene.skill("user", "b", "---\nname: b\ndescription: Cut <b>logs</b> & more\n---\nx\n")
    scene.skill("user", "a", '---\nname: a\ndescription: "ring\\aring"\n---\nx\n')
    lines = scene.library().catalogue(BUILD).splitlines()
    assert lines[2:4] == [
        "<skill><name>a</name><description>ring ring</description></skill>",
        "<skill><name>b</name><description>Cut &lt;b&gt;logs&lt;/b&gt; &amp; more</description></skill>",
    ]


@pytest.mark.rule("3.9.6")
def test_a_long_description_is_cut_with_an_ellipsis(scene: Scene) -> None:
    scene.skill("user", "a", f"---\nname: a\ndescription: {'x' * 1100}\n---\nx\n")
    text = scene.library().catalogue(BUILD)
    assert f"<description>{'x' * 1023}…</description>" in text


@pytest.mark.rule("3.9.7")
def test_over_the_budget_descriptions_go_names_stay_and_a_line_says_so(scene: Scene) -> None:
    for number in range(60):
        scene.skill("user", f"s{number:02}", f"---\nname: s{number:02}\ndescription: {'word ' * 100}\n---\nx\n")
    library = scene.library()
    text = library.catalogue(BUILD, budget=12_000)
    assert text.count("<name>") == 60
    assert len(text) < 12_500
    assert "cut to 128 characters" in text
    bare = library.catalogue(BUILD, budget=100)
    assert bare.count("<name>") == 60
    assert "word" not in bare
    assert "the descriptions of 60 of 60 skills are omitted" in bare
    assert "cut to" not in library.catalogue(BUILD, budget=10**6)


@pytest.mark.rule("3.9.7")
def test_no_skills_give_no_catalogue() -> None:
    assert catalogue_text([]) == ""


@pytest.mark.rule("3.9.15")
@pytest.mark.parametrize(
    ("tools", "names"),
    [
        ({}, ["doc-a", "review-a", "review-b"]),
        ({"skill": ("review-*",)}, ["review-a", "review-b"]),
        ({"skill": False}, []),
        ({"*": False}, []),
        ({"*": False, "skill": True}, ["doc-a", "review-a", "review-b"]),
    ],
)
def test_an_agent_sees_only_its_skills(scene: Scene, tools: dict[str, Any], names: list[str]) -> None:
    for name in ("review-a", "review-b", "doc-a"):
        scene.skill("user", name)
    library = scene.library()
    agent = AgentDefinition("narrow", tools=tools)
    text = library.catalogue(agent)
    assert [name for name in ("doc-a", "review-a", "review-b") if f"<name>{name}</name>" in text] == names
    tool = library.skill_tool(library.offered(agent))
    assert (tool.spec.parameters["properties"]["name"]["enum"] if tool else []) == names


@pytest.mark.rule("3.9.15", "3.5.8")
def test_denied_and_manual_skills_are_not_told_of(scene: Scene) -> None:
    scene.skill("user", "a")
    scene.skill("user", "b")
    scene.skill("user", "c", "---\nname: c\ndescription: D.\ndisable-model-invocation: Yes\n---\nx\n")
    library = scene.library()

    def denied(name: str) -> bool:
        return name == "a"

    text = library.catalogue(BUILD, denied)
    assert ("<name>a" in text, "<name>b" in text, "<name>c" in text) == (False, True, False)
    reasons = {item.name: hidden_reason(item, BUILD, denied) for item in library.skills()}
    assert reasons == {"a": "denied", "b": None, "c": "manual only"}


# --- the tool ----------------------------------------------------------------------------------


@pytest.fixture
def context(scene: Scene) -> Callable[[str], ToolContext]:
    def make(session: str) -> ToolContext:
        return ToolContext(
            session, "run", "c1", "build", scene.root, scene.root, scene.base / session, "model", lambda event: None
        )

    return make


async def load(tool: SkillTool, name: str, context: ToolContext) -> ToolResult:
    return await tool.run(await tool.prepare({"name": name}, context), context)


@pytest.mark.rule("3.9.8")
async def test_the_tool_gives_the_body_with_its_name_folder_and_files(
    scene: Scene, context: Callable[[str], ToolContext]
) -> None:
    path = scene.skill("user", "s", "---\nname: s\ndescription: D.\n---\nUse $1 in ${CLAUDE_SKILL_DIR}.\n")
    for number in range(101):
        scene.write(f"home/.config/harness/skills/s/data/{number:03}.txt", "")
    scene.write("home/.config/harness/skills/s/.hidden", "")
    (tool,) = scene.library().tools()
    assert isinstance(tool, Tool)
    assert tool.spec.name == "skill"
    prepared = await tool.prepare({"name": "s"}, context("one"))
    assert [(check.permission, check.value) for check in prepared.checks] == [("skill", "s")]
    lines = (await tool.run(prepared, context("one"))).output.splitlines()
    folder = path.parent
    assert lines[:5] == [
        f'<skill name="s" folder="{folder}">',
        f"Use $1 in {folder}.",
        "</skill>",
        f"Folder of the skill: {folder}",
        "Files in it, not read yet:",
    ]
    assert lines[5] == "- data/000.txt"
    assert len([line for line in lines if line.startswith("- ")]) == 100
    assert lines[-1] == "[... 1 more files ...]"


@pytest.mark.rule("3.9.9")
async def test_the_same_skill_again_is_a_note_until_it_changes_or_is_forgotten(
    scene: Scene, context: Callable[[str], ToolContext]
) -> None:
    path = scene.skill("user", "s")
    library = scene.library()
    (tool,) = library.tools()
    one, two = context("one"), context("two")
    assert "Body of s." in (await load(tool, "s", one)).output
    again = await load(tool, "s", one)
    assert "Body of s." not in again.output
    assert "already" in again.output
    assert "Body of s." in (await load(tool, "s", two)).output
    path.write_text("---\nname: s\ndescription: D.\n---\nNew body.\n")
    assert "New body." in (await load(tool, "s", one)).output
    assert library.activations.active("one") == ["s"]
    library.activations.forget("one")
    assert "New body." in (await load(tool, "s", one)).output


@pytest.mark.rule("3.9.11")
async def test_active_skills_are_named_newest_first(scene: Scene, context: Callable[[str], ToolContext]) -> None:
    for name in ("a", "b"):
        scene.skill("user", name)
    library = scene.library()
    (tool,) = library.tools()
    for name in ("a", "b", "a"):
        await load(tool, name, context("one"))
    assert library.activations.active("one") == ["a", "b"]


@pytest.mark.rule("4.8")
@pytest.mark.parametrize("arguments", [{}, {"name": 3}, {"name": "ghost"}, {"name": "s", "path": "x"}])
async def test_wrong_arguments_are_told_to_the_model(
    scene: Scene, context: Callable[[str], ToolContext], arguments: dict[str, Any]
) -> None:
    scene.skill("user", "s")
    (tool,) = scene.library().tools()
    with pytest.raises(ToolError) as caught:
        await tool.prepare(arguments, context("one"))
    assert caught.value.mend


@pytest.mark.rule("3.9.15")
async def test_an_agent_cannot_load_what_it_is_not_told_of(scene: Scene, context: Callable[[str], ToolContext]) -> None:
    scene.skill("user", "s")
    scene.skill("user", "t")
    library = scene.library()
    tool = library.skill_tool(library.offered(BUILD, lambda name: name == "s"))
    assert tool is not None
    with pytest.raises(ToolError):
        await tool.prepare({"name": "s"}, context("one"))
    assert "Body of t." in (await load(tool, "t", context("one"))).output


@pytest.mark.rule("3.9.8")
async def test_a_long_body_is_cut_and_says_where_the_whole_is(
    scene: Scene, context: Callable[[str], ToolContext]
) -> None:
    path = scene.skill("user", "s", "---\nname: s\ndescription: D.\n---\n" + "line\n" * 3_000)
    (tool,) = scene.library().tools()
    result = await load(tool, "s", context("one"))
    assert len(result.output.encode()) <= 50 * 1024
    assert result.full_output == str(path)
    lines = result.output.splitlines()
    assert len(lines) <= 2_000
    assert lines[-2:] == ["</skill>", f"Folder of the skill: {path.parent}"]
    assert f"The text was cut; the whole is in {path}" in lines


@pytest.mark.rule("3.9.9")
async def test_a_skill_that_went_away_is_an_error_for_the_model(
    scene: Scene, context: Callable[[str], ToolContext]
) -> None:
    path = scene.skill("user", "s")
    (tool,) = scene.library().tools()
    prepared = await tool.prepare({"name": "s"}, context("one"))
    path.unlink()
    with pytest.raises(ToolError):
        await tool.run(prepared, context("one"))


@pytest.mark.rule("3.9.4")
@pytest.mark.parametrize(("name", "made"), [("Log Trimmer", "log-trimmer"), ("a__b!", "a-b"), ("ÄÖ x", "äö-x")])
def test_a_slug_is_lower_case_with_single_hyphens(name: str, made: str) -> None:
    assert slug(name) == made


@pytest.mark.rule("4.1")
def test_a_folder_is_read_as_one_skill_or_as_many(scene: Scene) -> None:
    scene.skill("user", "a")
    scene.skill("user", "b")
    own = scene.home / ".config/harness/skills"
    assert [item.name for item in read_folder(own).skills] == ["a", "b"]
    assert [item.name for item in read_folder(own / "a").skills] == ["a"]
    assert read_folder(Path(scene.root)).skills == ()
