"""Model providers in ``config.yaml``: what arrives, and what is said of each wrong value."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from harness_tui.config.schema import Effort, ModelLimitsModel, ModelPriceModel, ProviderModel
from harness_tui.config.settings import PROVIDER_KINDS, ModelLimits, ModelPrice


def test_every_key_of_a_provider_and_its_models_arrives(world):
    world.environ["LAB_KEY"] = "lab-key-123456"
    world.write_user(
        """
        model: lab/big
        small_model: lab/mini
        providers:
          lab:
            kind: openai-compatible
            base_url: "http://127.0.0.1:9000/v1"
            api_key: "{env:LAB_KEY}"
            headers: {X-Team: blue}
            timeout: 30
            connect_timeout: 2.5
            silence_timeout: 45
            extra_body: {top_k: 20}
            models:
              big: {context: 32768, output: 4096, aliases: [b], temperature: 0.2, reasoning_effort: high}
              mini: {price: {input: 0.5, output: 2, cache_read: 0.05}}
        agents:
          thinker: {model: small, temperature: 1, reasoning_effort: low}
        """
    )
    settings = world.load().settings
    assert (settings.model, settings.small_model) == ("lab/big", "lab/mini")
    lab = settings.providers["lab"]
    assert (lab.kind, lab.base_url, lab.api_key) == ("openai-compatible", "http://127.0.0.1:9000/v1", "lab-key-123456")
    assert lab.key_origin == "LAB_KEY"
    assert (lab.timeout, lab.connect_timeout, lab.silence_timeout) == (30, 2.5, 45)
    assert (lab.headers, lab.extra_body) == ({"X-Team": "blue"}, {"top_k": 20})
    assert lab.models["big"] == ModelLimits(32768, 4096, ("b",), temperature=0.2, reasoning_effort="high")
    assert lab.models["mini"].price == ModelPrice(0.5, 2, 0.05)
    thinker = settings.agents["thinker"]
    assert (thinker.model, thinker.temperature, thinker.reasoning_effort) == ("small", 1, "low")


def test_the_file_of_a_local_model_is_absolute_and_lies_beside_the_file_that_names_it(world):
    world.write_user("providers: {mine: {kind: local, threads: 3, models: {tiny: {path: models/tiny.gguf}}}}\n")
    mine = world.load().settings.providers["mine"]
    assert mine.threads == 3
    assert mine.models["tiny"].path == str(world.places.config / "models" / "tiny.gguf")
    world.write(".harness/config.yaml", "providers: {ours: {kind: local, models: {x: {path: weights/x.gguf}}}}\n")
    assert world.trusted().settings.providers["ours"].models["x"].path == str(world.root / "weights" / "x.gguf")


@pytest.mark.parametrize(
    ("line", "text", "mend"),
    [
        ("kind: openai_compatible", "unknown kind 'openai_compatible'; did you mean 'openai-compatible'?", None),
        ("kind: telepathy", "known are openai-compatible, openai,", None),
        ("kind: openai-compatible", "'base_url' is missing", "write it like http://127.0.0.1:8080/v1"),
        ("timeout: 30", "it is not known what 'lab' is", "say 'kind', one of"),
        ("base_url: ftp://h/v1", "'ftp://h/v1' is not an http or https address", "write it like http"),
        ('base_url: "http://h:99999/v1"', "is not an http or https address", "write it like http"),
        ("timeout: soon", "expected a number, got text", None),
        ("timeout: 0", "should be greater than 0", None),
        ("connect_timeout: -1", "should be greater than 0", None),
        ("silence_timeout: true", "expected a number, got true", None),
        ("headers: {X-Number: 3}", "expected text, got the number 3", "write it in quotes"),
        ("api_key: 12345678", "expected text, got the number 12345678", "write it in quotes"),
        ('api_key: "{env:NOT_SET}"', "the environment variable NOT_SET is not set", "set NOT_SET, or give a default"),
        ("models: {m: {context: many}}", "expected a whole number, got text", None),
        ("models: {m: {contxt: 3}}", "unknown key", "did you mean 'context'?"),
        ("models: {m: {temperature: 3}}", "should be less than or equal to 2", None),
        ("models: {m: {reasoning_effort: hihg}}", "got 'hihg'", "did you mean 'high'?"),
        ("models: {m: {price: {input: 1}}}", "'output' is missing", None),
        ("models: {m: {price: {input: -1, output: 2}}}", "greater than or equal to 0", None),
        ("extra_body: {stream: false}", "'stream' is written by the program itself", None),
        ("extra_body: [1]", "expected a mapping, got a list", None),
        ("threads: 0", "greater than 0", None),
        ("api_keys: x", "unknown key", "did you mean 'api_key'?"),
    ],
)
def test_a_wrong_value_is_told_with_its_line_and_costs_the_neighbours_nothing(world, line, text, mend):
    world.write_user(f"providers:\n  good: {{base_url: 'http://127.0.0.1:1/v1'}}\n  lab:\n    {line}\n")
    loaded = world.load()
    assert list(loaded.settings.providers) == ["good"]
    assert "providers.lab" in loaded.settings.unusable
    (problem,) = loaded.problems
    assert problem.level == "error"
    assert problem.where in (f"{world.places.config_file}:3", f"{world.places.config_file}:4")
    assert text in problem.message
    assert (mend or "") in (problem.mend or "")


@pytest.mark.parametrize(
    ("lines", "place", "text"),
    [
        (["base_url: http://h/v1", 'headers: {X-A: b, "X B": c}'], 5, "'X B' is no name of a header"),
        (["base_url: http://h/v1", "headers:", '  X-A: "a\\nb"'], 6, "the header 'X-A' holds a character"),
        (["base_url: http://h/v1", 'api_key: "key-\\u00e9-hidden"'], 5, "the key holds a character"),
        (["kind: local", "models:", "  m: {context: 512}"], 6, "the model 'm' has no 'path'"),
        (["kind: local", "base_url: http://h/v1", "models: {m: {path: a.gguf}}"], 5, "'base_url' does not go with"),
        (["kind: openai", "models: {m: {path: a.gguf}}"], 5, "the model 'm' has a 'path'"),
    ],
)
def test_what_does_not_go_together_is_told_at_its_own_line_without_the_value(world, lines, place, text):
    world.write_user("providers:\n  # a comment\n  lab:\n" + "".join(f"    {line}\n" for line in lines))
    (problem,) = world.load().problems
    assert problem.where == f"{world.places.config_file}:{place}"
    assert text in problem.message
    assert problem.mend
    assert "hidden" not in str(problem)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://me:hunter2hunter2@h/v1",
        "http://me:hunter2hunter2@h/v1",
        "http://h/v1?key=hunter2hunter2",
        "h/v1?key=hunter2hunter2",
        "http://h/v1#hunter2hunter2",
    ],
)
def test_a_secret_in_an_address_is_refused_and_not_shown(world, url):
    world.write_user(f'providers: {{lab: {{base_url: "{url}"}}}}\n')
    (problem,) = world.load().problems
    assert "hunter2" not in str(problem)
    assert problem.mend


def test_a_header_of_an_mcp_server_is_looked_at_as_well(world):
    world.write_user('mcp: {docs: {url: "http://h/mcp", headers: {"X Key": a}}}\n')
    loaded = world.load()
    assert "is no name of a header" in (loaded.settings.mcp["docs"].error or "")


def test_the_document_shows_every_key_and_its_examples_are_valid(world):
    text = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(examples) == 3
    for example in examples:
        world.environ = dict.fromkeys(re.findall(r"\{env:(\w+)\}", example), "tok-0123456789")
        world.write_user(example)
        assert world.load().problems == ()
    shown = set(re.findall(r"[a-z_]+(?=:)", "".join(examples)))
    for model in (ProviderModel, ModelLimitsModel, ModelPriceModel):
        assert set(model.model_fields) - shown == set()
    for word in (*PROVIDER_KINDS, *get_args(Effort)):
        assert re.search(rf"\b{word}\b", text), word


def test_a_provider_that_everybody_knows_by_its_name_needs_neither_kind_nor_address(world):
    world.write_user(
        "providers:\n  groq: {models: {openai/gpt-oss-120b: {aliases: [fast]}}}\n  grok: {models: {x: {}}}\n"
    )
    loaded = world.load()
    assert (loaded.settings.providers["groq"].kind, loaded.settings.providers["groq"].base_url) == (
        "openai-compatible",
        None,
    )
    (problem,) = loaded.problems
    assert "it is not known what 'grok' is" in problem.message
