"""Resources of servers: ``@server:uri`` read and attached within limits, watched for changes, arguments completed.

An address is never trusted with more than being sent back to the server that it belongs to. What a server declares of
a content is not believed: the bytes say what they are.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import ATTACHMENT_BYTES, ATTACHMENT_LINES
from harness_tui.core.messages import Attachment
from harness_tui.core.resources import ArgumentOf, ReadResource, ResourceSpec, ResourceTemplate
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.mcp import sdk
from harness_tui.mcp.content import IMAGE_TO_MODEL_BYTES, sniff
from harness_tui.mcp.supervisor import Supervisor

MAX_CONTENTS: Final = 50
"""How many contents of one resource are attached."""
PDF: Final = "application/pdf"
_TRAILING: Final = ".:!?)]}"
COMPLETE_S: Final = 5.0
"""How long values for an argument are waited for."""


class McpResources:
    """The resources of the servers in ``supervisors``; satisfies ``core.resources.ResourceSource``.

    ``find`` returns a supervisor by name, or raises ``HarnessError`` with the names that there are.
    """

    def __init__(self, supervisors: Mapping[str, Supervisor], find: Callable[[str], Supervisor]) -> None:
        self._supervisors = supervisors
        self._find = find

    def resources(self) -> Sequence[ResourceSpec]:
        """Return the resources known now, by server, then address."""
        return [item for listing in self._listings() for item in listing.resources]

    def templates(self) -> Sequence[ResourceTemplate]:
        """Return the templates known now, by server, then address."""
        return [item for listing in self._listings() for item in listing.templates]

    def _listings(self) -> Sequence[Any]:
        shown = (supervisor for supervisor in self._supervisors.values() if supervisor.offered)
        return [supervisor.listing for supervisor in shown if supervisor.listing is not None]

    def resource_named(self, text: str) -> tuple[str, str] | None:
        """Return server and address of ``server:uri``; a blank in a server's name may be written as ``_``."""
        able = [
            (name, text[len(name) + 1 :])
            for name in self._supervisors
            if any(text.startswith(f"{word}:") for word in (name, "_".join(name.split()))) and len(text) > len(name) + 1
        ]
        if not able:
            return None
        server, uri = max(able, key=lambda found: len(found[0]))
        listing = self._supervisors[server].listing
        known = {item.uri for item in listing.resources} if listing is not None else set[str]()
        return server, uri if uri in known else uri.rstrip(_TRAILING) or uri

    async def read_resource(self, server: str, uri: str, *, images: bool = True) -> ReadResource:
        """Read a resource, its server started when needed, and watch it from now on. Raises ``HarnessError``."""
        supervisor = self._find(server)
        contents = await supervisor.ask(f"reading {uri}", lambda client: _reading().read(client, uri))
        supervisor.watched.read(uri)
        return await asyncio.to_thread(read_contents, server, uri, contents, images=images)

    async def complete(
        self, server: str, of: ArgumentOf, argument: str, value: str, others: Mapping[str, str]
    ) -> Sequence[str]:
        """Return what the server offers for ``argument``; nothing where it does not run, or is slow."""
        supervisor = self._find(server)
        listing = supervisor.listing
        if not supervisor.running or listing is None or not listing.completes:
            return ()
        operation = partial(_complete, of, argument, value, others)
        try:
            async with asyncio.timeout(COMPLETE_S):
                return await supervisor.ask(f"values for {argument}", operation)
        except TimeoutError:
            return ()

    async def expand(self, template: ResourceTemplate, values: Mapping[str, str]) -> str:
        """Return the address that ``template`` gives with ``values``. Raises ``HarnessError`` for no template."""
        await sdk.load()
        try:
            return _reading().expand(template.uri_template, values)
        except ValueError as error:
            raise HarnessError(f"is no template of addresses: {error}", where=template.uri_template) from error


def _reading() -> Any:
    from harness_tui.mcp import reading  # the SDK is there by now

    return reading


async def _complete(of: ArgumentOf, argument: str, value: str, others: Mapping[str, str], client: Any) -> Any:
    return await _reading().complete(client, of, argument, value, others)


# --- what was read ---------------------------------------------------------------------------------


def read_contents(server: str, uri: str, contents: Sequence[dict[str, Any]], *, images: bool) -> ReadResource:
    """Turn contents in wire form into attachments. Decodes base64: call it in a thread."""
    attachments: list[Attachment] = []
    notes: list[str] = []
    for item in contents[:MAX_CONTENTS]:
        place = f"{server}:{item.get('uri') or uri}"
        made = _attachment(item, place, images=images)
        if isinstance(made, Attachment):
            attachments.append(made)
        else:
            notes.append(f"{cut_end(clean_for_display(place, one_line=True), 200)}: not attached, {made}")
    if len(contents) > MAX_CONTENTS:
        notes.append(f"only the first {MAX_CONTENTS} of {len(contents)} parts are attached")
    if not contents:
        notes.append("it is empty")
    return ReadResource(tuple(attachments), tuple(notes))


def _attachment(item: dict[str, Any], place: str, *, images: bool) -> Attachment | str:
    """Return the attachment of one content, or why there is none."""
    match item:
        case {"text": str() as text}:
            return _text(text, str(item.get("mimeType") or "text/plain"), place)
        case {"blob": str() as blob}:
            return _blob(blob, place, images=images)
        case _:
            return "it holds neither text nor data"


def _blob(blob: str, place: str, *, images: bool) -> Attachment | str:
    try:
        data = base64.b64decode(blob, validate=True)
    except (binascii.Error, ValueError):
        return "its data is not valid base64"
    mime, _ = sniff(data)
    if mime.startswith("image/") or mime == PDF:
        if not images:
            return "the model takes no images and no PDF"
        if len(data) > IMAGE_TO_MODEL_BYTES:
            return f"{mime} of {len(data)} bytes, more than {IMAGE_TO_MODEL_BYTES}"
        return Attachment("resource" if mime == PDF else "image", mime, len(data), uri=place, content=blob)
    if b"\x00" not in data[:8192]:
        try:
            return _text(data.decode("utf-8"), "text/plain", place)
        except UnicodeDecodeError:
            pass
    return f"it is binary ({mime}, {len(data)} bytes)"


def _text(text: str, mime: str, place: str) -> Attachment:
    data = text.encode("utf-8", "replace")
    head = data[:ATTACHMENT_BYTES].decode("utf-8", "ignore")
    lines = head.splitlines(keepends=True)
    if mime == PDF or mime.startswith("image/"):
        mime = "text/plain"  # text all the same: as a file it would be taken for base 64
    mime = cut_end(clean_for_display(mime, one_line=True), 100)
    if len(data) <= ATTACHMENT_BYTES and len(lines) <= ATTACHMENT_LINES:
        return Attachment("resource", mime, len(data), uri=place, content=data.decode("utf-8"))
    head = "".join(lines[:ATTACHMENT_LINES])
    kept = len(head.encode("utf-8"))
    joint = "" if head.endswith("\n") else "\n"
    note = f"[... truncated: the first {kept} of {len(data)} bytes are attached ...]"
    return Attachment("resource", mime, len(data), uri=place, truncated=True, content=f"{head}{joint}{note}")
