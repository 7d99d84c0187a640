"""What every model at an endpoint is, whatever it speaks: its name, its limits, its secrets, its one client."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from harness_tui.core.redaction import REDACTOR
from harness_tui.models import failures
from harness_tui.models.endpoint import Endpoint, check_endpoint
from harness_tui.models.schema_rules import TABLES
from harness_tui.models.tool_schemas import ToolAdapter

if TYPE_CHECKING:
    import httpx2


class EndpointModel:
    """One model at one endpoint. ``table`` names the rules by which tool schemas are adapted to it.

    ``output_limit`` is the limit of output tokens that is sent, ``silence`` how many seconds may pass between two
    pieces of an answer, in the place of the endpoint's. Raises ``HarnessError`` for an endpoint that cannot be used.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        table: str,
        *,
        context: int | None,
        output_limit: int | None,
        silence: float | None,
    ) -> None:
        check_endpoint(endpoint)
        for secret in endpoint.secrets:
            REDACTOR.add(secret)
        self._endpoint = endpoint
        self._model = model
        self._context = context
        self._output_limit = output_limit
        self._silence = endpoint.silence_timeout if silence is None else silence
        self._adapter = ToolAdapter(TABLES[table])
        self._opening = asyncio.Lock()
        self._client: httpx2.AsyncClient | None = None
        self._caller = failures.Caller(
            endpoint.provider, model, failures.shown_url(endpoint.base_url), endpoint.key_source, endpoint.unspoken
        )

    @property
    def name(self) -> str:
        """``provider/model``."""
        return f"{self._endpoint.provider}/{self._model}"

    @property
    def context_limit(self) -> int | None:
        """Tokens that fit, where configured."""
        return self._context

    async def close(self) -> None:
        """Close every connection; the next request opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()
