"""What is done before the first request, so that the loop never waits for it."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
from pathlib import Path

import pytest

from harness_tui.models import library_warmup
from harness_tui.models.library_dialects import DIALECTS, load

pytestmark = pytest.mark.xdist_group("libraries of providers")  # else each worker imports them all


@pytest.mark.parametrize("kind", sorted(DIALECTS))
async def test_each_library_reads_its_rehearsal_without_a_network(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def no_network(*_: object, **__: object) -> None:
        raise AssertionError("a rehearsal goes nowhere")

    monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", no_network)
    await asyncio.to_thread(load, DIALECTS[kind])
    await library_warmup._rehearse(DIALECTS[kind])


def test_a_rehearsal_that_fails_costs_nothing_but_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library_warmup, "_WARM", set())
    monkeypatch.setitem(library_warmup.ANSWERS, "openai-chat", [{"choices": 5}])
    library_warmup.warm_up(DIALECTS["openai-chat"])
    assert gc.isenabled()


def test_no_library_of_a_provider_is_imported_before_its_first_request(tmp_path: Path) -> None:
    code = """
import sys
from harness_tui.models.adapters import make_adapter
from harness_tui.models.endpoint import Endpoint
for kind in ("anthropic", "openai", "openai-responses", "openai-chat", "google", "openai-compatible"):
    make_adapter(Endpoint("mine", "https://api.openai.com/v1", "k" * 9, kind=kind), "m")
heavy = {"pydantic", "pydantic_ai", "openai", "anthropic", "google", "httpx", "httpx2", "mcp", "yaml"}
print(sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


async def test_work_in_its_own_thread_gives_its_result_or_its_error() -> None:
    assert await library_warmup.in_own_thread(lambda: 42) == 42
    with pytest.raises(ZeroDivisionError):
        await library_warmup.in_own_thread(lambda: 1 // 0)


def test_a_program_that_ends_does_not_wait_for_a_library(tmp_path: Path) -> None:
    code = """
import asyncio, time
from harness_tui.models.library_warmup import in_own_thread
async def main():
    waiting = asyncio.ensure_future(in_own_thread(lambda: time.sleep(100)))
    await asyncio.sleep(0.1)
    waiting.cancel()
asyncio.run(main())
print("over")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert (done.stdout.strip(), done.stderr) == ("over", "")
