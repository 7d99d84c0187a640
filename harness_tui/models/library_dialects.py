"""The protocols that pydantic_ai speaks for us: how each is opened, what it wants to be told, how a key is shown to it.

Everything here that imports does so when it is called: the libraries of providers cost a second and 80 MB.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

from harness_tui.core.lean_imports import import_lean
from harness_tui.core.record import record
from harness_tui.core.seams import ModelSettings
from harness_tui.models.endpoint import Endpoint
from harness_tui.models.library_parts import UNUSED

NO_KEY: Final = "no-key"
"""Libraries refuse to work without a key; this one is never sent."""

_LARGE: Final = "pydantic_ai.models.anthropic"
_OURS: Final[dict[str, Any]] = {"json_schema_transformer": None}
"""Schemas are adapted by ``tool_schemas`` alone."""


@record
class Dialect:
    """One protocol. ``table`` names its rules for tools, ``marks_errors`` whether results can be marked as failed.

    ``strict_form`` is what is said of the schema of an answer where it need not be a strict one.
    """

    kind: str
    table: str
    modules: tuple[str, ...]
    open: Callable[[Endpoint, str, Any], Any]
    settings: Callable[[ModelSettings, Any], dict[str, Any]]
    key_headers: Callable[[Endpoint, str], dict[str, str]]
    marks_errors: bool = False
    strict_form: bool | None = None


def load(dialect: Dialect) -> None:
    """Import what ``dialect`` needs; takes a second the first time, so call it in a thread. Raises ``ImportError``."""
    for module in ("pydantic_ai.direct", "pydantic_ai.messages", "pydantic_ai.models", *dialect.modules):
        if module == _LARGE:
            import_lean(partial(importlib.import_module, module), library="anthropic", unused=UNUSED)
        else:
            importlib.import_module(module)


def base_address(address: str, *ends: str) -> str:
    """Return ``address`` without the steps of the path (``ends``, the last first) that the library adds by itself."""
    result = address.rstrip("/")
    for end in ends:
        result = result.removesuffix(f"/{end}")
    return result


def models_request(endpoint: Endpoint) -> tuple[str, dict[str, str]]:
    """Return address and headers of the request for the list of models of ``endpoint``, its key among them."""
    key = (endpoint.api_key or "").strip()
    match endpoint.kind:
        case "anthropic":
            url = f"{base_address(endpoint.base_url, 'v1')}/v1/models?limit=1000"
            headers = {"anthropic-version": "2023-06-01", **(_anthropic_key(endpoint, key) if key else {})}
        case "google":
            url = f"{base_address(endpoint.base_url, 'openai', 'v1beta', 'v1')}/v1beta/models?pageSize=1000"
            headers = _google_key(endpoint, key) if key else {}
        case _:
            url, headers = endpoint.url("models"), _bearer(key) if key else {}
    return url, headers | {name.lower(): value for name, value in endpoint.headers.items()}


# --- Anthropic -------------------------------------------------------------------------------------------------------


def _open_anthropic(endpoint: Endpoint, model: str, client: Any) -> Any:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    sdk = AsyncAnthropic(
        api_key=NO_KEY,
        base_url=base_address(endpoint.base_url, "v1"),
        max_retries=0,
        timeout=client.timeout,
        http_client=client,
    )
    return AnthropicModel(model, provider=AnthropicProvider(anthropic_client=sdk), profile=_profile())


def _anthropic_settings(settings: ModelSettings, model: Any) -> dict[str, Any]:
    """The marks of the prompt cache: after the tools, the instructions and the last message, so that each request
    finds what the one before it wrote."""
    return {
        "anthropic_cache_tool_definitions": True,
        "anthropic_cache_instructions": True,
        "anthropic_cache_messages": True,
        **_thinking(settings),
    }


def _anthropic_key(endpoint: Endpoint, key: str) -> dict[str, str]:
    if urlsplit(endpoint.base_url).hostname != "api.anthropic.com":
        return {"x-api-key": key, "authorization": f"Bearer {key}"}  # servers look for it in either place
    # Anthropic itself takes a key for a token of a person's account where it stands in the other place.
    return _bearer(key) if key.startswith("sk-ant-oat") else {"x-api-key": key}


# --- OpenAI ----------------------------------------------------------------------------------------------------------


def _openai_client(endpoint: Endpoint, client: Any) -> Any:
    from openai import AsyncOpenAI

    return AsyncOpenAI(
        api_key=NO_KEY,
        base_url=base_address(endpoint.base_url, "chat/completions", "responses"),
        max_retries=0,
        timeout=client.timeout,
        http_client=client,
    )


def _open_chat(endpoint: Endpoint, model: str, client: Any) -> Any:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(openai_client=_openai_client(endpoint, client))
    return OpenAIChatModel(model, provider=provider, profile=_profile())


def _open_responses(endpoint: Endpoint, model: str, client: Any) -> Any:
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(openai_client=_openai_client(endpoint, client))
    return OpenAIResponsesModel(model, provider=provider, profile=_profile())


def _openai_settings(settings: ModelSettings, model: Any) -> dict[str, Any]:
    return {"openai_reasoning_effort": settings.reasoning_effort} if settings.reasoning_effort else {}


def _responses_settings(settings: ModelSettings, model: Any) -> dict[str, Any]:
    """Nothing is stored at the provider: what it needs again (encrypted reasoning) is in our record."""
    result = {"openai_store": False, **_openai_settings(settings, model)}
    if settings.reasoning_effort and model.profile.get("supports_thinking", False):
        result["openai_reasoning_summary"] = "auto"
    return result


def _bearer_of(endpoint: Endpoint, key: str) -> dict[str, str]:
    return _bearer(key)


def _bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


# --- Google ----------------------------------------------------------------------------------------------------------


def _open_google(endpoint: Endpoint, model: str, client: Any) -> Any:
    from google.genai import Client
    from google.genai.types import HttpOptions
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    base = base_address(endpoint.base_url, "openai", "v1beta", "v1")
    options = HttpOptions(base_url=base, httpx_async_client=client, timeout=None)
    sdk = Client(vertexai=False, api_key=NO_KEY, http_options=options)
    return GoogleModel(model.removeprefix("models/"), provider=GoogleProvider(client=sdk), profile=_profile())


def _google_settings(settings: ModelSettings, model: Any) -> dict[str, Any]:
    if model.profile.get("supports_thinking", False) and settings.reasoning_effort != "none":
        return {"google_thinking_config": {"include_thoughts": True}, **_thinking(settings)}
    return _thinking(settings)


def _google_key(endpoint: Endpoint, key: str) -> dict[str, str]:
    return {"x-goog-api-key": key}


# --- parts -----------------------------------------------------------------------------------------------------------


def _profile() -> Any:
    return dict(_OURS)


def _thinking(settings: ModelSettings) -> dict[str, Any]:
    match settings.reasoning_effort:
        case None:
            return {}
        case "none":
            return {"thinking": False}
        case effort:
            return {"thinking": effort}


DIALECTS: Final = {
    dialect.kind: dialect
    for dialect in (
        Dialect(
            "anthropic",
            "anthropic",
            ("pydantic_ai.models.anthropic", "pydantic_ai.providers.anthropic"),
            _open_anthropic,
            _anthropic_settings,
            _anthropic_key,
            marks_errors=True,
        ),
        Dialect(
            "openai-responses",
            "openai",
            ("pydantic_ai.models.openai", "pydantic_ai.providers.openai"),
            _open_responses,
            _responses_settings,
            _bearer_of,
            strict_form=False,
        ),
        Dialect(
            "openai-chat",
            "openai",
            ("pydantic_ai.models.openai", "pydantic_ai.providers.openai"),
            _open_chat,
            _openai_settings,
            _bearer_of,
            strict_form=False,
        ),
        Dialect(
            "google",
            "google",
            ("pydantic_ai.models.google", "pydantic_ai.providers.google"),
            _open_google,
            _google_settings,
            _google_key,
            marks_errors=True,
        ),
    )
}
"""By ``kind`` of a configured provider."""
