"""What went wrong with a request, as one of a few kinds that the agent and a person can act on.

Never holds a key: providers echo keys in their answers, so every foreign text is cleaned and cut here.
"""

from __future__ import annotations

import email.utils
import json
import os
import re
import time
from collections.abc import Mapping
from typing import Any, Final, cast
from urllib.parse import urlsplit, urlunsplit

from harness_tui.core.late_pattern import late_pattern
from harness_tui.core.record import record
from harness_tui.core.redaction import redact
from harness_tui.core.seams import ModelError, ModelErrorKind
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.models.endpoint import is_loopback

_TEXT_CHARS: Final = 600
_RETRY_AFTER_MAX_S: Final = 24 * 3600.0

_CONTEXT: Final = late_pattern(
    r"(?i)context[ _](?:length|window|size)|maximum context|prompt is too long|exceed_context"
    r"|too many (?:input )?tokens|input token count|reduce the length|request too large for the context"
)
_FILTER: Final = late_pattern(r"(?i)content[_ ]?(?:filter|policy|management)|safety system|responsible ai")
_QUOTA: Final = late_pattern(
    r"(?i)insufficient_quota|billing|credit balance|exceeded your current quota|payment required"
)
_KEY: Final = late_pattern(r"(?i)api[ _]?key (?:is )?(?:not valid|invalid|expired)|api_key_invalid|invalid api[ _]?key")
_RETRY_DELAY: Final = late_pattern(r'"retryDelay"\s*:\s*"(\d{1,6}(?:\.\d{1,9})?)s"')
_PROXY_NOTE: Final = " It goes through the proxy that the environment names"
_UNSEEN: Final = late_pattern(r"(?is)<(style|script)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)|<[^<>]*>")
_SAYING: Final = ("message", "detail", "msg", "errors", "error_description", "title")
"""Where the object of an error says to a person what is wrong, in the words of several frameworks."""
_OVERLOAD: Final = late_pattern(r"(?i)overloaded|over capacity|loading model|server is busy|unavailable")

_BY_STATUS: Final[dict[int, ModelErrorKind]] = {
    401: "auth",
    402: "permission",
    403: "permission",
    408: "timeout",
    413: "context",
    429: "rate_limit",
    498: "overloaded",
    503: "overloaded",
    529: "overloaded",
}
_BY_WORD: Final[dict[str, ModelErrorKind]] = {
    "authentication_error": "auth",
    "invalid_api_key": "auth",
    "permission_error": "permission",
    "permission_denied": "permission",
    "rate_limit_error": "rate_limit",
    "rate_limit_exceeded": "rate_limit",
    "overloaded_error": "overloaded",
    "server_error": "server",
    "api_error": "server",
    "context_length_exceeded": "context",
    "invalid_request_error": "request",
    "billing_error": "permission",
    "insufficient_quota": "permission",
    "insufficient_system_resource": "overloaded",
    "not_found_error": "request",
    "request_too_large": "context",
    "timeout_error": "timeout",
    "unauthenticated": "auth",
    "resource_exhausted": "rate_limit",
    "deadline_exceeded": "timeout",
    "invalid_argument": "request",
    "failed_precondition": "request",
}


@record
class Caller:
    """Who asked whom: what errors name. ``key_source`` is the variable or setting that the key comes from."""

    provider: str
    model: str
    url: str
    key_source: str | None
    secrets: tuple[str, ...] = ()

    def clean(self, text: str) -> str:
        """Return foreign ``text`` on one line without secrets, cut."""
        for secret in self.secrets:
            text = text.replace(secret, "[redacted]")
        return cut_end(clean_for_display(redact(text), one_line=True), _TEXT_CHARS)


