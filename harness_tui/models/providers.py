"""Providers that need no configuration: a key in the environment, or a server on a usual port of this machine."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from harness_tui.config.settings import ProviderSettings
from harness_tui.core.late_pattern import late_pattern
from harness_tui.core.record import record
from harness_tui.models.endpoint import Endpoint
from harness_tui.models.key_store import StoredKey, origin


@record
class KeyProvider:
    """A hosted provider. ``keys`` are the variables that may hold its key, ``base_variable`` moves it elsewhere.

    ``model`` is taken when its list of models cannot be read, else the highest version that fits ``prefer``. ``kind``
    is the protocol that it speaks: its own, or chat completions as most do.
    """

    name: str
    keys: tuple[str, ...]
    base_variable: str
    base_url: str
    model: str
    prefer: re.Pattern[str]
    kind: str

    @property
    def is_first(self) -> bool:
        """Whether it comes before the servers of this machine where nobody named a model."""
        return self.kind != COMPATIBLE


@record
class LocalProvider:
    """A model server that people run on their own machine."""

    name: str
    title: str
    port: int


COMPATIBLE: Final = "openai-compatible"

KEY_PROVIDERS: Final = (
    KeyProvider(
        "anthropic",
        ("ANTHROPIC_API_KEY",),
        "ANTHROPIC_BASE_URL",
        "https://api.anthropic.com/v1/",
        "claude-sonnet-5",
        late_pattern(r"claude-sonnet-(\d+)(?:-(\d{1,2}))?(?:-\d{8})?"),
        "anthropic",
    ),
    KeyProvider(
        "openai",
        ("OPENAI_API_KEY",),
        "OPENAI_BASE_URL",
        "https://api.openai.com/v1/",
        "gpt-5",
        late_pattern(r"gpt-(\d+)(?:\.(\d+))?"),
        "openai",
    ),
    KeyProvider(
        "google",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "GEMINI_BASE_URL",
        "https://generativelanguage.googleapis.com/v1beta/openai/",
        "gemini-3.5-flash",
        late_pattern(r"(?:models/)?gemini-(\d+)(?:\.(\d+))?-flash"),
        "google",
    ),
    KeyProvider(
        "openrouter",
        ("OPENROUTER_API_KEY",),
        "OPENROUTER_BASE_URL",
        "https://openrouter.ai/api/v1",
        "anthropic/claude-sonnet-5",
        late_pattern(r"anthropic/claude-sonnet-(\d+)(?:[.-](\d{1,2}))?"),
        COMPATIBLE,
    ),
    KeyProvider(
        "groq",
        ("GROQ_API_KEY",),
        "GROQ_BASE_URL",
        "https://api.groq.com/openai/v1",
        "openai/gpt-oss-120b",
        late_pattern(r"openai/gpt-oss-(\d+)()b"),
        COMPATIBLE,
    ),
    KeyProvider(
        "mistral",
        ("MISTRAL_API_KEY",),
        "MISTRAL_BASE_URL",
        "https://api.mistral.ai/v1",
        "mistral-large-latest",
        late_pattern(r"mistral-large-()()latest"),
        COMPATIBLE,
    ),
    KeyProvider(
        "deepseek",
        ("DEEPSEEK_API_KEY",),
        "DEEPSEEK_BASE_URL",
        "https://api.deepseek.com/v1",
        "deepseek-chat",
        late_pattern(r"deepseek-v(\d+)(?:\.(\d+))?-pro"),
        COMPATIBLE,
    ),
    KeyProvider(
        "xai",
        ("XAI_API_KEY",),
        "XAI_BASE_URL",
        "https://api.x.ai/v1",
        "grok-4.3",
        late_pattern(r"grok-(\d+)(?:\.(\d+))?"),
        COMPATIBLE,
    ),
)
"""In the order in which one is taken when there are several."""

LOCAL_PROVIDERS: Final = (
    LocalProvider("ollama", "ollama", 11434),
    LocalProvider("llamacpp", "llama.cpp", 8080),
    LocalProvider("lmstudio", "LM Studio", 1234),
    LocalProvider("vllm", "vLLM", 8000),
)


_OTHER_KINDS: Final = late_pattern(
    r"(?i)embed|whisper|tts|dall-e|moderation|transcribe|realtime|audio|image|sora|imagen|veo-|rerank|babbage|davinci"
)

NOTHING_STORED: Final[Mapping[str, StoredKey]] = {}


def key_of(provider: KeyProvider, environ: Mapping[str, str]) -> tuple[str, str] | None:
    """Return ``(variable, key)`` where the environment has a key of ``provider``."""
    for variable in provider.keys:
        if key := environ.get(variable, "").strip():
            return variable, key
    return None


def address_of(provider: KeyProvider, environ: Mapping[str, str]) -> str:
    """Return where ``provider`` is: where its variable says, else at its own address."""
    return environ.get(provider.base_variable, "").strip() or provider.base_url


def hosted(
    provider: KeyProvider, environ: Mapping[str, str], stored: Mapping[str, StoredKey] = NOTHING_STORED
) -> Endpoint | None:
    """Return the endpoint of ``provider`` with its key of the environment, else a stored one; ``None`` without."""
    base, moved = address_of(provider, environ), bool(environ.get(provider.base_variable, "").strip())
    found, kept = key_of(provider, environ), stored.get(provider.name)
    if found is not None:
        source = provider.base_variable if moved else found[0]
        return Endpoint(provider.name, base, found[1], found[0], source=source, kind=provider.kind)
    if kept is None or not kept.fits(base):
        return None
    source = provider.base_variable if moved else stored_source(kept)
    return Endpoint(provider.name, base, None, stored_source(kept), source=source, kind=provider.kind, stored=True)


def stored_source(kept: StoredKey) -> str:
    """Return the words for where a stored key is."""
    return "the keyring (harness auth)" if kept.kept == "keyring" else "the stored keys (harness auth)"


def no_key(provider: KeyProvider, environ: Mapping[str, str], stored: Mapping[str, StoredKey]) -> str:
    """Say why there is no key of ``provider``."""
    kept, base = stored.get(provider.name), address_of(provider, environ)
    if kept is not None and not kept.fits(base):
        return f"its stored key is for {origin(kept.base_url)}, and {provider.base_variable} says {origin(base)}"
    return f"{' or '.join(provider.keys)} is not set"


def local(provider: LocalProvider) -> Endpoint:
    """Return the endpoint of a server on its usual port."""
    return Endpoint(provider.name, f"http://127.0.0.1:{provider.port}/v1", source=f"port {provider.port}")


def configured(
    provider: ProviderSettings, environ: Mapping[str, str], stored: Mapping[str, StoredKey] = NOTHING_STORED
) -> Endpoint:
    """Return the endpoint of a configured provider; ``base_url`` and key of the well-known ones may be left out."""
    known = next((entry for entry in KEY_PROVIDERS if entry.name in (provider.kind, provider.name)), None)
    base, key, source = provider.base_url, provider.api_key, f"providers.{provider.name}.api_key"
    if provider.key_origin is not None:
        source = f"{provider.key_origin} ({source})"
    if known is not None and base is None:
        base = known.base_url
        # A key of the environment goes to its own provider only, never to an address that a file names.
        if key is None and (found := key_of(known, environ)) is not None:
            source, key = found
    kept = stored.get(provider.name)
    fetched = key is None and kept is not None and kept.fits(base or "")
    if kept is not None and fetched:
        source = stored_source(kept)
    return Endpoint(
        provider.name,
        base or "",
        key,
        source if key is not None or fetched else None,
        provider.headers,
        provider.timeout,
        provider.extra_body,
        provider.source,
        provider.kind,
        provider.connect_timeout,
        provider.silence_timeout,
        fetched,
    )


def preferred(provider: KeyProvider, models: Sequence[str]) -> str | None:
    """Return the highest version among ``models`` that fits what the provider is best known for, else the first one."""
    best: tuple[tuple[int, int], str] | None = None
    for model in models:
        if (found := provider.prefer.fullmatch(model)) is not None:
            version = (int(found[1] or 0), int(found[2] or 0))
            if best is None or version > best[0]:
                best = (version, model)
    return best[1] if best is not None else first_chat(models)


def first_chat(models: Sequence[str]) -> str | None:
    """Return the first model that is not one for embeddings."""
    return next((model for model in models if is_chat(model)), None)


def is_chat(model: str) -> bool:
    """Tell whether a model of this name may be one to talk with: names of other kinds say what they are for."""
    return _OTHER_KINDS.search(model) is None
