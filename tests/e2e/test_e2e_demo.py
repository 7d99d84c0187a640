"""The tour, headless: the whole chain in its order, with real servers, and nothing left behind."""

from __future__ import annotations

import json

import pytest
from e2e_home import Home, Ran

pytestmark = pytest.mark.e2e


def in_order(ran: Ran, *wanted: dict[str, object]) -> None:
    """Assert that the events occur in this order."""
    places = [ran.index(event) for event in wanted]
    assert places == sorted(places)


def test_the_tour_shows_the_whole_chain_in_order_and_leaves_the_persons_folders_alone(home: Home) -> None:
    got = home.harness("demo", "--headless", "--json")
    assert got.code == 0, got.err
    ran = Ran(got.code, got.out, got.err, [json.loads(line) for line in got.out.splitlines()])
    (started,) = ran.of("run_started")
    assert started["command"]["name"] == "round-total"
    assert started["message"]["text"].startswith("Round the result of `total` in @prices.py to 2 decimals.")
    assert [item["path"] for item in started["message"]["attachments"]] == ["prices.py"]
    (stock,) = ran.of("tool_finished", tool="warehouse_stock")
    assert stock["output"] == "apples: 12 crates in the warehouse"
    bad, good = ran.of("diagnostics_reported", path="prices.py", late=False)
    assert bad["verdict"] == "fresh"
    (error,) = [item for item in bad["items"] if item["severity"] == "error"]
    assert error["line"] == 8
    edit, second = ran.of("tool_finished", tool="edit")
    block = edit["output"].split("LSP errors detected in this file, please fix:\n")
    assert len(block) == 2
    assert block[1].startswith("prices.py: L8: ")
    assert good["verdict"] == "fresh"
    assert [item for item in good["items"] if item["severity"] == "error"] == []
    assert "LSP errors" not in second["output"]
    end = ran.events[-1]
    assert (end["type"], end["reason"]) == ("run_finished", "completed")
    in_order(ran, started, stock, bad, edit, good, end)
    (failed,) = ran.of("server_changed", kind="mcp", name="printer", state="failed")
    assert "no receipt printer" in failed["detail"]["stderr_tail"]
    assert any("printer" in notice["text"] for notice in ran.of("notice"))
    assert [event["seq"] for event in ran.events] == list(range(1, len(ran.events) + 1))
    home.assert_nothing_left(2.0)
    written = [path for path in home.folder.rglob("*") if path.is_file() and home.project not in path.parents]
    assert written == []  # the person's own folders are left alone