def shown_url(url: str) -> str:
    """Return ``url`` without userinfo, query and fragment, where secrets are."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def from_status(caller: Caller, status: int, headers: Mapping[str, str], body: str) -> ModelError:
    """Return the error that an answer with ``status`` (not 2xx) means; ``body`` is its beginning."""
    said, words = _said(body)
    kind = _kind(status, f"{words} {said}")
    text = caller.clean(said) or f"HTTP {status}"
    message = f"{caller.provider} answered {status}: {text}" if said else f"{caller.provider} answered {text}"
    if 300 <= status < 400:
        return _moved(caller, status, headers)
    if status == 404 or "model_not_found" in words:
        return ModelError("request", message, hint=_no_model(caller))
    wait = _wait(headers, body)
    if wait is not None and wait >= _RETRY_AFTER_MAX_S:
        message += " (it asks to wait a day or longer)"
    elif wait is not None and wait >= 60:
        message += f" (it asks to wait {wait / 60:.0f} minutes)"
    return ModelError(kind, message, retry_after=wait, hint=_hint(kind, caller))


def from_stream(caller: Caller, error: Any) -> ModelError:
    """Return the error that an ``error`` object inside a stream means."""
    while isinstance(error, dict) and isinstance(cast(dict[str, Any], error).get("error"), dict):
        error = cast(dict[str, Any], error)["error"]
    said, words = _said(json.dumps({"error": error}, default=str))
    code = str(cast(dict[str, Any], error).get("code")) if isinstance(error, dict) else ""
    status = int(code) if re.fullmatch(r"[45][0-9]{2}", code) else 500
    message = f"{caller.provider}: {caller.clean(said)}"
    if status == 404 or "model_not_found" in words:
        return ModelError("request", message, hint=_no_model(caller))
    kind = _kind(status, f"{words} {said}")
    return ModelError(kind, message, hint=_hint(kind, caller))


def unreachable(caller: Caller, error: BaseException) -> ModelError:
    """Return the error for a server that nobody answers at."""
    why = caller.clean(str(error)) or type(error).__name__
    return ModelError(
        "connection",
        f"{caller.provider} cannot be reached at {caller.url}: {why}",
        hint=f"is the server running, and the address right?{_PROXY_NOTE if _is_proxied(caller.url) else ''}",
    )


def content_filter(caller: Caller, said: str = "") -> ModelError:
    """Return the error for an answer that the provider's filter ended, with what it ``said`` to it."""
    why = f": {caller.clean(said)}" if said.strip() else ""
    return ModelError("content_filter", f"the content filter of {caller.provider} ended the answer{why}")


def web_page(caller: Caller) -> ModelError:
    """Return the error for an address where people look at pages."""
    return ModelError(
        "request",
        f"{caller.provider} answered with a web page at {caller.url}",
        hint="is base_url right? It often ends in /v1",
    )


def no_answer(caller: Caller, why: str) -> ModelError:
    """Return the error for bytes that are no answer."""
    return ModelError("server", f"{caller.provider} sent no valid answer: {why}")


def no_stream(caller: Caller, begin: str) -> ModelError:
    """Return the error for an answer that is none, and begins so."""
    return no_answer(caller, f"it is no stream and no answer: {caller.clean(begin)}")


def cut(caller: Caller, why: str) -> ModelError:
    """Return the error for a stream that ended in the middle."""
    said = caller.clean(why) or "no reason given"
    return ModelError("cut", f"the stream of {caller.provider} broke before the answer was whole: {said}")


def too_slow(caller: Caller, seconds: float) -> ModelError:
    """Return the error for an answer that did not begin."""
    return ModelError(
        "timeout",
        f"{caller.provider} did not begin to answer within {seconds:g} s",
        hint="raise 'timeout' of the provider in config.yaml where the model is slow",
    )


