"""The ways to an answer that single servers offer: a command that answers at once, a word on when it has finished."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from harness_tui.core.events import DiagnosticsReported


def lines(verdict):
    return [(item.line, item.column, item.message) for item in verdict.items]


def strategies(verdict):
    return [server.strategy for server in verdict.servers]


@pytest.mark.parametrize("failures", [0, 3, 6])
async def test_a_server_with_a_command_for_its_compiler_is_asked_by_it(bench, scripted, failures):
    file = bench.project / "a.txt"
    file.write_text("fine\n  😀 BAD one\n")
    # What it pushes is wrong and has no version: it must not count.
    pool = bench.pool(scripted(tsserver=failures, push=True, stamp=None, empty_first=True))
    first = await pool.diagnostics(file)
    assert (first.verdict, lines(first), strategies(first)) == ("fresh", [(2, 5, "😀 BAD one")], ["tsserver"])
    assert [(item.code, item.source, item.severity) for item in first.items] == [("2322", "typescript", "error")]
    for text in ("mended\n", "still fine\n"):
        file.write_text(text)
        again = await pool.diagnostics(file)
        assert (again.verdict, lines(again), strategies(again)) == ("fresh", [], ["tsserver"])


async def test_a_command_that_is_refused_every_time_is_given_up_for_what_is_pushed(bench, scripted):
    (bench.project / "a.txt").write_text("BAD one\n")
    pool = bench.pool(scripted(tsserver=1000, push=True))
    verdict = await pool.diagnostics(Path("a.txt"))
    assert (verdict.verdict, lines(verdict), strategies(verdict)) == ("fresh", [(1, 1, "BAD one")], ["push"])
    (bench.project / "a.txt").write_text("BAD two\n")
    again = await pool.diagnostics(Path("a.txt"))
    assert (again.verdict, lines(again), strategies(again)) == ("fresh", [(1, 1, "BAD two")], ["push"])


@pytest.mark.parametrize("how", ["once", "twice", "older"])
async def test_a_set_counts_once_the_server_has_finished_with_the_file(bench, scripted, how):
    file = bench.project / "a.txt"
    file.write_text("BAD one\n")
    pool = bench.pool(scripted(status=how))
    await pool.diagnostics(file)  # the server's habit is known from the first word that it says
    for number in range(3):
        file.write_text(f"fine\nBAD {number}\n")
        verdict = await pool.diagnostics(file)
        assert (verdict.verdict, lines(verdict)) == ("fresh", [(2, 1, f"BAD {number}")])
        assert strategies(verdict) == ["push until idle"]


async def test_a_server_that_rests_between_what_was_true_and_what_is_has_not_finished(bench, scripted):
    file, other = bench.project / "a.txt", bench.project / "b.txt"
    file.write_text("one\n")
    other.write_text("one\n")
    server = scripted(status="rests")
    pool = bench.pool(server, wait=20.0)
    await asyncio.gather(pool.diagnostics(file), pool.diagnostics(other))
    for number in range(3):  # both at once, as a rename through a header and its users does
        file.write_text(f"BAD {number}\n")
        other.write_text(f"BAD {number}\n")
        for verdict in await asyncio.gather(pool.diagnostics(file), pool.diagnostics(other)):
            assert (verdict.verdict, lines(verdict)) == ("fresh", [(1, 1, f"BAD {number}")])
    # Each is sent once for itself and once for the other one, and not for ever because of each other.
    assert len(server.received("textDocument/didChange")) <= 12


@pytest.mark.parametrize("how", ["once", "older"])
async def test_a_text_that_is_sent_again_for_another_file_s_sake_keeps_its_set(bench, scripted, how):
    file, other = bench.project / "a.txt", bench.project / "b.txt"
    file.write_text("BAD one\n")
    other.write_text("fine\n")
    server = scripted(status=how)
    pool = bench.pool(server)
    await pool.diagnostics(file)
    await pool.diagnostics(other)
    other.write_text("changed\n")
    verdict = await pool.diagnostics(file)
    assert (verdict.verdict, lines(verdict)) == ("unchanged", [(1, 1, "BAD one")])
    sent = [params["textDocument"] for params in server.received("textDocument/didChange")]
    assert [(entry["uri"].rsplit("/", 1)[1], entry["version"]) for entry in sent] == [("b.txt", 2), ("a.txt", 2)]
    assert (await pool.diagnostics(file)).verdict == "unchanged"


async def test_a_file_that_another_one_breaks_is_reported_without_being_asked_for(bench, scripted):
    user, used = bench.project / "user.txt", bench.project / "used.txt"
    user.write_text("needs used.txt\n")
    used.write_text("fine\n")
    pool = bench.pool(scripted(push=False, pull="static", across=True))
    assert lines(await pool.diagnostics(user)) == []
    assert lines(await pool.diagnostics(used)) == []

    used.write_text("BAD now\n")
    assert lines(await pool.diagnostics(used)) == [(1, 1, "BAD now")]
    broken = await bench.sink.wait_for(DiagnosticsReported, lambda event: event.path == "user.txt")
    assert (broken.late, broken.verdict, [item.message for item in broken.items]) == (True, "fresh", ["in used.txt"])
    assert [(late.path, late.late, len(late.items)) for late in pool.take_late()] == [("user.txt", True, 1)]
    assert pool.take_late() == []

    used.write_text("mended\n")
    assert lines(await pool.diagnostics(used)) == []
    mended = await bench.sink.wait_for(
        DiagnosticsReported, lambda event: event.path == "user.txt" and event is not broken
    )
    assert (mended.late, mended.items) == (True, ())
    assert pool.take_late() == []
