"""What lists of models say: roles, favourites, prices, what is found on this machine, and why something is missing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from fakes.chat_server import FakeReply, FakeRequest, chat_server

from harness_tui.config.places import Places
from harness_tui.config.settings import ModelLimits, ModelPrice, ProviderSettings, Settings
from harness_tui.core.errors import UsageError
from harness_tui.models import keyring_store
from harness_tui.models.catalogue import ModelInfo
from harness_tui.models.chosen import ChosenModels
from harness_tui.models.favourites import Favourites
from harness_tui.models.key_store import KeyStore
from harness_tui.models.providers import LocalProvider
from harness_tui.models.registry import ModelRegistry

LAB = ProviderSettings(
    "lab",
    "openai-compatible",
    "http://127.0.0.1:1/v1",
    models={"big": ModelLimits(32768, 4096, ("b",)), "mini": ModelLimits(price=ModelPrice(1, 2))},
    source="config.yaml:3",
)


@pytest.fixture(autouse=True)
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring_store, "usable", lambda **_: None)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places.from_environment({"HOME": str(tmp_path / "home")})


def registry(
    places: Places, settings: Settings, environ: Mapping[str, str] | None = None, *ports: int
) -> ModelRegistry:
    local = [LocalProvider(f"server{index}", f"Server {index}", port) for index, port in enumerate(ports)]
    return ModelRegistry(
        settings, project_start=places.config, environ=environ or {}, local_providers=local, places=places
    )


def row(rows: list[ModelInfo], name: str) -> ModelInfo:
    (found,) = [one for one in rows if one.name == name]
    return found


def test_main_and_small_are_names_for_what_is_configured(places: Places) -> None:
    models = registry(places, Settings(model="b", small_model="lab/mini", providers={"lab": LAB}))
    assert models.resolve("main").name == models.resolve().name == "lab/big"
    assert models.resolve("small").name == "lab/mini"
    rows = models.list()
    assert row(rows, "lab/big").aliases == ("b", "main")
    assert row(rows, "lab/mini").aliases == ("small",)
    assert row(rows, "lab/big").output == 4096


def test_small_is_main_where_nothing_else_is_and_an_alias_of_that_name_counts(places: Places) -> None:
    models = registry(places, Settings(model="lab/big", providers={"lab": LAB}))
    assert models.resolve("small").name == "lab/big"
    aliased = ProviderSettings("own", "openai", "http://127.0.0.1:1/v1", models={"m": ModelLimits(aliases=("small",))})
    models = registry(places, Settings(model="lab/big", providers={"lab": LAB, "own": aliased}))
    assert models.resolve("small").name == "own/m"
    with pytest.raises(UsageError, match="no model is configured"):
        registry(places, Settings()).resolve("small")
    with pytest.raises(UsageError, match="no model is configured"):
        registry(places, Settings(model="main", small_model="small")).resolve("main")


def test_a_configured_model_that_cannot_be_had_is_a_row_that_says_so(places: Places) -> None:
    models = registry(places, Settings(model="anthropic/claude-opus-4-1", small_model="nobody/x"))
    opus = row(models.list(), "anthropic/claude-opus-4-1")
    assert (opus.available, opus.aliases) == (False, ("main",))
    assert "ANTHROPIC_API_KEY is not set" in (opus.why or "")
    assert opus.mend == "set ANTHROPIC_API_KEY, or run: harness auth add anthropic"
    nobody = row(models.list(), "nobody/x")
    assert (nobody.available, nobody.aliases) == (False, ("small",))
    assert "no provider 'nobody'" in (nobody.why or "")


def test_a_provider_that_the_configuration_gets_wrong_is_a_row_with_the_reason(places: Places) -> None:
    models = registry(places, Settings(unusable={"providers.lab": "'base_url' is missing", "agents.x": "no"}))
    lab = row(models.list(), "lab/*")
    assert (lab.available, lab.why, lab.mend) == (False, "'base_url' is missing", "see 'harness config check'")
    with pytest.raises(UsageError, match="'base_url' is missing"):
        models.resolve("lab/big")


def test_a_stored_key_makes_a_provider_available_and_is_fetched_for_the_request(places: Places) -> None:
    KeyStore(places).add("openai", "stored-key-000", "https://api.openai.com/v1/")
    models = registry(places, Settings())
    assert row(models.list(), "openai/gpt-5").available
    assert models.fault("openai/gpt-5") is None
    moved = registry(places, Settings(), {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"})
    why = row(moved.list(), "openai/gpt-5").why or ""
    assert why == ("its stored key is for https://api.openai.com:443, and OPENAI_BASE_URL says http://127.0.0.1:1")
    assert moved.fault("openai/gpt-5") is not None


async def test_a_stored_key_is_sent_to_its_server(places: Places) -> None:
    async def answer(reply: FakeReply, request: FakeRequest) -> None:
        assert request.headers["authorization"] == "Bearer stored-key-000"
        if request.path == "/v1/models":
            await reply.json({"data": [{"id": "gpt-5.1"}, {"id": "text-embedding-3"}]})
        else:
            await reply.head()
            await reply.delta(content="yes", finish="stop")
            await reply.event("[DONE]")

    async with chat_server(answer) as server:
        KeyStore(places).add("openai", "stored-key-000", server.url)
        models = registry(places, Settings(), {"OPENAI_BASE_URL": server.url})
        chosen = await models.default()
        assert chosen is not None
        assert chosen.model.name == "openai/gpt-5.1"
        assert "its key is in the stored keys (harness auth)" in chosen.notice
        from harness_tui.core.seams import ModelSettings

        assert [event async for event in chosen.model.stream((), (), ModelSettings("", "build"))]
        assert models.resolve("main") is chosen.model
        assert row(await models.catalogue.survey(ask_hosted=True), "openai/gpt-5.1").available
        await models.close()


def test_favourites_are_kept_marked_and_survive_damage(places: Places) -> None:
    models = registry(places, Settings(providers={"lab": LAB}))
    assert models.set_favourite("lab/mini", True)
    assert not models.set_favourite("lab/mini", True)
    assert models.set_favourite("lab/gone", True)
    again = registry(places, Settings(providers={"lab": LAB})).list()
    assert [one.name for one in again if one.favourite] == ["lab/mini", "lab/gone"]
    assert not row(again, "lab/gone").available
    assert models.set_favourite("lab/gone", False)
    assert places.favourites_file.stat().st_mode & 0o777 == 0o600
    for text in ("", "[]", '{"models": 3}', '{"models": [1, "lab/big"]}'):
        places.favourites_file.write_text(text)
        assert Favourites(places).all() == (("lab/big",) if "big" in text else ())
    assert Favourites(places).set("a/b", True)
    assert json.loads(places.favourites_file.read_text()) == {"models": ["lab/big", "a/b"]}


def test_prices_and_contexts_are_looked_up_where_they_are_not_configured(places: Places) -> None:
    models = registry(places, Settings(providers={"lab": LAB}), {"ANTHROPIC_API_KEY": "key-aaaaaaaa"})
    rows = models.catalogue.priced(models.list())
    sonnet = row(rows, "anthropic/claude-sonnet-5")
    assert (sonnet.context, sonnet.price) == (1_000_000, ModelPrice(2, 10, 0.2, 2.5))
    assert row(rows, "lab/mini").price == ModelPrice(1, 2)
    assert (row(rows, "lab/big").context, row(rows, "lab/big").price) == (32768, None)


async def test_a_survey_shows_servers_that_run_with_their_models_and_what_to_do_about_the_others(
    places: Places, unused_tcp_port: int
) -> None:
    async def listing(reply: FakeReply, _: FakeRequest) -> None:
        await reply.json({"data": [{"id": "llama3:8b"}, {"id": "nomic-embed-text"}]})

    async def nothing(reply: FakeReply, _: FakeRequest) -> None:
        await reply.json({"data": []})

    async with chat_server(listing) as full, chat_server(nothing) as empty:
        models = registry(places, Settings(), {}, full.port, unused_tcp_port, empty.port)
        rows = await models.catalogue.survey()
    assert row(rows, "server0/llama3:8b").available
    assert not [one for one in rows if "embed" in one.name]
    silent = row(rows, "server1/*")
    assert (silent.why, silent.mend) == (f"nobody answers on port {unused_tcp_port}", "start Server 1")
    assert row(rows, "server2/*").mend == "load a model in Server 2"
    assert rows[-1].name == "offline"


async def test_hosted_providers_are_asked_only_where_that_is_wanted(places: Places) -> None:
    async def listing(reply: FakeReply, _: FakeRequest) -> None:
        await reply.json({"data": [{"id": "gpt-5.2"}, {"id": "whisper-1"}]})

    async with chat_server(listing) as server:
        models = registry(places, Settings(), {"OPENAI_API_KEY": "key-oooooooo", "OPENAI_BASE_URL": server.url})
        await models.catalogue.survey()
        assert server.requests == []
        rows = await models.catalogue.survey(ask_hosted=True)
    assert [one.name for one in rows if one.provider == "openai"] == ["openai/gpt-5", "openai/gpt-5.2"]


async def test_a_configured_server_without_a_list_tells_its_models_itself(places: Places) -> None:
    async def listing(reply: FakeReply, _: FakeRequest) -> None:
        await reply.json({"data": [{"id": "org/model"}]})

    async with chat_server(listing) as server:
        any_ = ProviderSettings("any", "openai-compatible", server.url)
        models = registry(places, Settings(providers={"any": any_}))
        assert row(models.list(), "any/*").available
        names = [one.name for one in await models.catalogue.survey()]
    assert "any/org/model" in names
    assert "any/*" not in names


async def test_the_best_model_of_a_provider_is_asked_for_once_a_day(places: Places) -> None:
    async def listing(reply: FakeReply, _: FakeRequest) -> None:
        await reply.json({"data": [{"id": "gpt-5.2"}]})

    async with chat_server(listing) as server:
        environ = {"OPENAI_API_KEY": "key-oooooooo", "OPENAI_BASE_URL": server.url}
        for _ in range(2):
            chosen = await registry(places, Settings(), environ).default()
            assert chosen is not None
            assert chosen.model.name == "openai/gpt-5.2"
        assert len(server.requests) == 1
    moment = 1_000_000.0
    cache = ChosenModels(places.cache / "other.json", now=lambda: moment)
    assert cache.get("openai", "u") is None
    cache.put("openai", "u", "m")
    assert (cache.get("openai", "u"), cache.get("openai", "elsewhere"), cache.get("google", "u")) == ("m", None, None)
    moment += 24 * 3600
    assert cache.get("openai", "u") is None
    for text in ("", "[]", '{"openai": 3}', '{"openai": {"base_url": "u", "model": 3, "time": 1}}'):
        (places.cache / "other.json").write_text(text)
        assert cache.get("openai", "u") is None


def test_only_a_script_is_looked_at_for_answers(places: Places, tmp_path: Path) -> None:
    KeyStore(places).add("openai", "stored-key-000", "https://api.openai.com/v1/")
    models = registry(places, Settings(model="openai/gpt-5"))
    assert models.keys is not None
    models.keys.key = lambda _: pytest.fail("a key was fetched")  # pyright: ignore[reportAttributeAccessIssue]
    assert models.script(None) is None
    (tmp_path / "play.yaml").write_text("turns: []")
    assert models.script(f"replay:{tmp_path}/play.yaml") is models.resolve(f"replay:{tmp_path}/play.yaml")
    assert models.script("replay:missing.yaml") is None
    assert models.script("nobody/x") is None
