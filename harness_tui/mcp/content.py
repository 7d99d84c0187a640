"""The answer to a call, as text and attachments for a model.

Text blocks are joined by one line end. Images and audio go to files and a note, an image also to the model; a declared
MIME type is never believed, the bytes say what they are. No block takes another one down.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from pathlib import Path
from typing import Any, Final, cast

from harness_tui.core.limits import MIB
from harness_tui.core.messages import Attachment
from harness_tui.core.paths import make_private_folder
from harness_tui.core.record import record
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.mcp.listing import CallOutcome

IMAGE_TO_MODEL_BYTES: Final = 5 * MIB
NOTHING: Final = "(the tool returned nothing)"

_MAGIC: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png", "png"),
    (b"\xff\xd8\xff", "image/jpeg", "jpg"),
    (b"GIF87a", "image/gif", "gif"),
    (b"GIF89a", "image/gif", "gif"),
    (b"OggS", "audio/ogg", "ogg"),
    (b"fLaC", "audio/flac", "flac"),
    (b"ID3", "audio/mpeg", "mp3"),
    (b"\xff\xfb", "audio/mpeg", "mp3"),
    (b"%PDF-", "application/pdf", "pdf"),
)
_RIFF: Final = {b"WEBP": ("image/webp", "webp"), b"WAVE": ("audio/wav", "wav")}
_UNKNOWN: Final = ("application/octet-stream", "bin")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]")
_NOTE_CHARS: Final = 300


@record
class Rendered:
    """What a model is given of an answer, limits not yet applied. ``files`` are the paths of what was saved."""

    text: str
    attachments: tuple[Attachment, ...]
    files: tuple[str, ...]


def render(outcome: CallOutcome, *, folder: Path, name: str) -> Rendered:
    """Render ``outcome``; binary parts are saved in ``folder`` under names that begin with ``name``.

    Does file work and decodes base64: call it in a thread.
    """
    texts: list[str] = []
    attachments: list[Attachment] = []
    files: list[str] = []
    for number, block in enumerate(outcome.content, start=1):
        text, saved = _block(block, folder, f"{_safe(name)}-{number}")
        texts.append(text)
        if saved is not None:
            files.append(saved.path)
            if saved.attachment is not None:
                attachments.append(saved.attachment)
    if not texts and outcome.structured is not None:
        # Servers put the same value into the text as well; it is shown when that is missing.
        texts.append(json.dumps(outcome.structured, ensure_ascii=False, indent=2))
    return Rendered("\n".join(texts) if texts else NOTHING, tuple(attachments), tuple(files))


def sniff(data: bytes) -> tuple[str, str]:
    """Return MIME type and file extension of ``data``, by its first bytes."""
    for magic, mime, extension in _MAGIC:
        if data.startswith(magic):
            return mime, extension
    if data[:4] == b"RIFF":
        return _RIFF.get(data[8:12], _UNKNOWN)
    return _UNKNOWN


@record
class _Saved:
    path: str
    attachment: Attachment | None


def _block(block: dict[str, Any], folder: Path, stem: str) -> tuple[str, _Saved | None]:
    match block:
        case {"type": "text", "text": str() as text}:
            return text, None
        case {"type": "image" | "audio" as kind, "data": str() as data}:
            return _binary(kind, data, block.get("mimeType"), folder, stem)
        case {"type": "resource_link", "uri": str() as uri}:
            words = [_note(block[key]) for key in ("title", "name", "mimeType") if isinstance(block.get(key), str)]
            return f"[resource link: {_note(uri)}{' - ' + ', '.join(words) if words else ''}]", None
        case {"type": "resource", "resource": {"uri": str() as uri, "text": str() as text}}:
            return f"[resource {_note(uri)}]\n{text}", None
        case {"type": "resource", "resource": {"uri": str() as uri, "blob": str() as data} as resource}:
            mime = cast(dict[str, Any], resource).get("mimeType")
            text, saved = _binary("resource", data, mime, folder, stem)
            return f"[resource {_note(uri)}]\n{text}", saved
        case _:
            return json.dumps(block, ensure_ascii=False), None


def _binary(kind: str, data: str, declared: object, folder: Path, stem: str) -> tuple[str, _Saved | None]:
    said = f", declared as {_note(declared)}" if isinstance(declared, str) else ""
    try:
        decoded = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return f"[{kind} left out: its data is not valid base64{said}]", None
    mime, extension = sniff(decoded)
    try:
        path = _save(decoded, folder, stem, extension)
    except OSError as error:
        return f"[{kind} left out: it could not be saved: {error.strerror or error}]", None
    told = said if declared != mime else ""
    text = f"[{kind}: {mime}, {len(decoded)} bytes, saved as {path}{told}]"
    attachment = None
    if mime.startswith("image/"):
        fits = len(decoded) <= IMAGE_TO_MODEL_BYTES
        attachment = Attachment(
            kind="image",
            mime=mime,
            bytes=len(decoded),
            path=path,
            truncated=None if fits else True,
            content=base64.b64encode(decoded).decode("ascii") if fits else None,
        )
    return text, _Saved(path, attachment)


def _save(data: bytes, folder: Path, stem: str, extension: str) -> str:
    make_private_folder(folder)
    for number in range(1, 1_000):
        path = folder / (f"{stem}.{extension}" if number == 1 else f"{stem}-{number}.{extension}")
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(path, flags, 0o600)
        except FileExistsError:
            continue
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        return str(path)
    raise FileExistsError(0, f"too many files are named {stem}")


def _safe(name: str) -> str:
    return _UNSAFE.sub("_", name)[:60] or "call"


def _note(text: object) -> str:
    return cut_end(clean_for_display(str(text), one_line=True), _NOTE_CHARS)