def silent(caller: Caller, seconds: float) -> ModelError:
    """Return the error for an answer that stopped in the middle without an end."""
    return ModelError(
        "silence",
        f"{caller.provider} sent nothing for {seconds:g} s in the middle of its answer",
        hint="raise 'silence_timeout' of the provider in config.yaml where the model pauses longer",
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of a ``retry-after`` header (a number or a date), at most a day.

    A negative number and a date that has passed, as a clock that goes wrong gives them, ask for nothing.
    """
    exact = headers.get("retry-after-ms", "")
    text = headers.get("retry-after", "").strip()
    try:
        seconds = float(exact) / 1000 if exact else float(text)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(text).timestamp() - time.time()
        except (ValueError, TypeError):
            return None
    return min(seconds, _RETRY_AFTER_MAX_S) if seconds >= 0 else None


def _wait(headers: Mapping[str, str], body: str) -> float | None:
    """Google says how long to wait in the body, everybody else in a header."""
    seconds = retry_after(headers)
    found = _RETRY_DELAY.search(body) if seconds is None else None
    return min(float(found[1]), _RETRY_AFTER_MAX_S) if found else seconds


def _kind(status: int, text: str) -> ModelErrorKind:
    if status == 401 or (status in (400, 403) and _KEY.search(text)):
        return "auth"
    if status in (400, 413, 422, 500) and _CONTEXT.search(text):
        return "context"
    if status in (400, 403, 422, 500) and _FILTER.search(text):
        return "content_filter"
    if status in (400, 402, 403, 429) and _QUOTA.search(text):
        return "permission"
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    for word in text.split():
        if word in _BY_WORD:
            return _BY_WORD[word]
    if status >= 500:
        return "overloaded" if _OVERLOAD.search(text) else "server"
    return "request"


def _hint(kind: ModelErrorKind, caller: Caller) -> str | None:
    match kind:
        case "auth" if caller.key_source is not None:
            return f"check the key in {caller.key_source}"
        case "auth":
            return f"{caller.provider} wants a key: set 'api_key' of the provider in config.yaml"
        case "permission":
            key = caller.key_source or "this key"
            return f"the account behind {key} may not use {caller.model}, or has no credit left"
        case "context":
            return "start a new conversation with /new, or take a model with a larger context (/model, --model)"
        case "rate_limit" | "overloaded":
            return "wait, or take another model (/model, --model)"
        case _:
            return None


def _is_proxied(url: str) -> bool:
    """Tell whether the environment names a proxy that a request to ``url`` may go through."""
    names = ("all_proxy", f"{urlsplit(url).scheme}_proxy")
    return not is_loopback(url) and any(os.environ.get(case) for name in names for case in (name, name.upper()))


def _moved(caller: Caller, status: int, headers: Mapping[str, str]) -> ModelError:
    target = headers.get("location", "")
    where = f" to {caller.clean(shown_url(target))}" if target else ""
    return ModelError(
        "request",
        f"{caller.provider} answered {status}: {caller.url} moved{where}",
        hint="redirects are not followed, a key might go elsewhere: put the right address into base_url",
    )


def _no_model(caller: Caller) -> str:
    return f"is there a model {caller.model!r} at {caller.url}?"


def _said(body: str) -> tuple[str, str]:
    """Return what an error body says to a person, and its code words."""
    try:
        data: Any = json.loads(body)
    except (ValueError, RecursionError):
        return _page_text(body), ""
    if isinstance(data, list) and data:  # some gateways wrap the object in a list
        data = cast(list[Any], data)[0]
    error: Any = cast(dict[str, Any], data).get("error", data) if isinstance(data, dict) else data
    if not isinstance(error, dict):
        return "" if error is None else str(error), ""
    fields = cast(dict[str, Any], error)
    said = next((fields[name] for name in _SAYING if fields.get(name)), None)
    words = " ".join(str(fields[name]) for name in ("code", "type", "status") if fields.get(name) is not None)
    return (_said_in(said) if said else json.dumps(fields, default=str)), words.lower()


def _said_in(said: Any) -> str:
    """Return the words of a message, be it text or a list of what is wrong with each field."""
    if isinstance(said, str):
        return said
    items = cast(list[Any], said) if isinstance(said, list) else [said]
    texts: list[str] = []
    for item in items:
        fields = cast(dict[str, Any], item) if isinstance(item, dict) else {}
        text, place = fields.get("msg") or fields.get("message"), fields.get("loc")
        if not isinstance(text, str):
            return json.dumps(said, default=str)
        path = ".".join(map(str, cast(list[Any], place))) if isinstance(place, list) else ""
        texts.append(f"{path}: {text}" if path else text)
    return "; ".join(texts)


def _page_text(body: str) -> str:
    """Return the text of a page without what a browser would not show; any other text as it is."""
    return _UNSEEN.sub(" ", body).strip()
