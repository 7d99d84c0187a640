"""``webfetch``: one document from the web, as Markdown, plain text or HTML."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Final, cast

from harness_tui.core.errors import HarnessError, ToolError
from harness_tui.core.event_parts import UrlPreview
from harness_tui.core.limits import WEBFETCH_BYTES, WEBFETCH_S
from harness_tui.core.record import record
from harness_tui.core.seams import Check, PreparedCall, ToolContext, ToolResult
from harness_tui.egress.egress import Egress
from harness_tui.egress.urls import Url, read_url
from harness_tui.tools.builtin import BuiltinTool, title_of
from harness_tui.tools.outputs import limited_result
from harness_tui.tools.pages import Format, is_readable, media_type, read_page

if TYPE_CHECKING:
    from harness_tui.egress.fetching import Fetched

_FORMATS: Final = ("markdown", "text", "html")
_ACCEPT: Final = {
    "markdown": "text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.5",
    "text": "text/plain, text/html;q=0.9, text/markdown;q=0.8, */*;q=0.5",
    "html": "text/html, application/xhtml+xml;q=0.9, */*;q=0.5",
}


@record
class _Request:
    url: Url
    format: Format


class WebfetchTool(BuiltinTool):
    """Fetches through the egress client. A redirect to another origin is told, not followed."""

    name = "webfetch"
    description = (
        "Fetch a web page or a text file by its http or https URL. HTML is turned into Markdown. Redirects within the "
        "site are followed; where one leads to another site you are told, and may fetch that."
    )
    properties = {  # noqa: RUF012
        "url": {"type": "string", "description": "The complete URL"},
        "format": {"type": "string", "enum": list(_FORMATS), "description": "How to return HTML, by default markdown"},
    }
    required = ("url",)
    read_only = True

    def __init__(self, egress: Egress) -> None:
        super().__init__()
        self._egress = egress

    async def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Bring the URL into its one form, and refuse what nobody need be asked about. Raises ``ToolError``."""
        checked = self.checked(arguments)
        try:
            url = read_url(checked["url"])
            self._egress.check(url, self.name, record=context.run is not None)  # without a run it is only explained
        except HarnessError as error:
            raise _tool_error(error) from error
        return PreparedCall(
            title=title_of("Fetch", str(url)),
            checks=(Check(self.name, str(url)),),
            preview=UrlPreview(str(url), url.authority),
            state=_Request(url, cast(Format, checked.get("format", "markdown"))),
        )

    async def run(self, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        """Fetch it. Raises ``ToolError``."""
        request: _Request = prepared.state
        started = time.monotonic()
        try:
            fetched = await self._fetch(request)
        except HarnessError as error:
            raise _tool_error(error) from error
        metadata: dict[str, Any] = {
            "url": str(request.url),
            "final_url": str(fetched.url),
            "status": fetched.status,
            "content_type": fetched.content_type,
            "bytes": len(fetched.body),
            "cut": fetched.cut,
            "redirects": [{"status": hop.status, "url": hop.url} for hop in fetched.hops],
            "elapsed_ms": round((time.monotonic() - started) * 1000),
        }
        if fetched.elsewhere is not None:
            metadata["redirect"] = str(fetched.elsewhere)
            return ToolResult(_elsewhere(fetched), metadata=metadata)
        if not is_readable(fetched.content_type, fetched.body):
            return ToolResult(_unreadable(fetched), is_error=True, metadata=metadata)
        page = await asyncio.to_thread(read_page, fetched.body, fetched.content_type, str(fetched.url), request.format)
        if page.title is not None:
            metadata["title"] = page.title
        return await limited_result(
            page.text, context, notes=_notes(fetched, page.text), is_error=fetched.status >= 400, metadata=metadata
        )

    async def _fetch(self, request: _Request) -> Fetched:
        await self._egress.load()
        from harness_tui.egress.fetching import fetch

        return await fetch(
            self._egress,
            request.url,
            surface=self.name,
            headers={"Accept": _ACCEPT[request.format]},
            max_bytes=WEBFETCH_BYTES,
            seconds=WEBFETCH_S,
        )


def _tool_error(error: HarnessError) -> ToolError:
    where = f"webfetch: {error.where}" if error.where else "webfetch"
    return ToolError(error.what, where=where, mend=error.mend, code=error.code)


def _elsewhere(fetched: Fetched) -> str:
    return (
        f"{fetched.url} answers with {fetched.status} and leads to another site, which was not followed:\n"
        f"{fetched.elsewhere}\nFetch that URL if it is what you want."
    )


def _unreadable(fetched: Fetched) -> str:
    kind = media_type(fetched.content_type) or "unknown bytes"
    size = f"over {len(fetched.body)}" if fetched.cut else str(len(fetched.body))
    return f"[HTTP {fetched.status}: the answer is {kind}, {size} bytes; webfetch reads text only]"


def _notes(fetched: Fetched, text: str) -> str:
    notes: list[str] = []
    if not text.strip():
        notes.append("(no text)")
    if fetched.hops:
        notes.append(f"[redirected to {fetched.url}]")
    if fetched.cut:
        notes.append(f"[only the first {len(fetched.body)} bytes were read; the document is larger]")
    if fetched.status >= 400:
        notes.append(f"[HTTP {fetched.status} {fetched.reason}]".replace(" ]", "]"))
    return "\n".join(notes)
