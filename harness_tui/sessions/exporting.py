"""A session in each of its three forms, and the file that it is written to."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias, cast

from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.messages import AssistantMessage
from harness_tui.sessions import rows
from harness_tui.sessions.store import SessionStore

Form: TypeAlias = Literal["md", "json", "html"]


def export(store: SessionStore, session: str, form: str) -> Iterator[str]:
    """Yield ``session`` as ``md``, ``json`` or ``html``, in pieces. Raises ``UsageError``."""
    info = store.info(session)
    match form:
        case "md":
            from harness_tui.sessions.markdown import export_markdown

            return export_markdown(info, store.events(info.session))
        case "html":
            from harness_tui.sessions.html import export_html

            return export_html(info, store.events(info.session), _pictures(store, info.session))
        case "json":
            from harness_tui.sessions.portable import export_json

            return export_json(store, info.session)
        case _:
            raise UsageError(f"there is no form {form!r}", mend="md, json or html")


def form_of(path: Path) -> Form | None:
    """Return the form that a file's name asks for."""
    found = {".md": "md", ".markdown": "md", ".json": "json", ".html": "html", ".htm": "html"}.get(path.suffix.lower())
    return cast(Form | None, found)


def write(path: Path, pieces: Iterator[str]) -> int:
    """Write ``pieces`` to ``path``, for the person alone (0600), whole or not at all; return the bytes.

    Raises ``HarnessError``. What is no regular file, such as ``/dev/stdout``, is written to as it is.
    """
    size = 0
    try:
        if path.exists() and not stat.S_ISREG(path.stat().st_mode):
            with path.open("wb") as device:
                for piece in pieces:
                    size += device.write(piece.encode("utf-8", "replace"))
            return size
        descriptor, temporary = tempfile.mkstemp(prefix=".harness-", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                for piece in pieces:
                    size += file.write(piece.encode("utf-8", "replace"))
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise HarnessError(f"it cannot be written: {error.strerror or error}", where=str(path)) from error
    return size


def _pictures(store: SessionStore, session: str) -> dict[str, str]:
    from harness_tui.sessions.html import picture_key

    found: dict[str, str] = {}
    with store.database.read() as connection:
        messages = rows.raw_messages(connection, session)
    for _, message in messages:
        for attached in () if isinstance(message, AssistantMessage) else message.attachments:
            if attached.kind == "image" and attached.content:
                found[picture_key(attached)] = attached.content
    return found
