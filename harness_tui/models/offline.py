"""The model that there is when there is none: it says so, and how to get one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Final

from harness_tui.core.messages import Message
from harness_tui.core.seams import Finished, ModelEvent, ModelSettings, TextChunk
from harness_tui.core.values import ToolSpec
from harness_tui.models.replay import words

NAME: Final = "offline"

WAYS: Final = """\
Ways to get a model:

- a key in the environment: `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` (with `OPENAI_BASE_URL` for another server), \
`GEMINI_API_KEY` or `GOOGLE_API_KEY`; `OPENROUTER_API_KEY`, `GROQ_API_KEY`, `MISTRAL_API_KEY`, `DEEPSEEK_API_KEY`, \
`XAI_API_KEY`
- a key that is kept: `harness auth add anthropic` (or another one of these) asks for it once
- a model server on this machine: ollama (port 11434), llama.cpp (8080), LM Studio (1234) or vLLM (8000) is found by \
itself, and `/model` finds one that was started later
- a model file on this machine, without a server: `harness run --model local:/path/to/model.gguf "..."` (needs \
`pip install 'harness-tui[local]'`)
- one run: `harness run --model provider/model "..."`; for good: `model: provider/model` in `config.yaml`
- any other server that speaks the OpenAI protocol, in `config.yaml`:

```yaml
model: local/qwen
providers:
  local:
    kind: openai-compatible
    base_url: "http://127.0.0.1:8080/v1"
    models: {qwen: {context: 32768}}
```
"""
"""How to get a model, as Markdown; also what ``run`` says when it has none."""

_PLAIN: Final = [line for line in WAYS.splitlines(keepends=True) if not line.startswith("```")]
WAYS_TEXT: Final = "".join(_PLAIN).replace("`", "")
"""The same for a terminal, where nobody renders Markdown."""

EXPLANATION: Final = f"""\
There is no model, so nobody can answer this message.

{WAYS}
What works without one: commands and their preview, skills, tools by hand with `/call`, MCP servers, diagnostics of \
language servers, and shell commands with `!`.
"""


class OfflineModel:
    """Answers every message with the explanation; satisfies ``Model``."""

    @property
    def name(self) -> str:
        """``offline``."""
        return NAME

    @property
    def context_limit(self) -> int | None:
        """Nothing is sent anywhere, so there is no limit."""
        return None

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], settings: ModelSettings
    ) -> AsyncGenerator[ModelEvent, None]:
        """Stream the explanation, word by word; nothing for a title or a summary."""
        for word in words(EXPLANATION) if settings.purpose == "turn" else ():
            yield TextChunk(word)
            await asyncio.sleep(0)
        yield Finished(reason="stop")
