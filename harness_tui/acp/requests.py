"""What needs a person, put to the editor: permissions with their offers, and questions with options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import acp
from acp import schema

from harness_tui.acp.patches import apply_patch
from harness_tui.core import events as ev
from harness_tui.core.errors import HarnessError
from harness_tui.core.event_parts import CommandPreview, DiffPreview, Offer, UrlPreview
from harness_tui.core.intents import Answer
from harness_tui.core.limits import MIB
from harness_tui.core.paths import read_regular
from harness_tui.core.redaction import redact

_DENY = "deny"
_ALLOW = "allow"


async def ask_permission(
    client: Any, session: str, root: Path, asked: ev.PermissionRequested, *, call_id: str, title: str | None = None
) -> Answer:
    """Ask the editor about its call ``call_id`` and return the answer; where it gives none the call is denied."""
    options = [schema.PermissionOption(option_id=_ALLOW, name="Allow once", kind="allow_once")]
    for index, offer in enumerate(asked.offers):
        options.append(schema.PermissionOption(option_id=str(index), name=redact(_offered(offer)), kind="allow_always"))
    options.append(schema.PermissionOption(option_id=_DENY, name="Deny", kind="reject_once"))
    call = schema.ToolCallUpdate(tool_call_id=call_id, title=title, content=_shown(asked, root))
    chosen = await _choose(client, session, call, options)
    if chosen is None or chosen == _DENY:
        return Answer(asked.request, "deny")
    if chosen == _ALLOW:
        return Answer(asked.request, "allow")
    number = int(chosen)
    return Answer(asked.request, "allow", scope=asked.offers[number].scope, offer=number)


def _offered(offer: Offer) -> str:
    if offer.mode is not None:
        return f"Allow, and go on in the mode {offer.mode}"
    rules = ", ".join(f"{rule.permission} {rule.pattern}" for rule in offer.rules)
    return f"Allow for the {offer.scope}: {rules}"


async def ask_question(client: Any, session: str, asked: ev.QuestionAsked) -> Answer:
    """Put a question with options to the editor as a choice; what is no choice is declined."""
    questions = asked.questions or ()
    if not questions or any(not question.options or question.multiple for question in questions):
        return Answer(asked.request, "decline")
    content: dict[str, Any] = {}
    for question in questions:
        options = [
            schema.PermissionOption(option_id=str(index), name=redact(option.label), kind="allow_once")
            for index, option in enumerate(question.options)
        ]
        options.append(schema.PermissionOption(option_id=_DENY, name="No answer", kind="reject_once"))
        shown: list[Any] = [_text(question.text)]
        call = schema.ToolCallUpdate(tool_call_id=asked.request, title=redact(question.text), content=shown)
        chosen = await _choose(client, session, call, options)
        if chosen is None or chosen == _DENY:
            return Answer(asked.request, "decline")
        content[question.id] = question.options[int(chosen)].label
    return Answer(asked.request, "accept", content=content)


async def _choose(
    client: Any, session: str, call: schema.ToolCallUpdate, options: list[schema.PermissionOption]
) -> str | None:
    answer = await client.request_permission(session_id=session, tool_call=call, options=options)
    outcome = answer.outcome
    if outcome.outcome != "selected" or outcome.option_id not in {option.option_id for option in options}:
        return None
    return str(outcome.option_id)


def _shown(asked: ev.PermissionRequested, root: Path) -> list[Any]:
    if asked.changes is None:
        return _previewed(asked, root)
    return [_text(f"{asked.reason}:\n\n```diff\n{asked.changes}\n```"), *_previewed(asked, root)]


def _previewed(asked: ev.PermissionRequested, root: Path) -> list[Any]:
    match asked.preview:
        case DiffPreview(text=text, files=files) if files is not None:
            return [_text(f"```diff\n{text}\n```")]
        case DiffPreview(path=path, text=text):
            return [_diff(root / path, text)]
        case CommandPreview(command=command, workdir=workdir):
            return [_text(f"```sh\n{command}\n```\n\nin {workdir}")]
        case UrlPreview(url=url):
            return [_text(url)]
        case _:
            return [_text("\n".join(asked.patterns))]


def _diff(path: Path, patch: str) -> Any:
    old: str | None = None
    try:
        old = read_regular(path, max_bytes=MIB).decode("utf-8")
    except (HarnessError, UnicodeDecodeError):
        if path.exists():
            return _text(f"```diff\n{patch}\n```")
    new = apply_patch(old or "", patch)
    return _text(f"```diff\n{patch}\n```") if new is None else acp.tool_diff_content(str(path), new, old)


def _text(text: str) -> Any:
    return acp.tool_content(acp.text_block(redact(text)))
