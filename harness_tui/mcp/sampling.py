"""What a server wants the model to answer, and the answer, between the wire and the core.

Imports the SDK: loaded with the first server, in a thread.
"""

from __future__ import annotations

import base64
import binascii
from typing import Final

from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    AudioContent,
    CreateMessageRequestParams,
    CreateMessageResult,
    ErrorData,
    ImageContent,
    SamplingMessage,
    TextContent,
)

from harness_tui.core.calls import QuestionReply, SamplingRequest
from harness_tui.core.messages import AssistantMessage, Attachment, UserMessage
from harness_tui.mcp.content import IMAGE_TO_MODEL_BYTES, sniff

MESSAGES: Final = 100
CHARS: Final = 400_000
"""What a server may put before the model at once."""
REJECTED: Final = -1
"""The protocol's code for a person who does not want it."""


class UnfitError(ValueError):
    """A request that cannot be put to a model."""


def request_of(params: CreateMessageRequestParams) -> SamplingRequest:
    """Return the request of a server as the core knows it. Raises :class:`UnfitError`."""
    if params.tools:
        raise UnfitError("tools are not offered for sampling")
    if not params.messages or len(params.messages) > MESSAGES:
        raise UnfitError(f"there must be 1 to {MESSAGES} messages")
    if params.max_tokens < 1:
        raise UnfitError("maxTokens must be 1 or more")
    messages = tuple(map(_message, params.messages))
    if sum(len(message.text) for message in messages) + len(params.system_prompt or "") > CHARS:
        raise UnfitError(f"the messages have more than {CHARS} characters")
    if not isinstance(messages[-1], UserMessage):
        raise UnfitError("the last message must be of the role user")
    return SamplingRequest(messages, params.max_tokens, params.system_prompt or "", params.temperature)


def _message(message: SamplingMessage) -> UserMessage | AssistantMessage:
    texts: list[str] = []
    images: list[Attachment] = []
    for block in message.content_as_list:
        match block:
            case TextContent(text=text):
                texts.append(text)
            case ImageContent(data=data) if message.role == "user":
                images.append(_image(data))
            case AudioContent():
                raise UnfitError("audio cannot be put to the model")
            case _:
                raise UnfitError(f"content of the type {block.type} cannot be put to the model")
    text = "\n".join(texts)
    return UserMessage(text, attachments=tuple(images)) if message.role == "user" else AssistantMessage(text)


def _image(data: str) -> Attachment:
    try:
        decoded = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise UnfitError("an image is no valid base64") from error
    mime, _ = sniff(decoded)
    if not mime.startswith("image/") or len(decoded) > IMAGE_TO_MODEL_BYTES:
        raise UnfitError(f"an image is none, or has more than {IMAGE_TO_MODEL_BYTES} bytes")
    return Attachment("image", mime, len(decoded), content=data)


def result_of(reply: QuestionReply) -> CreateMessageResult | ErrorData:
    """Return the answer to a server: what the model said, or why it said nothing."""
    text = reply.content.get("text")
    if reply.nobody:
        return ErrorData(code=INVALID_REQUEST, message="nobody can be asked here")
    if reply.action == "decline":
        return ErrorData(code=REJECTED, message="User rejected sampling request")
    if reply.action != "accept" or not isinstance(text, str):
        return ErrorData(code=REJECTED, message="the model gave no answer")
    stop = "maxTokens" if reply.content.get("stop") == "length" else "endTurn"
    model = str(reply.content.get("model") or "unknown")
    return CreateMessageResult(
        role="assistant", content=TextContent(type="text", text=text), model=model, stop_reason=stop
    )


def refusal(error: UnfitError) -> ErrorData:
    """Return the answer to a request that cannot be put to a model."""
    return ErrorData(code=INVALID_PARAMS, message=str(error))
