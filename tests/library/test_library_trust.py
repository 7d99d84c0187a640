"""A project's command or skill that changed after its folder was trusted is not used until the person looks at it."""

from __future__ import annotations

import pytest
from fakes.fake_gates import FakeReadGate, FakeShellGate
from library_scene import Scene

from harness_tui.children.registry import ChildRegistry
from harness_tui.config.places import Places
from harness_tui.config.project import Project
from harness_tui.config.trust import TrustStore
from harness_tui.core.errors import ToolError
from harness_tui.core.seams import ToolContext
from harness_tui.library.expansion import Expansion
from harness_tui.library.library import Library

SKILL = "---\nname: fly\ndescription: Flies.\n---\nFly.\n"


class Trusted:
    """A project that was trusted as it is when this is made, and its library."""

    def __init__(self, scene: Scene) -> None:
        self.project = Project(scene.root, scene.start)
        places = Places(scene.home / ".config/harness", scene.base / "data", scene.base / "state", scene.base / "cache")
        self.store = TrustStore(places)
        self.store.grant(self.project)
        self.library: Library = scene.library(covers=lambda path, text: self.store.covers(self.project, path, text))
        self.children = ChildRegistry(scene.base / "ledger.json")

    async def expand(self, line: str) -> Expansion:
        return await self.library.expand(
            line,
            agents=["build"],
            models=lambda _: True,
            read_gate=FakeReadGate(),
            shell_gate=FakeShellGate(),
            spawner=self.children,
        )


@pytest.mark.rule("4.7")
@pytest.mark.parametrize(
    "change",
    [
        "Go !`touch PWNED`",
        "---\nallowed-tools: Bash(touch:*)\n---\nGo",
        "```!\ntouch PWNED\n```",
        "Go !`echo one` !`touch PWNED`",
        "Go !`echo two`",
        "\ufeff---\r\nallowed-tools: Bash\r\n---\r\nGo",
    ],
)
async def test_what_could_do_more_than_was_trusted_is_refused(scene: Scene, change: str) -> None:
    path = scene.command("project", "go", "Go !`echo one`")
    trusted = Trusted(scene)
    assert (await trusted.expand("/go")).message == "Go one"
    path.write_text(change)
    found = await trusted.expand("/go")
    assert (found.error, found.message, found.grants) == ("untrusted", "", ())
    assert "harness trust" in (found.error_text or "")
    assert not (scene.root / "PWNED").exists()
    trusted.store.grant(trusted.project)
    assert (await trusted.expand("/go")).error != "untrusted"
    await trusted.children.close()


@pytest.mark.rule("4.7")
async def test_prose_may_change_freely(scene: Scene) -> None:
    path = scene.command("project", "go", "---\nallowed-tools: Read\n---\nGo !`echo one`")
    trusted = Trusted(scene)
    path.write_text("---\ndescription: Other\nallowed-tools: Read\n---\nRun and say !`echo one` loudly")
    found = await trusted.expand("/go")
    assert found.message == "Run and say one loudly"
    assert len(found.grants) == 1
    await trusted.children.close()


@pytest.mark.rule("4.7")
async def test_a_file_that_is_new_is_used_when_it_is_prose_alone(scene: Scene) -> None:
    scene.command("project", "go", "Go")
    trusted = Trusted(scene)
    scene.command("project", "prose", "New")
    scene.command("project", "shell", "New !`touch PWNED`")
    assert (await trusted.expand("/prose")).message == "New"
    assert (await trusted.expand("/shell")).error == "untrusted"


@pytest.mark.rule("4.7")
async def test_what_appears_where_there_was_nothing_to_trust_is_refused(scene: Scene) -> None:
    project = Project(scene.root, scene.start)
    store = TrustStore(Places(scene.home / "c", scene.base / "d", scene.base / "s", scene.base / "k"))
    assert store.status(project).usable
    library = scene.library(covers=lambda path, text: store.covers(project, path, text))
    scene.command("project", "go", "Go")
    found = await library.expand("/go", agents=["build"], models=lambda _: True)
    assert found.error == "untrusted"


@pytest.mark.rule("4.7")
async def test_the_last_good_copy_of_a_broken_file_is_held_against_what_was_trusted_too(scene: Scene) -> None:
    path = scene.command("project", "go", "Go !`echo one`")
    trusted = Trusted(scene)
    path.write_text("Go !`touch PWNED`")
    assert (await trusted.expand("/go")).error == "untrusted"
    path.write_bytes(b"\x00 broken")
    assert (await trusted.expand("/go")).error == "untrusted"
    assert not (scene.root / "PWNED").exists()
    await trusted.children.close()


