"""Which adapter serves an endpoint: our own for the chat completions protocol, pydantic_ai for the others.

Each is imported when it is made: a run that plays a script needs none.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from harness_tui.core.seams import Model
from harness_tui.models.endpoint import Endpoint
from harness_tui.models.providers import COMPATIBLE

OPENAI_HOST: Final = "api.openai.com"


def adapter_kind(endpoint: Endpoint) -> str:
    """Return the protocol of an endpoint. ``openai`` is Responses at OpenAI itself; whoever else is called so speaks
    chat completions."""
    if endpoint.kind != "openai":
        return endpoint.kind
    return "openai-responses" if urlsplit(endpoint.base_url).hostname == OPENAI_HOST else COMPATIBLE


def make_adapter(
    endpoint: Endpoint, model: str, *, context: int | None = None, output_limit: int | None = None
) -> Model:
    """Return the model of an endpoint; no library is imported yet. Raises ``UsageError`` for a wrong address or key."""
    kind = adapter_kind(endpoint)
    if kind == COMPATIBLE:
        from harness_tui.models.openai_compatible import OpenAICompatibleModel

        return OpenAICompatibleModel(endpoint, model, context=context, output_limit=output_limit)
    from harness_tui.models.library_model import LibraryModel

    return LibraryModel(endpoint, model, kind=kind, context=context, output_limit=output_limit)
