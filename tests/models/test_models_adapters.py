"""Which adapter serves what a person configured, and how the lists of models of hosted providers are asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fakes.chat_server import FakeReply, FakeRequest, chat_server
from fakes.dialect_models import stream
from fakes.dialects import ANTHROPIC, CHAT, GOOGLE, Answer, Dialect

from harness_tui.config.settings import COMPATIBLE_PROVIDERS, PROVIDER_KINDS, ProviderSettings, Settings
from harness_tui.core.seams import TextChunk
from harness_tui.models.adapters import adapter_kind
from harness_tui.models.endpoint import Endpoint
from harness_tui.models.library_dialects import DIALECTS
from harness_tui.models.providers import KEY_PROVIDERS, configured
from harness_tui.models.registry import ModelRegistry

KEY = "tok-0123456789abcdef"


@pytest.mark.parametrize(
    ("kind", "address", "spoken"),
    [
        ("openai", "https://api.openai.com/v1/", "openai-responses"),
        ("openai", "http://127.0.0.1:8080/v1", "openai-compatible"),
        ("openai", "https://api.openai.com.example/v1", "openai-compatible"),
        ("openai-responses", "http://127.0.0.1:8080/v1", "openai-responses"),
        ("openai-chat", "http://127.0.0.1:8080/v1", "openai-chat"),
        ("openai-compatible", "https://api.openai.com/v1/", "openai-compatible"),
        ("anthropic", "http://127.0.0.1:8080", "anthropic"),
        ("google", "http://127.0.0.1:8080", "google"),
    ],
)
def test_the_kind_says_what_is_spoken(kind: str, address: str, spoken: str) -> None:
    assert adapter_kind(Endpoint("mine", address, kind=kind)) == spoken


def test_names_that_the_configuration_knows_without_an_address_have_one() -> None:
    compatible = [entry for entry in KEY_PROVIDERS if entry.kind == "openai-compatible"]
    assert tuple(entry.name for entry in compatible) == COMPATIBLE_PROVIDERS
    for entry in compatible:
        found = configured(ProviderSettings(entry.name, "openai-compatible"), {entry.keys[0]: KEY})
        assert (found.base_url, found.api_key, found.key_source) == (entry.base_url, KEY, entry.keys[0])
        assert adapter_kind(found) == "openai-compatible"


def test_every_kind_that_can_be_configured_is_served() -> None:
    assert set(PROVIDER_KINDS) == {*DIALECTS, "openai", "openai-compatible", "local"}


@pytest.mark.parametrize(
    ("variable", "base_variable", "end", "dialect", "path", "names", "model"),
    [
        (
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_BASE_URL",
            "",
            ANTHROPIC,
            "/v1/models?limit=1000",
            {"data": [{"id": "claude-sonnet-4-5"}, {"id": "claude-sonnet-5-1"}, {"id": "claude-haiku-9"}]},
            "anthropic/claude-sonnet-5-1",
        ),
        (
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_BASE_URL",
            "/v1/",
            ANTHROPIC,
            "/v1/models?limit=1000",
            {"data": [{"id": "claude-sonnet-5-1"}]},
            "anthropic/claude-sonnet-5-1",
        ),
        (
            "OPENAI_API_KEY",
            "OPENAI_BASE_URL",
            "/v1",
            CHAT,
            "/v1/models",
            {"data": [{"id": "gpt-5"}, {"id": "gpt-6"}]},
            "openai/gpt-6",
        ),
        (
            "GEMINI_API_KEY",
            "GEMINI_BASE_URL",
            "",
            GOOGLE,
            "/v1beta/models?pageSize=1000",
            {"models": [{"name": "models/gemini-2.5-flash"}, {"name": "models/gemini-3-flash"}]},
            "google/gemini-3-flash",
        ),
        (
            "GROQ_API_KEY",
            "GROQ_BASE_URL",
            "/v1",
            CHAT,
            "/v1/models",
            {"data": [{"id": "whisper-9"}, {"id": "openai/gpt-oss-20b"}, {"id": "openai/gpt-oss-120b"}]},
            "groq/openai/gpt-oss-120b",
        ),
    ],
)
async def test_a_key_of_the_environment_is_enough(
    tmp_path: Path,
    variable: str,
    base_variable: str,
    end: str,
    dialect: Dialect,
    path: str,
    names: Any,
    model: str,
) -> None:
    async def answer(reply: FakeReply, request: FakeRequest) -> None:
        assert KEY in request.headers[dialect.key_header]
        if request.method == "GET":
            await reply.json(names)
        else:
            await dialect.play(reply, Answer(text=("hello",)))

    async with chat_server(answer) as server:
        environ = {variable: KEY, base_variable: server.url.removesuffix("/v1") + end}
        models = ModelRegistry(Settings(), project_start=tmp_path, environ=environ, local_providers=())
        chosen = await models.default()
        assert chosen is not None
        assert chosen.model.name == model
        assert (await stream(chosen.model))[0] == TextChunk("hello")
        await models.close()
    asked, answered = server.requests
    assert asked.path == path
    expected = dialect.path.replace("models/m:", f"models/{model.partition('/')[2]}:")
    assert answered.path == expected
