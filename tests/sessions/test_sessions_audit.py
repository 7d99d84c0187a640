"""The audit log: one line a record, private, redacted, bounded, shared by processes."""

from __future__ import annotations

import fcntl
import json
import stat
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from threading import Thread

import pytest

from harness_tui.core.errors import HarnessError
from harness_tui.core.redaction import REDACTOR
from harness_tui.sessions.audit import LINE_BYTES, AuditLog

WRITER = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from harness_tui.sessions.audit import AuditLog

    log = AuditLog(Path(sys.argv[1]), max_bytes=2000, kept=50)
    for number in range(100):
        log.record("call", who=sys.argv[2], number=number)
    """
)


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def written(log: AuditLog) -> list[dict[str, object]]:
    assert log.close(timeout=20)
    return lines(log.path)


def test_a_record_is_one_json_line_with_time_and_kind(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "logs" / "audit.jsonl")
    log.record("decision", tool="bash", patterns=["ls"], note="line\nbreak")
    (record,) = written(log)
    assert record.pop("time")
    assert record == {"kind": "decision", "tool": "bash", "patterns": ["ls"], "note": "line\nbreak"}
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.path.parent.stat().st_mode) == 0o700


def test_secrets_are_taken_out(tmp_path: Path) -> None:
    REDACTOR.add("open-sesame-open")
    log = AuditLog(tmp_path / "audit.jsonl")
    log.record("call", arguments={"header": "Bearer abcdefghijk", "key": "open-sesame-open"})
    assert written(log)[0]["arguments"] == {"header": "Bearer [redacted]", "key": "[redacted]"}


def test_it_rotates_by_size_and_keeps_so_many_files(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.jsonl", max_bytes=200, kept=2)
    for number in range(30):
        log.record("call", number=number)
    assert log.close(timeout=20)
    files = sorted(path.name for path in tmp_path.iterdir() if not path.name.endswith(".lock"))
    assert files == ["audit.jsonl", "audit.jsonl.1", "audit.jsonl.2"]
    assert all((tmp_path / name).stat().st_size <= 200 for name in files)
    numbers = [record["number"] for name in reversed(files) for record in lines(tmp_path / name)]
    assert numbers == list(range(30))[-len(numbers) :]


def test_a_huge_record_is_cut_and_says_so(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    log.record("call", output="x" * (LINE_BYTES + 1), items=["y" * LINE_BYTES], small=1)
    (record,) = written(log)
    assert record["cut"] is True
    assert record["small"] == 1
    assert log.path.stat().st_size < 10_000


def test_two_processes_lose_no_line_while_the_log_rotates(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    children = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), who]) for who in ("a", "b")]
    assert [child.wait(timeout=60) for child in children] == [0, 0]
    records = [record for file in tmp_path.glob("audit.jsonl*") if file.suffix != ".lock" for record in lines(file)]
    for who in ("a", "b"):
        assert sorted(int(str(r["number"])) for r in records if r["who"] == who) == list(range(100))


def test_a_log_that_cannot_be_written_tells_once_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    told = list[HarnessError]()
    log = AuditLog(tmp_path / "file" / "audit.jsonl", on_error=told.append)
    log.record("call")
    log.record("call")
    assert log.close(timeout=20)
    assert len(told) == 1
    assert log.failure is not None


def test_a_lock_that_another_process_holds_keeps_nobody_waiting(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    with (tmp_path / "audit.jsonl.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        for number in range(50):
            log.record("call", number=number)
        assert not log.close(timeout=0.1)
        assert not log.path.exists()
    assert [record["number"] for record in written(log)] == list(range(50))


def test_records_from_several_threads_keep_their_order(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    threads = [Thread(target=lambda who=who: [log.record("call", who=who, n=n) for n in range(100)]) for who in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    records = written(log)
    for who in "abc":
        assert [record["n"] for record in records if record["who"] == who] == list(range(100))


def test_what_cannot_be_kept_while_the_file_is_locked_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness_tui.sessions.audit._WAITING", 3)
    log = AuditLog(tmp_path / "audit.jsonl")
    with (tmp_path / "audit.jsonl.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        log.record("first")
        while log._waiting:  # until the thread has taken it and waits for the lock
            time.sleep(0.01)
        for number in range(5):
            log.record("call", number=number)
    records = written(log)
    assert [record.get("number", record["kind"]) for record in records] == ["first", 0, 1, 2, "records_lost"]
    assert records[-1]["count"] == 2


def test_a_record_that_cannot_be_written_does_not_take_its_neighbours_down(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    circle: list[object] = []
    circle.append(circle)
    for value in ("a", circle, "b"):
        log.record("call", value=value)
    one, two, three = written(log)
    assert (one["value"], "value" in two, three["value"]) == ("a", False, "b")
    assert "unreadable" in two
