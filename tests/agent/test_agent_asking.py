"""What a person allows is what they were shown: a diff that no longer holds is asked about anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness_tui.core.event_parts import DiffPreview, FileEdit
from harness_tui.core.events import (
    Notice,
    PermissionRequested,
    PermissionResolved,
    RunFinished,
    SessionChanged,
    ToolFinished,
)
from harness_tui.core.intents import Answer, CallTool, Cancel, Submit

EDIT = {"name": "edit", "arguments": {"path": "src/a.txt", "old": "two", "new": "TWO"}}
SCRIPT: dict[str, Any] = {
    "turns": [
        {"tools": [{"name": "read", "arguments": {"path": "src/a.txt"}}]},
        {"tools": [EDIT]},
        {"text": "ok"},
    ]
}


async def asked_about_the_edit(stage: Any, script: dict[str, Any] = SCRIPT) -> tuple[Any, Path, Any]:
    play = await stage(script, policy="person")
    file = play.project / "src" / "a.txt"
    file.parent.mkdir()
    file.write_text("one\ntwo\n")
    await play.send(Submit("go"))
    return play, file, await play.next(PermissionRequested)


def diff_of(request: Any) -> str:
    assert isinstance(request.preview, DiffPreview)
    return request.preview.text.split("\n", 2)[2]  # what comes after the names


async def test_a_file_that_changed_while_its_diff_was_looked_at_is_asked_about_anew(stage: Any) -> None:
    play, file, first = await asked_about_the_edit(stage)
    assert diff_of(first) == "@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n"
    file.write_text("zero\none\ntwo\n")
    await play.send(Answer(first.request, "allow"))
    second = await play.next(PermissionRequested)
    assert diff_of(second) == "@@ -1,3 +1,3 @@\n zero\n one\n-two\n+TWO\n"
    assert second.reason == "It changed while you looked: this is what would be done now."
    assert (second.call, second.request != first.request) == (first.call, True)
    assert file.read_text() == "zero\none\ntwo\n"
    await play.send(Answer(second.request, "allow"))
    assert (await play.next(RunFinished)).reason == "completed"
    assert file.read_text() == "zero\none\nTWO\n"
    resolved = [event for event in play.of(PermissionResolved) if event.call == first.call]
    assert [(event.request, event.decision) for event in resolved] == [(second.request, "allow")]
    told = play.requests()[-1]["messages"][-1]["text"]
    assert "changed by somebody else after you read it" in told


async def test_an_approval_of_what_no_longer_holds_is_not_kept(stage: Any) -> None:
    play, file, first = await asked_about_the_edit(stage)
    file.write_text("one\ntwo\nthree\n")
    await play.send(Answer(first.request, "allow", scope="session"))
    second = await play.next(PermissionRequested)
    assert play.workspace.approvals.list() == []
    await play.send(Answer(second.request, "deny", note="leave it"))
    assert (await play.next(RunFinished)).reason == "completed"
    assert file.read_text() == "one\ntwo\nthree\n"
    assert play.workspace.approvals.list() == []


async def test_an_edit_that_no_longer_fits_is_told_to_the_model_and_asked_no_more(stage: Any) -> None:
    play, file, first = await asked_about_the_edit(stage)
    file.write_text("something else\n")
    await play.send(Answer(first.request, "allow"))
    assert (await play.next(RunFinished)).reason == "completed"
    assert file.read_text() == "something else\n"
    assert len(play.of(PermissionRequested)) == 1
    (resolved,) = [event for event in play.of(PermissionResolved) if event.call == first.call]
    assert (resolved.decision, resolved.request) == ("deny", first.request)
    assert resolved.note.startswith("it changed while it was looked at:")
    result = play.of(ToolFinished)[-1]
    assert result.is_error
    assert "old" in result.output


async def test_a_file_that_came_or_went_meanwhile_is_never_written_over_in_silence(stage: Any) -> None:
    play = await stage({"turns": [{"text": "ok"}]}, policy="person")
    await play.send(CallTool("write", {"path": "new.txt", "content": "mine\n"}))
    first = await play.next(PermissionRequested)
    assert first.preview.before_hash is None
    (play.project / "new.txt").write_text("theirs\n")
    await play.send(Answer(first.request, "allow"))
    second = await play.next(PermissionRequested)
    assert diff_of(second) == "@@ -1 +1 @@\n-theirs\n+mine\n"
    await play.send(Answer(second.request, "deny"))
    await play.next(RunFinished)
    assert (play.project / "new.txt").read_text() == "theirs\n"


async def test_a_path_that_leads_elsewhere_meanwhile_is_refused(stage: Any, tmp_path: Path) -> None:
    play, file, first = await asked_about_the_edit(stage)
    other = tmp_path / "other.txt"
    other.write_text("two\n")
    file.unlink()
    file.symlink_to(other)
    await play.send(Answer(first.request, "allow"))
    assert (await play.next(RunFinished)).reason == "completed"
    assert other.read_text() == "two\n"
    assert len(play.of(PermissionRequested)) == 1


async def test_a_cancel_while_it_is_asked_anew_resolves_the_call_once(stage: Any) -> None:
    play, file, first = await asked_about_the_edit(stage)
    file.write_text("two\n")
    await play.send(Answer(first.request, "allow"))
    second = await play.next(PermissionRequested)
    await play.send(Cancel())
    assert (await play.next(RunFinished)).reason == "cancelled"
    resolved = [event for event in play.of(PermissionResolved) if event.call == first.call]
    assert [(event.request, event.decision) for event in resolved] == [(second.request, "deny")]


async def test_the_offered_mode_is_taken_by_the_session_and_the_next_edit_is_not_asked_about(stage: Any) -> None:
    script: dict[str, Any] = {
        "turns": [
            *SCRIPT["turns"][:2],
            {"tools": [EDIT | {"arguments": {"path": "src/a.txt", "old": "one", "new": "ONE"}}]},
            {"text": "ok"},
        ]
    }
    play, file, first = await asked_about_the_edit(stage, script)
    place = next(index for index, offer in enumerate(first.offers) if offer.mode == "accept-edits")
    assert (first.offers[place].scope, first.offers[place].rules) == ("session", ())
    await play.send(Answer(first.request, "allow", scope="session", offer=place))
    assert (await play.next(RunFinished)).reason == "completed"
    assert file.read_text() == "ONE\nTWO\n"
    assert len(play.of(PermissionRequested)) == 1
    assert [event.mode for event in play.of(SessionChanged) if event.mode == "accept-edits"] == ["accept-edits"]
    assert "the session is in the mode accept-edits from here on" in [event.text for event in play.of(Notice)]
    assert [event.scope for event in play.of(PermissionResolved) if event.request] == ["session"]
    assert play.workspace.approvals.list() == []


async def test_without_its_place_an_answer_for_the_session_means_the_rule_and_not_the_mode(stage: Any) -> None:
    play, _, first = await asked_about_the_edit(stage)
    await play.send(Answer(first.request, "allow", scope="session"))
    assert (await play.next(RunFinished)).reason == "completed"
    assert [one.rule.pattern for one in play.workspace.approvals.list()] == ["src/a.txt"]
    assert play.live.choice.mode == "ask"


async def test_what_a_person_altered_is_written_recorded_and_told_to_the_model(stage: Any) -> None:
    play, file, first = await asked_about_the_edit(stage)
    (proposed,) = await play.live.proposal(first.request)
    assert (proposed.path, proposed.before, proposed.after) == ("src/a.txt", "one\ntwo\n", "one\nTWO\n")
    await play.send(Answer(first.request, "allow", edits=(FileEdit("src/a.txt", "one\nzwei\n"),)))
    assert (await play.next(RunFinished)).reason == "completed"
    assert file.read_text() == "one\nzwei\n"
    (resolved,) = [event for event in play.of(PermissionResolved) if event.call == first.call]
    assert (resolved.decision, resolved.edited) == ("allow", ("src/a.txt",))
    told = play.requests()[-1]["messages"][-1]["text"]
    assert "The person changed your proposal before they allowed it" in told
    assert "-TWO\n+zwei" in told
    assert await play.live.proposal(first.request) == ()


async def test_an_altered_text_that_cannot_be_written_is_asked_about_again_and_nothing_is_written(stage: Any) -> None:
    play, file, first = await asked_about_the_edit(stage)
    await play.send(Answer(first.request, "allow", edits=(FileEdit("src/a.txt", "one\ntwo\n"),)))
    second = await play.next(PermissionRequested)
    assert second.reason == (
        "What you wrote cannot be used: nothing of the change is left (say no, or leave something of it in)"
    )
    assert file.read_text() == "one\ntwo\n"
    assert len(await play.live.proposal(second.request)) == 1
    await play.send(Answer(second.request, "deny", note="leave it"))
    assert (await play.next(RunFinished)).reason == "completed"
    assert file.read_text() == "one\ntwo\n"


async def test_a_file_that_changed_is_asked_about_anew_although_the_person_altered_the_text(stage: Any) -> None:
    play, file, first = await asked_about_the_edit(stage)
    file.write_text("zero\none\ntwo\n")
    await play.send(Answer(first.request, "allow", edits=(FileEdit("src/a.txt", "one\nzwei\n"),)))
    second = await play.next(PermissionRequested)
    assert file.read_text() == "zero\none\ntwo\n"
    await play.send(Answer(second.request, "allow", edits=(FileEdit("src/a.txt", "zero\none\nzwei\n"),)))
    assert (await play.next(RunFinished)).reason == "completed"
    assert file.read_text() == "zero\none\nzwei\n"


async def test_what_cannot_be_altered_is_not_run_as_it_was(stage: Any) -> None:
    script = {"turns": [{"tools": [{"name": "bash", "arguments": {"command": "touch made"}}]}, {"text": "ok"}]}
    play = await stage(script, policy="person")
    await play.send(Submit("go"))
    first = await play.next(PermissionRequested)
    assert first.asked_by == ("bash * ask (bundled)", "edit * ask (bundled)")
    await play.send(Answer(first.request, "allow", edits=(FileEdit("made", "x"),)))
    second = await play.next(PermissionRequested)
    assert second.reason == "This call cannot be altered: it is asked about as it is."
    assert not (play.project / "made").exists()
    await play.send(Answer(second.request, "deny", note="no"))
    await play.next(RunFinished)