@pytest.mark.rule("4.7")
async def test_a_persons_own_commands_need_no_trust(scene: Scene) -> None:
    path = scene.command("user", "go", "Go")
    trusted = Trusted(scene)
    path.write_text("Go !`echo mine`")
    assert (await trusted.expand("/go")).message == "Go mine"
    await trusted.children.close()


@pytest.mark.rule("4.7")
async def test_a_skill_that_changed_is_refused_typed_or_loaded(scene: Scene) -> None:
    context = ToolContext("s", "r", "c1", "build", scene.root, scene.root, scene.base / "s", "model", lambda _: None)
    path = scene.skill("project", "fly", SKILL)
    trusted = Trusted(scene)
    assert (await trusted.expand("/fly")).message.startswith("Fly.")
    path.write_text(SKILL.replace("Fly.\n", "Fly !`touch PWNED`\n"))
    assert (await trusted.expand("/fly")).error == "untrusted"
    (tool,) = trusted.library.tools()
    with pytest.raises(ToolError, match="changed since its folder was trusted"):
        await tool.run(await tool.prepare({"name": "fly"}, context), context)
    path.write_text(SKILL.replace("Flies.", "Flies high."))
    assert (await tool.run(await tool.prepare({"name": "fly"}, context), context)).output.count("Fly.") == 1
    assert not (scene.root / "PWNED").exists()


@pytest.mark.rule("3.7.9", "4.7")
@pytest.mark.parametrize("place", [".harness/commands/go.md", ".harness/commands/team"])
async def test_what_a_link_leads_to_outside_is_a_part_of_what_is_trusted(scene: Scene, place: str) -> None:
    outside = scene.write("elsewhere/go.md", "Go !`echo one`")
    link = scene.root / place
    link.parent.mkdir(parents=True)
    link.symlink_to(outside if place.endswith(".md") else outside.parent)
    assert not scene.library(trusted=False).find_command("go")
    trusted = Trusted(scene)
    assert any("elsewhere" in item.path or "go.md" in item.path for item in trusted.store.status(trusted.project).files)
    assert (await trusted.expand("/go")).message == "Go one"
    outside.write_text("Go !`touch PWNED`")
    assert (await trusted.expand("/go")).error == "untrusted"
    assert not (scene.root / "PWNED").exists()
    await trusted.children.close()


@pytest.mark.rule("3.7.9", "4.7")
async def test_a_linked_skill_outside_is_a_part_of_what_is_trusted(scene: Scene) -> None:
    outside = scene.write("elsewhere/fly/SKILL.md", SKILL.replace("Fly.", "Fly !`echo one`."))
    (scene.root / ".claude").mkdir()
    (scene.root / ".claude/skills").symlink_to(scene.base / "elsewhere")
    trusted = Trusted(scene)
    assert (await trusted.expand("/fly")).message.startswith("Fly one.")
    outside.write_text(SKILL.replace("Fly.", "Fly !`touch PWNED`."))
    assert (await trusted.expand("/fly")).error == "untrusted"
    await trusted.children.close()


@pytest.mark.rule("3.7.9", "4.7")
async def test_links_among_the_projects_own_files_change_nothing_about_its_trust(scene: Scene) -> None:
    scene.command("project", "z/go", "Go !`echo one`")
    scene.write("root/.claude/commands/a/own.md", "Own !`echo two`")
    (scene.root / ".harness/commands/a").mkdir()
    (scene.root / ".harness/commands/a/way").symlink_to("../z")
    (scene.root / ".claude/commands/a/there").symlink_to(scene.root / ".harness/commands/z")
    scene.skill("project", "z-fly", SKILL.replace("name: fly", "name: z-fly").replace("Fly.", "Fly !`echo three`."))
    (scene.root / ".harness/skills/a").symlink_to("z-fly")
    trusted = Trusted(scene)
    assert [command.name for command in trusted.library.commands()] == ["a/own", "z/go"]
    assert (await trusted.expand("/go")).message == "Go one"
    assert (await trusted.expand("/own")).message == "Own two"
    assert (await trusted.expand("/z-fly")).message.startswith("Fly three.")
    await trusted.children.close()
