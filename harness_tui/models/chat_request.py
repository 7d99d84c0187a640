"""The body of a request of the chat completions protocol, and what is left out of it for servers that refuse it.

Servers know parts of the protocol and refuse the others by name. What is only a convenience is then left out, once and
for all; what somebody configured never is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from harness_tui.core.messages import Message
from harness_tui.core.seams import ModelError, ModelSettings
from harness_tui.models.adapt import chat_messages, chat_tools
from harness_tui.models.chat_reasoning import DETAILS_KEY, FIELDS
from harness_tui.models.endpoint import Endpoint
from harness_tui.models.sound_text import sound
from harness_tui.models.tool_schemas import AdaptedTools

_USAGE: Final = "stream_options"
_LIMIT: Final = "max_completion_tokens"
_REASONING: Final = (*FIELDS, DETAILS_KEY, "thinking")


class ChatRequests:
    """Writes the requests for one model at one endpoint."""

    def __init__(self, endpoint: Endpoint, model: str, limit: int | None) -> None:
        self._endpoint = endpoint
        self._model = model
        self._limit = limit
        self._refused: set[str] = set()
        self._new_limit = urlsplit(endpoint.base_url).hostname == "api.openai.com"

    def body(self, messages: Sequence[Message], tools: AdaptedTools, settings: ModelSettings) -> str:
        """Return the body of a request. Takes its time: call it in a thread."""
        reasoning = "reasoning" not in self._refused
        provider = self._endpoint.provider
        body: dict[str, Any] = {
            "model": self._model,
            "messages": chat_messages(settings.system, messages, tools, provider=provider, reasoning=reasoning),
            "stream": True,
        }
        if tools.tools:
            body["tools"] = chat_tools(tools)
        if settings.temperature is not None:
            body["temperature"] = settings.temperature
        if settings.reasoning_effort is not None:
            body["reasoning_effort"] = settings.reasoning_effort
        if settings.output_schema is not None:
            form = {"name": "answer", "schema": settings.output_schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        limit = settings.max_output_tokens or self._limit
        if limit is not None:
            body[_LIMIT if self._new_limit else "max_tokens"] = limit
        if _USAGE not in self._refused:
            body[_USAGE] = {"include_usage": True}
        body |= self._endpoint.extra_body
        return sound(json.dumps(body, ensure_ascii=False, default=str))

    def goes_on_after(self, error: ModelError, sent: str) -> bool:
        """Tell whether a request that was refused may be made again, with less in it than in ``sent``."""
        if error.kind != "request":
            return False
        before = (len(self._refused), self._new_limit)
        if f'"{_USAGE}"' in sent and _USAGE in error.message:
            self._refused.add(_USAGE)  # an older server that does not know the option
        elif _LIMIT in error.message and '"max_tokens"' in sent and "max_tokens" not in self._endpoint.extra_body:
            self._new_limit = True  # a model that knows the limit by its new name alone
        elif any(f'"{name}"' in sent and re.search(rf"\b{name}\b", error.message) for name in _REASONING):
            self._refused.add("reasoning")
        return before != (len(self._refused), self._new_limit)
