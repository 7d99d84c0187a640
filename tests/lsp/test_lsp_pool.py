"""The pool over scripted servers: what the verdict says, and what the servers are told."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from harness_tui.config.settings import LspServerSettings
from harness_tui.core.errors import HarnessError
from harness_tui.core.events import DiagnosticsReported, Notice, ServerChanged
from harness_tui.lsp.lifecycle import Timings


def old(file: Path, text: str) -> Path:
    """Write a file that is older than any server: when it got its name cannot be set back."""
    file.write_text(text)
    os.utime(file, (1_000_000_000, 1_000_000_000))
    time.sleep(0.06)
    return file


def lines(verdict):
    return [(item.line, item.column, item.message) for item in verdict.items]


@pytest.mark.parametrize(
    ("script", "strategy"),
    [
        ({"push": True}, "push"),
        ({"push": True, "stamp": None}, "push"),
        ({"push": True, "stamp": 999}, "push"),
        ({"push": False, "pull": "static"}, "pull"),
        ({"push": False, "pull": "dynamic"}, "pull"),
        ({"push": False, "pull": "late"}, "pull"),
        ({"push": False, "pull": "static", "cancel": 2}, "pull"),
        ({"push": True, "pieces": True}, "push"),
        ({"push": True, "empty_first": True}, "push"),
    ],
)
async def test_an_error_is_found_however_the_server_reports(bench, scripted, script, strategy):
    (bench.project / "a.txt").write_text("fine\n  BAD one\n")
    pool = bench.pool(scripted(**script))

    first = await pool.diagnostics(Path("a.txt"))
    assert (first.path, first.verdict, lines(first)) == ("a.txt", "fresh", [(2, 3, "BAD one")])
    assert [(server.name, server.verdict, server.strategy) for server in first.servers] == [
        ("scripted", "fresh", strategy)
    ]

    (bench.project / "a.txt").write_text("BAD two\n")
    second = await pool.diagnostics(Path("a.txt"))
    assert (second.verdict, lines(second)) == ("fresh", [(1, 1, "BAD two")])

    (bench.project / "a.txt").write_text("mended\n")
    third = await pool.diagnostics(Path("a.txt"))
    assert (third.verdict, lines(third)) == ("fresh", [])


async def test_the_same_text_again_is_unchanged_and_keeps_its_items(bench, scripted):
    server = scripted()
    (bench.project / "a.txt").write_text("BAD\n")
    pool = bench.pool(server)
    await pool.diagnostics(Path("a.txt"))

    (bench.project / "a.txt").write_text("BAD\n")
    again = await pool.diagnostics(Path("a.txt"))

    assert (again.verdict, lines(again)) == ("unchanged", [(1, 1, "BAD")])
    assert server.received("textDocument/didChange") == []


async def test_a_time_out_is_unknown_and_the_late_answer_is_an_event(bench, scripted):
    (bench.project / "a.txt").write_text("BAD\n")
    pool = bench.pool(scripted(delay_first=2.5), cold_wait=0.3)

    started = time.monotonic()
    verdict = await pool.diagnostics(Path("a.txt"))

    assert time.monotonic() - started < 2
    assert (verdict.verdict, verdict.items) == ("unknown", ())
    assert verdict.reason is not None
    assert verdict.reason.startswith("scripted ")

    late = await bench.sink.wait_for(DiagnosticsReported)
    assert (late.late, late.path, late.verdict, late.servers) == (True, "a.txt", "fresh", ("scripted",))
    assert [(item.line, item.severity) for item in late.items] == [(1, "error")]

    # Nobody got it as a verdict yet, so the next question does.
    assert (await pool.diagnostics(Path("a.txt"))).verdict == "fresh"
    assert (await pool.diagnostics(Path("a.txt"))).verdict == "unchanged"


async def test_the_cold_wait_ends_with_the_first_verdict(bench, scripted):
    (bench.project / "a.txt").write_text("BAD\n")
    pool = bench.pool(scripted(delay_first=0.6, delay=0.0), wait=0.3, cold_wait=8.0)
    assert (await pool.diagnostics(Path("a.txt"))).verdict == "fresh"

    slow = bench.pool(scripted("slow", delay=0.6), wait=0.2, cold_wait=8.0)
    assert (await slow.diagnostics(Path("a.txt"))).verdict == "fresh"
    (bench.project / "a.txt").write_text("BAD BAD\n")
    assert (await slow.diagnostics(Path("a.txt"))).verdict == "unknown"


async def test_a_server_that_never_answers_costs_only_the_wait(bench, scripted):
    (bench.project / "a.txt").write_text("BAD\n")
    pool = bench.pool(scripted(push=False), cold_wait=0.4)
    for _ in range(2):
        started = time.monotonic()
        verdict = await pool.diagnostics(Path("a.txt"))
        assert time.monotonic() - started < 5
        assert verdict.verdict == "unknown"


async def test_quick_edits_give_the_verdict_of_the_last_text(bench, scripted):
    file = bench.project / "a.txt"
    file.write_text("start\n")
    pool = bench.pool(scripted(delay=0.05))
    await pool.diagnostics(Path("a.txt"))
    for number in range(5):
        file.write_text("BAD\n" * number + f"edit {number}\n")
        await pool.touch(file)
    verdict = await pool.diagnostics(Path("a.txt"))
    assert (verdict.verdict, len(verdict.items)) == ("fresh", 4)
    assert [event for event in bench.sink.of(DiagnosticsReported) if len(event.items) > 4] == []


async def test_two_askers_of_one_file_get_the_same_answer(bench, scripted):
    (bench.project / "a.txt").write_text("BAD\n")
    pool = bench.pool(scripted(delay=0.1))
    one, two = await asyncio.gather(pool.diagnostics(Path("a.txt")), pool.diagnostics(Path("a.txt")))
    assert lines(one) == lines(two) == [(1, 1, "BAD")]


async def test_servers_of_one_extension_answer_together_without_doubles(bench, scripted):
    (bench.project / "a.txt").write_text("BAD\n")
    pool = bench.pool(scripted("one", delay=1.0), scripted("two", delay=1.0, pull="static", push=False), wait=20.0)
    await pool.diagnostics(Path("a.txt"))
    (bench.project / "a.txt").write_text("x BAD\n")
    verdict = await pool.diagnostics(Path("a.txt"))
    assert lines(verdict) == [(1, 3, "x BAD")]
    assert [server.name for server in verdict.servers] == ["one", "two"]
    assert verdict.elapsed_ms < 1_900


async def test_a_fresh_and_a_silent_server_are_fresh_with_a_reason(bench, scripted):
    (bench.project / "a.txt").write_text("BAD\n")
    pool = bench.pool(scripted("quick"), scripted("silent", push=False), cold_wait=1.0)
    verdict = await pool.diagnostics(Path("a.txt"))
    assert (verdict.verdict, lines(verdict)) == ("fresh", [(1, 1, "BAD")])
    assert verdict.reason == "silent has not answered after 1 s"


async def test_an_explicit_wait_beats_the_configured_ones(bench, scripted):
    (bench.project / "a.txt").write_text("BAD\n")
    pool = bench.pool(scripted(push=False), cold_wait=20.0, wait=20.0)
    verdict = await pool.diagnostics(Path("a.txt"), 0.5)
    assert verdict.verdict == "unknown"
    assert verdict.elapsed_ms < 10_000


async def test_a_touch_returns_at_once_and_warms_the_server(bench, scripted):
    server = scripted()
    (bench.project / "a.txt").write_text("BAD\n")
    pool = bench.pool(server)
    await pool.touch(bench.project / "a.txt")
    assert server.started() == []
    await bench.sink.wait_for(ServerChanged, lambda event: event.state == "warming")
    async with asyncio.timeout(5):
        while not server.received("textDocument/didOpen"):
            await asyncio.sleep(0.01)
    assert len(server.started()) == 1


async def test_states_are_reported_in_order(bench, scripted):
    (bench.project / "a.txt").write_text("fine\n")
    pool = bench.pool(scripted())
    await pool.diagnostics(Path("a.txt"))
    await pool.close()
    changes = bench.sink.of(ServerChanged)
    assert [change.state for change in changes] == ["starting", "warming", "ready", "stopped"]
    assert {(change.kind, change.name, change.detail.root) for change in changes} == {
        ("lsp", "scripted", str(bench.project))
    }
    assert changes[1].detail.pid is not None


async def test_a_long_question_shows_the_server_as_busy(bench, scripted):
    (bench.project / "a.txt").write_text("fine\n")
    pool = bench.pool(scripted(delay=0.2), timings=Timings(busy=0.05))
    await pool.diagnostics(Path("a.txt"))
    (bench.project / "a.txt").write_text("BAD\n")
    await pool.diagnostics(Path("a.txt"))
    states = [change.state for change in bench.sink.of(ServerChanged)]
    assert states == ["starting", "warming", "ready", "busy", "ready"]


# --- what servers are told -----------------------------------------------------------------------


async def test_a_file_that_others_wrote_is_sent_before_the_next_verdict(bench, scripted):
    server = scripted()
    one, two = bench.project / "one.txt", bench.project / "two.txt"
    one.write_text("fine\n")
    two.write_text("fine\n")
    pool = bench.pool(server)
    await pool.diagnostics(one)
    await pool.diagnostics(two)

    one.write_text("BAD by a command\n")
    await pool.diagnostics(two)

    changes = server.received("textDocument/didChange")
    assert changes[0]["textDocument"] == {"uri": one.as_uri(), "version": 2}
    assert changes[0]["contentChanges"] == [{"text": "BAD by a command\n"}]
    late = await bench.sink.wait_for(DiagnosticsReported)
    assert (late.path, late.late, len(late.items)) == ("one.txt", True, 1)


async def test_a_change_is_announced_then_sent_then_saved(bench, scripted):
    server = scripted(save=True)
    file = old(bench.project / "a.txt", "one\n")
    pool = bench.pool(server)
    await pool.diagnostics(file)
    file.write_text("two\n")
    await pool.diagnostics(file)
    told = [
        message["method"]
        for message in server.received()
        if message.get("method", "").startswith(("textDocument/did", "workspace/didChangeWatched"))
    ]
    assert told == [
        "textDocument/didOpen",
        "workspace/didChangeWatchedFiles",
        "textDocument/didChange",
        "textDocument/didSave",
    ]


async def test_a_file_written_while_the_server_runs_is_saved_when_it_is_opened(bench, scripted):
    server = scripted(save=True)
    first = old(bench.project / "first.txt", "fine\n")
    pool = bench.pool(server)
    await pool.diagnostics(first)
    new = bench.project / "new.txt"
    new.write_text("fine\n")
    await pool.diagnostics(new)
    await pool.close()
    assert server.received("textDocument/didSave") == [{"textDocument": {"uri": new.as_uri()}}]


async def test_a_file_that_is_deleted_and_written_again_during_a_question_gets_the_answer_for_the_new_text(
    bench, scripted
):
    server = scripted(push=False, pull="static", delay=0.5)
    file = bench.project / "a.txt"
    file.write_text("é BAD\n")
    pool = bench.pool(server, wait=20.0)
    asking = asyncio.create_task(pool.diagnostics(file))
    async with asyncio.timeout(10):
        while not server.received("textDocument/diagnostic"):
            await asyncio.sleep(0.02)
    file.unlink()
    await pool.touch(file)
    file.write_text("BAD and BAD\n")
    await pool.touch(file)
    assert lines(await asking) == [(1, 1, "BAD and BAD"), (1, 9, "BAD and BAD")]


async def test_a_created_file_is_announced_as_created_also_to_servers_of_other_extensions(bench, scripted):
    here, other = scripted("here"), scripted("other", extensions=(".cfg",), watch=["**/*.txt"])
    uninterested = scripted("uninterested", extensions=(".ini",), watch=["**/*.md"])
    for name in ("a.txt", "a.cfg", "a.ini"):
        old(bench.project / name, "fine\n")
    pool = bench.pool(here, other, uninterested)
    for name in ("a.txt", "a.cfg", "a.ini"):
        await pool.diagnostics(Path(name))

    new = bench.project / "new.txt"
    new.write_text("fine\n")
    await pool.diagnostics(new)
    await pool.diagnostics(Path("a.cfg"))
    await pool.diagnostics(Path("a.ini"))

    created = [{"changes": [{"uri": new.as_uri(), "type": 1}]}]
    assert here.received("workspace/didChangeWatchedFiles") == created
    assert other.received("workspace/didChangeWatchedFiles") == created
    assert uninterested.received("workspace/didChangeWatchedFiles") == []


async def test_a_file_as_old_as_the_server_is_not_announced(bench, scripted):
    server = scripted()
    file = old(bench.project / "a.txt", "fine\n")
    await bench.pool(server).diagnostics(file)
    assert server.received("workspace/didChangeWatchedFiles") == []


async def test_a_file_that_comes_again_or_by_another_name_is_a_new_one(bench, scripted):
    server = scripted(watch=["**/*.txt"])
    file = old(bench.project / "a.txt", "fine\n")
    before = old(bench.project / "before.txt", "fine\n")
    pool = bench.pool(server)
    await pool.diagnostics(file)
    file.unlink()
    await pool.touch(file)
    file.write_text("BAD\n")
    assert len((await pool.diagnostics(file)).items) == 1
    before.rename(bench.project / "after.txt")  # as old as it was, and never seen under this name
    await pool.diagnostics(Path("after.txt"))
    events = [change for params in server.received("workspace/didChangeWatchedFiles") for change in params["changes"]]
    assert [(change["uri"].rpartition("/")[2], change["type"]) for change in events] == [
        ("a.txt", 3),
        ("a.txt", 1),
        ("after.txt", 1),
    ]


async def test_a_deleted_file_is_closed_and_skipped(bench, scripted):
    server = scripted()
    file = old(bench.project / "a.txt", "BAD\n")
    pool = bench.pool(server)
    await pool.diagnostics(file)
    file.unlink()
    verdict = await pool.diagnostics(file)
    assert (verdict.verdict, verdict.items, verdict.reason) == ("skipped", (), "the file is not there")
    assert pool.open_paths() == []
    await pool.close()  # nothing is read of what it still has to read before that
    assert server.received("workspace/didChangeWatchedFiles") == [{"changes": [{"uri": file.as_uri(), "type": 3}]}]
    assert server.received("textDocument/didClose") == [{"textDocument": {"uri": file.as_uri()}}]


async def test_an_unchanged_file_is_shown_again_to_a_pushing_server_after_another_one_changed(bench, scripted):
    server = scripted()
    one, two = bench.project / "one.txt", bench.project / "two.txt"
    one.write_text("BAD\n")
    two.write_text("fine\n")
    pool = bench.pool(server)
    await pool.diagnostics(one)
    await pool.diagnostics(two)
    two.write_text("other\n")
    await pool.diagnostics(two)
    verdict = await pool.diagnostics(one)
    assert (verdict.verdict, lines(verdict)) == ("unchanged", [(1, 1, "BAD")])
    assert [change["textDocument"]["uri"] for change in server.received("textDocument/didChange")] == [
        two.as_uri(),
        one.as_uri(),
    ]


async def test_at_most_sixty_four_documents_stay_open(bench, scripted):
    server = scripted(pull="static", push=False)
    pool = bench.pool(server)
    files = [bench.project / f"{number:02}.txt" for number in range(66)]
    for file in files:
        file.write_text("fine\n")
        await pool.diagnostics(file)
    assert pool.open_paths() == files[2:]
    assert [entry["textDocument"]["uri"] for entry in server.received("textDocument/didClose")] == [
        files[0].as_uri(),
        files[1].as_uri(),
    ]


async def test_columns_are_code_points_in_either_encoding(bench, scripted):
    (bench.project / "a.txt").write_text("😀é漢 BAD\n")
    utf8, utf16 = scripted("utf8", encoding="utf-8"), scripted("utf16")
    for server in (utf8, utf16):
        pool = bench.pool(server)
        verdict = await pool.diagnostics(Path("a.txt"))
        assert [(item.line, item.column, item.end_column) for item in verdict.items] == [(1, 5, 8)]


async def test_odd_names_and_a_linked_root_keep_the_given_path(bench, scripted, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(bench.project)
    name = "sp ace é漢 # %41 +@[x].txt"
    (bench.project / name).write_text("BAD\n")
    pool = bench.pool(scripted(), root=link)
    assert (await pool.diagnostics(Path(name))).path == name
    by_target = await pool.diagnostics(bench.project / name)
    assert (by_target.path, len(by_target.items)) == (name, 1)
    assert len(pool.status()) == len({(entry.name, entry.root) for entry in pool.status()})


# --- whom to ask ---------------------------------------------------------------------------------


async def test_a_repository_of_packages_gets_one_server(bench, scripted):
    server = scripted()
    entry = LspServerSettings("scripted", server.settings.command, server.settings.extensions, roots=("marker",))
    (bench.project / "marker").touch()
    files = []
    for number in range(5):
        folder = bench.project / f"package{number}"
        folder.mkdir()
        (folder / "marker").touch()
        (folder / "a.txt").write_text("BAD\n")
        files.append(folder / "a.txt")
    pool = bench.pool(entry)
    verdicts = await asyncio.gather(*(pool.diagnostics(file) for file in files))
    assert [verdict.path for verdict in verdicts] == [f"package{number}/a.txt" for number in range(5)]
    assert len(server.started()) == 1


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("none.txt", None, "the file is not there"),
        ("bin.txt", b"a\0b", "the file is binary"),
        ("latin.txt", b"caf\xe9\n", "the file is not UTF-8"),
        ("big.txt", b"x" * 1_048_577, "1048577 bytes are more than the limit of 1048576"),
        ("x.unknown", b"x", "no language server for .unknown files"),
        ("Makefile", b"x", "no language server for Makefile files"),
        ("../outside.txt", b"x", "it is outside the project"),
    ],
)
async def test_what_cannot_be_checked_is_skipped_with_the_reason(bench, scripted, name, data, reason):
    if data is not None:
        (bench.project / name).write_bytes(data)
    verdict = await bench.pool(scripted()).diagnostics(Path(name))
    assert (verdict.verdict, verdict.items, verdict.reason) == ("skipped", (), reason)


async def test_a_link_that_leaves_the_project_is_outside(bench, scripted, tmp_path):
    (tmp_path / "secret.txt").write_text("BAD\n")
    (bench.project / "link.txt").symlink_to(tmp_path / "secret.txt")
    verdict = await bench.pool(scripted()).diagnostics(Path("link.txt"))
    assert (verdict.verdict, verdict.reason) == ("skipped", "it is outside the project")


async def test_a_missing_server_is_skipped_and_says_what_to_install(bench):
    (bench.project / "a.foo").write_text("x\n")
    entry = LspServerSettings("foo", command=("no-such-foo-server",), extensions=("foo",))
    pool = bench.pool(entry)
    verdict = await pool.diagnostics(Path("a.foo"))
    assert verdict.verdict == "skipped"
    assert verdict.reason == "no language server found for .foo: install no-such-foo-server"
    status = next(entry for entry in pool.status() if entry.name == "foo")
    assert (status.state, status.reason) == ("absent", "no-such-foo-server was not found")
    assert bench.sink.events == []


async def test_an_entry_of_an_untrusted_folder_never_starts(bench, scripted):
    server = scripted()
    entry = LspServerSettings("scripted", server.settings.command, (".txt",), trusted=False)
    (bench.project / "a.txt").write_text("BAD\n")
    pool = bench.pool(entry)
    await pool.touch(Path("a.txt"))
    verdict = await pool.diagnostics(Path("a.txt"))
    assert (verdict.verdict, verdict.reason) == (
        "skipped",
        "no language server for .txt: scripted: the folder that configures it is not trusted",
    )
    assert server.started() == []


async def test_turned_off_means_no_server_and_no_tool(bench, scripted):
    server = scripted()
    (bench.project / "a.txt").write_text("BAD\n")
    pool = bench.pool(server, enabled=False)
    verdict = await pool.diagnostics(Path("a.txt"))
    assert (verdict.verdict, verdict.reason) == ("skipped", "language servers are turned off")
    assert pool.tools() == ()
    assert server.started() == []


async def test_a_restart_is_a_new_process_that_knows_the_open_files(bench, scripted):
    server = scripted()
    (bench.project / "a.txt").write_text("BAD\n")
    pool = bench.pool(server)
    await pool.diagnostics(Path("a.txt"))
    await pool.restart("scripted")
    assert len(server.started()) == 2
    assert pool.open_paths() == [bench.project / "a.txt"]
    verdict = await pool.diagnostics(Path("a.txt"))
    assert (verdict.verdict, len(verdict.items)) == ("fresh", 1)
    with pytest.raises(HarnessError, match="there is no language server nobody"):
        await pool.restart("nobody")


async def test_an_unused_server_is_stopped_and_starts_again_when_asked(bench, scripted):
    server = scripted()
    (bench.project / "a.txt").write_text("BAD\n")
    pool = bench.pool(server, timings=Timings(idle=0.3))
    await pool.diagnostics(Path("a.txt"))
    await bench.sink.wait_for(ServerChanged, lambda event: event.reason == "was not used for a while")
    verdict = await pool.diagnostics(Path("a.txt"))
    assert (verdict.verdict, len(server.started())) == ("fresh", 2)
    assert bench.sink.of(Notice) == []


async def test_a_closed_pool_answers_skipped_and_starts_nothing(bench, scripted):
    server = scripted()
    (bench.project / "a.txt").write_text("BAD\n")
    pool = bench.pool(server)
    await pool.close()
    assert (await pool.diagnostics(Path("a.txt"))).verdict == "skipped"
    assert server.started() == []


async def test_a_server_that_a_person_stopped_starts_only_when_it_is_restarted(bench, scripted):
    server = scripted()
    (bench.project / "a.txt").write_text("BAD\n")
    pool = bench.pool(server)
    await pool.diagnostics(Path("a.txt"))
    await pool.stop("scripted")
    (status,) = [entry for entry in pool.status() if entry.name == "scripted"]
    assert (status.state, status.reason, status.pid) == ("stopped", "was stopped by a person", None)
    await pool.touch(Path("a.txt"))
    verdict = await pool.diagnostics(Path("a.txt"))
    assert (verdict.verdict, verdict.reason) == ("unknown", "scripted was stopped by a person")
    assert len(server.started()) == 1
    await pool.restart("scripted")
    assert ((await pool.diagnostics(Path("a.txt"))).verdict, len(server.started())) == ("fresh", 2)
    with pytest.raises(HarnessError, match="there is no language server nobody"):
        await pool.stop("nobody")
    assert bench.sink.of(Notice) == []


async def test_a_server_that_a_person_stopped_starts_at_no_other_root(bench, scripted):
    server = scripted()
    server.settings = replace(server.settings, roots=("mark",))
    for name in ("one", "two"):
        (bench.project / name).mkdir()
        (bench.project / name / "mark").touch()
        (bench.project / name / "a.txt").write_text("BAD\n")
    pool = bench.pool(server)
    assert (await pool.diagnostics(Path("one/a.txt"))).verdict == "fresh"
    await pool.stop("scripted")
    assert (await pool.diagnostics(Path("two/a.txt"))).reason == "scripted was stopped by a person"
    assert len(server.started()) == 1
    await pool.restart("scripted")
    assert (await pool.diagnostics(Path("two/a.txt"))).verdict == "fresh"


async def test_a_server_that_is_too_large_is_started_anew_once_and_then_left_alone(bench, scripted):
    (bench.project / "a.txt").write_text("BAD\n")
    pool = bench.pool(scripted(), timings=Timings(rest=0.05, look=0.1), memory_mb=1)
    await pool.diagnostics(Path("a.txt"))
    (first,) = pool.running()
    pid = first.pid

    await bench.sink.wait_for(Notice, lambda notice: "left alone" in notice.text)
    again, alone = [notice.text.split(" MiB ") for notice in bench.sink.of(Notice)]

    assert (again[1], alone[1]) == ("and was started anew", "again and is left alone")
    assert int(again[0].removeprefix("scripted used ")) > 1
    assert (first.pid != pid, first.restarts) == (True, 1)
    assert (await pool.diagnostics(Path("a.txt"))).items != ()


@pytest.mark.parametrize(("offers", "whole"), [(2, False), (1, True)])
async def test_of_a_large_text_the_changed_lines_are_sent_where_the_server_takes_them(bench, scripted, offers, whole):
    server = scripted(sync=offers)
    text = "fine\n" * 50_000
    (bench.project / "a.txt").write_text(text)
    pool = bench.pool(server)
    await pool.diagnostics(Path("a.txt"))
    (bench.project / "a.txt").write_text(f"{text}  BAD\n")
    verdict = await pool.diagnostics(Path("a.txt"))

    assert lines(verdict) == [(50_001, 3, "BAD")]
    (change,) = server.received("textDocument/didChange")[0]["contentChanges"]
    assert ("range" not in change, len(change["text"]) > 200_000) == (whole, whole)
