"""What no project says, trusted or not: how new sessions ask, and how much room a person's sessions take."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("trusted", [True, False])
def test_a_project_has_no_say_in_the_mode_and_the_room_of_sessions(world, trusted):
    world.write_user("mode: plan\nsessions: {total_mb: 7}\n")
    path = world.write(".harness/config.yaml", "mode: accept-edits\nsessions: {total_mb: 1, session_mb: 1}\n")
    loaded = world.trusted() if trusted else world.load()
    settings = loaded.settings
    assert (settings.mode, settings.sessions.total_mb, settings.sessions.session_mb) == ("plan", 7, 1024)
    told = [(problem.where, problem.message) for problem in loaded.problems if problem.code == "not-in-project"]
    assert told == [
        (f"{path}:1", "mode: this is not read in a project"),
        (f"{path}:2", "sessions.total_mb: this is not read in a project"),
        (f"{path}:2", "sessions.session_mb: this is not read in a project"),
    ]


def test_an_agent_of_a_project_may_begin_narrower_and_never_wider(world):
    wide = world.write(".harness/agents/build.md", "---\ndescription: ours\nstart_mode: accept-edits\n---\nBe quick.\n")
    world.write(".harness/agents/careful.md", "---\ndescription: c\nstart_mode: plan\n---\nBe slow.\n")
    loaded = world.trusted()
    agents = loaded.settings.agents
    assert (agents["build"].prompt, agents["build"].start_mode) == ("Be quick.", None)
    assert agents["careful"].start_mode == "plan"
    (told,) = [problem for problem in loaded.problems if problem.code == "not-in-project"]
    assert told.where == f"{wide}:3"


def test_a_persons_own_agent_may_begin_in_any_mode(world):
    world.write_user("---\ndescription: q\nstart_mode: accept-edits\n---\nGo.\n", "agents/quick.md")
    assert world.load().settings.agents["quick"].start_mode == "accept-edits"


def test_a_file_that_the_person_names_sets_the_mode(world, tmp_path):
    (tmp_path / "ci.yaml").write_text("mode: accept-edits\n")
    world.environ["HARNESS_CONFIG"] = str(tmp_path / "ci.yaml")
    assert world.load().settings.mode == "accept-edits"
