"""What an editor sends as a prompt, as text and attachments of ours."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from harness_tui.core.limits import ATTACHMENT_BYTES, MIB
from harness_tui.core.messages import Attachment
from harness_tui.core.text import cut_end

_IMAGE_CHARS: Final = 14 * MIB
_IMAGES: Final = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""What every provider takes."""


def read_prompt(blocks: Sequence[Any]) -> tuple[str, tuple[Attachment, ...]]:
    """Return the text and the attachments of ``blocks`` (content blocks of the protocol).

    A linked file is named in the text, and the model reads it where it wants to; embedded text and images go along.
    Raises ``ValueError`` for what cannot be taken.
    """
    texts: list[str] = []
    attachments: list[Attachment] = []
    for block in blocks:
        match block.type:
            case "text":
                texts.append(block.text)
            case "image":
                attachments.append(_image(block))
            case "resource_link":
                texts.append(f"[{block.name or block.uri}]({_place(block.uri)})")
            case "resource":
                attachments.append(_resource(block.resource))
            case other:
                raise ValueError(f"content of type {other!r} cannot be taken; text, images and resources can")
    return "\n".join(texts), tuple(attachments)


def _image(block: Any) -> Attachment:
    if len(block.data) > _IMAGE_CHARS:
        raise ValueError("the image is larger than 10 MiB")
    if block.mime_type not in _IMAGES:
        raise ValueError(f"images of type {block.mime_type!r} cannot be taken; {', '.join(_IMAGES)} can")
    try:
        size = len(base64.b64decode(block.data, validate=True))
    except ValueError as error:  # kept in the history it would fail every later request too
        raise ValueError(f"the image is not base 64: {error}") from error
    if not size:
        raise ValueError("the image is empty")
    return Attachment("image", block.mime_type, size, uri=block.uri, content=block.data)


def _resource(resource: Any) -> Attachment:
    text = getattr(resource, "text", None)
    place = _place(resource.uri)
    if text is None:
        raise ValueError(f"{place}: embedded binary resources cannot be taken; link the file")
    size = len(text.encode("utf-8", "replace"))
    mime = resource.mime_type or "text/plain"
    if size <= ATTACHMENT_BYTES:
        return Attachment("text", mime, size, uri=place, content=text)
    return Attachment("text", mime, size, uri=place, truncated=True, content=cut_end(text, ATTACHMENT_BYTES // 4))


def _place(uri: str) -> str:
    """Return the path of a ``file:`` address, any other as it is."""
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" and parts.netloc in ("", "localhost") else uri
