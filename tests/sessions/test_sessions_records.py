"""What is kept of a message: secrets are taken out of texts, and no byte of an image or a PDF is touched."""

from __future__ import annotations

import pytest

from harness_tui.core.messages import Attachment, UserMessage
from harness_tui.sessions.records import message_data, message_from_data

KEY = "ghp_" + "a1B2" * 9


@pytest.mark.parametrize(
    ("attachment", "kept"),
    [
        (Attachment("image", "image/png", 9, path="a.png", content=KEY), KEY),
        (Attachment("resource", "application/pdf", 9, path="a.pdf", content=KEY), KEY),
        (Attachment("text", "text/plain", 9, path="a.txt", content=KEY), "[redacted]"),
        (Attachment("resource", "text/plain", 9, uri="x:y", content=KEY), "[redacted]"),
    ],
)
def test_the_content_of_an_attachment_is_redacted_where_it_is_text(attachment: Attachment, kept: str) -> None:
    message = message_from_data("user", message_data(UserMessage(f"use {KEY}", (attachment,))))
    assert isinstance(message, UserMessage)
    assert message.text == "use [redacted]"
    assert message.attachments[0].content == kept
