"""Models by name, and what is used when nobody named one."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from fakes.chat_server import FakeReply, FakeRequest, chat_server

from harness_tui.config.settings import ModelLimits, ProviderSettings, Settings
from harness_tui.core.errors import UsageError
from harness_tui.core.messages import UserMessage
from harness_tui.core.seams import ModelSettings, TextChunk
from harness_tui.models.detect import Detected
from harness_tui.models.providers import KEY_PROVIDERS, LocalProvider, configured, preferred
from harness_tui.models.registry import ModelInfo, ModelRegistry

LOCAL = ProviderSettings(
    "local",
    "openai-compatible",
    "http://127.0.0.1:8080/v1",
    models={"qwen": ModelLimits(context=32768, aliases=("fast",)), "org/big": ModelLimits()},
    source="config.yaml:3",
)


@pytest.fixture
def closed_port() -> Iterator[int]:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


def registry(
    folder: Path, settings: Settings | None = None, environ: Mapping[str, str] | None = None, *ports: int
) -> ModelRegistry:
    local = [LocalProvider(f"server{index}", "a server", port) for index, port in enumerate(ports)]
    return ModelRegistry(
        settings or Settings(providers={"local": LOCAL}),
        project_start=folder,
        environ=environ or {},
        local_providers=local,
    )


def test_a_configured_model_is_found_by_its_full_name_its_alias_and_alone(tmp_path: Path) -> None:
    models = registry(tmp_path)
    found = models.resolve("local/qwen")
    assert (found.name, found.context_limit) == ("local/qwen", 32768)
    for name in ("local/fast", "fast", "qwen", " local/qwen "):
        assert models.resolve(name) is found
    assert models.resolve("org/big").name == "local/org/big"


def test_a_provider_without_a_list_takes_any_model(tmp_path: Path) -> None:
    settings = Settings(providers={"any": ProviderSettings("any", "openai-compatible", "http://127.0.0.1:1/v1")})
    assert registry(tmp_path, settings).resolve("any/org/model:8b").name == "any/org/model:8b"


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("local/qwn", "did you mean local/qwen"),
        ("locla/qwen", "there is no provider 'locla' (did you mean local/qwen or local/..."),
        ("nothing", "see 'harness models list'"),
        ("local/", "there is no such model"),
        ("anthropic/claude-sonnet-5", "set ANTHROPIC_API_KEY"),
        ("google/gemini-3.5-flash", "set GEMINI_API_KEY or GOOGLE_API_KEY"),
        ("replay:", "names a script"),
        ("replay:missing.yaml", "cannot be read"),
    ],
)
def test_an_unknown_name_is_refused_with_what_to_do(tmp_path: Path, name: str, what: str) -> None:
    models = registry(tmp_path)
    with pytest.raises(UsageError) as raised:
        models.resolve(name)
    assert what in str(raised.value)
    assert not models.known(name)


def test_a_name_that_two_providers_have_must_be_given_whole(tmp_path: Path) -> None:
    other = ProviderSettings("other", "openai-compatible", "http://127.0.0.1:1/v1", models={"qwen": ModelLimits()})
    models = registry(tmp_path, Settings(providers={"local": LOCAL, "other": other}))
    with pytest.raises(UsageError, match="local/qwen, other/qwen"):
        models.resolve("qwen")
    assert models.resolve("other/qwen").name == "other/qwen"


@pytest.mark.parametrize(
    ("kind", "url", "what"),
    [
        ("telepathy", "http://h/v1", "unknown kind 'telepathy'"),
        ("openai-compatible", "h:80", "no http or https address"),
    ],
)
def test_a_provider_that_cannot_be_used_says_why_and_leaves_the_others(
    tmp_path: Path, kind: str, url: str, what: str
) -> None:
    bad = ProviderSettings("bad", kind, url, source="config.yaml:9")
    models = registry(tmp_path, Settings(providers={"bad": bad, "local": LOCAL}))
    with pytest.raises(UsageError, match=what) as raised:
        models.resolve("bad/x")
    assert raised.value.where == "config.yaml:9"
    assert models.resolve("qwen").name == "local/qwen"
    (listed,) = [info for info in models.list() if info.provider == "bad"]
    assert not listed.available
    assert what in (listed.why or "")


def test_the_configured_model_is_taken_when_none_is_named(tmp_path: Path) -> None:
    assert registry(tmp_path, Settings(model="offline")).resolve().name == "offline"
    with pytest.raises(UsageError, match="Ways to get a model") as raised:
        registry(tmp_path, Settings()).resolve()
    assert raised.value.code == "no-model"


def test_a_script_is_relative_to_the_start_folder_and_read_once(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "script.yaml").write_text("turns: []")
    models = registry(tmp_path)
    script = models.resolve("replay:sub/script.yaml")
    assert script.name == "replay:sub/script.yaml"
    assert models.resolve(f"replay:{tmp_path}/sub/../sub/script.yaml") is script
    assert models.known("replay:sub/script.yaml")


async def test_offline_explains_how_to_get_a_model_and_makes_no_summary(tmp_path: Path) -> None:
    model = registry(tmp_path).resolve("offline")
    events = [event async for event in model.stream((UserMessage("hi"),), (), ModelSettings("", "build"))]
    text = "".join(event.text for event in events if isinstance(event, TextChunk))
    for part in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "harness run --model", "providers:", "/call"):
        assert part in text
    internal = ModelSettings("", "build", purpose="internal")
    assert len([event async for event in model.stream((), (), internal)]) == 1


def test_the_list_says_what_is_there_and_why_not(tmp_path: Path) -> None:
    models = registry(tmp_path, environ={"OPENAI_API_KEY": "sk-test-key-000"}).list()
    assert models[0] == ModelInfo("local/qwen", "local", 32768, ("fast",))
    by_provider = {info.provider: info for info in models}
    assert by_provider["openai"].available
    assert by_provider["anthropic"].why == "ANTHROPIC_API_KEY is not set"
    assert by_provider["google"].why == "GEMINI_API_KEY or GOOGLE_API_KEY is not set"
    assert by_provider["offline"].available


async def models_list(reply: FakeReply, request: FakeRequest) -> None:
    assert request.path == "/v1/models"
    await reply.json({"object": "list", "data": [{"id": "nomic-embed-text"}, {"id": "llama3:8b"}]})


async def test_a_server_on_this_machine_is_found_and_used(tmp_path: Path, closed_port: int) -> None:
    async with chat_server(models_list) as server:
        models = registry(tmp_path, Settings(), {}, closed_port, server.port)
        found = await models.detect()
        chosen = await models.default()
    assert found == [Detected("server1", "server", server.url, ("nomic-embed-text", "llama3:8b"))]
    assert chosen is not None
    assert chosen.model.name == "server1/llama3:8b"
    assert f"its server answers at {server.url}" in chosen.notice


async def test_a_server_that_is_none_is_not_taken_for_one(tmp_path: Path) -> None:
    async def page(reply: FakeReply, _: FakeRequest) -> None:
        await reply.head(200, "text/html")
        await reply.raw(b"<html>")

    async with chat_server(page) as server:
        models = registry(tmp_path, Settings(), {}, server.port)
        assert await models.detect() == []
        assert await models.default() is None


async def test_of_several_the_first_of_anthropic_openai_google_and_local_is_used(tmp_path: Path) -> None:
    async def listing(reply: FakeReply, request: FakeRequest) -> None:
        assert request.headers["authorization"] == "Bearer key-aaaaaaaa"
        await reply.json({"data": [{"id": "claude-opus-9"}, {"id": "claude-sonnet-4-5"}, {"id": "claude-sonnet-5"}]})

    async with chat_server(listing) as anthropic, chat_server(models_list) as local:
        environ = {
            "GOOGLE_API_KEY": "key-gggggggg",
            "ANTHROPIC_API_KEY": "key-aaaaaaaa",
            "ANTHROPIC_BASE_URL": anthropic.url,
            "OPENAI_API_KEY": " ",
        }
        models = registry(tmp_path, Settings(), environ, local.port)
        assert [found.provider for found in await models.detect()] == ["anthropic", "google", "server0"]
        chosen = await models.default()
    assert chosen is not None
    assert chosen.model.name == "anthropic/claude-sonnet-5"
    assert "ANTHROPIC_API_KEY" in chosen.notice
    assert "also there: google, server0" in chosen.notice
    assert "key-aaaaaaaa" not in chosen.notice


async def test_other_keys_come_after_the_servers_of_this_machine(tmp_path: Path) -> None:
    async with chat_server(models_list) as local:
        environ = {"MISTRAL_API_KEY": "key-mmmmmmmm", "GEMINI_API_KEY": "key-gggggggg"}
        models = registry(tmp_path, Settings(), environ, local.port)
        assert [found.provider for found in await models.detect()] == ["google", "server0", "mistral"]
    names = {row.name: row.available for row in models.list()}
    assert names["mistral/mistral-large-latest"]
    assert not any(name.startswith("groq/") for name in names)  # nobody is told what they lack of each provider
    fault = models.fault("groq/x")
    assert fault is not None
    assert fault.mend == "set GROQ_API_KEY, or run: harness auth add groq"


async def test_a_provider_that_does_not_list_its_models_gets_its_usual_one(tmp_path: Path, closed_port: int) -> None:
    environ = {"OPENAI_API_KEY": "key-oooooooo", "OPENAI_BASE_URL": f"http://127.0.0.1:{closed_port}/v1"}
    chosen = await registry(tmp_path, Settings(), environ).default()
    assert chosen is not None
    assert chosen.model.name == "openai/gpt-5"


def test_the_highest_version_is_preferred_and_else_the_first() -> None:
    anthropic, openai, google, *_ = KEY_PROVIDERS
    assert preferred(anthropic, ["claude-sonnet-4-20250514", "claude-sonnet-4-5-20250929", "claude-opus-5"]) == (
        "claude-sonnet-4-5-20250929"
    )
    assert preferred(openai, ["gpt-4.1", "gpt-5.2", "gpt-5.10-mini", "gpt-10-audio"]) == "gpt-5.2"
    assert preferred(google, ["models/gemini-2.5-flash", "models/gemini-3-flash", "models/gemini-9-pro"]) == (
        "models/gemini-3-flash"
    )
    assert preferred(openai, ["text-embedding-3", "qwen"]) == "qwen"
    assert preferred(openai, []) is None


def test_a_key_of_the_environment_never_goes_to_an_address_of_a_file() -> None:
    environ = {"OPENAI_API_KEY": "key-oooooooo"}
    assert configured(ProviderSettings("openai", "openai", None), environ).api_key == "key-oooooooo"
    elsewhere = configured(ProviderSettings("openai", "openai", "http://127.0.0.1:1/v1"), environ)
    assert elsewhere.api_key is None


@pytest.mark.parametrize(
    ("origin", "source"),
    [("LAB_KEY", "LAB_KEY (providers.lab.api_key)"), (None, "providers.lab.api_key")],
)
def test_a_key_of_the_configuration_is_named_by_the_variable_it_comes_from(origin: str | None, source: str) -> None:
    lab = ProviderSettings("lab", "openai-compatible", "http://127.0.0.1:1/v1", "key-llllllll", key_origin=origin)
    assert configured(lab, {}).key_source == source
