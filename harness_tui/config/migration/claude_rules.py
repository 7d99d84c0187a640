"""Permission rules of Claude Code, ``Tool`` or ``Tool(what)``, as rules of ours: never wider than they were."""

from __future__ import annotations

import re
from typing import Final

from harness_tui.config.migration.path_patterns import path_patterns
from harness_tui.config.migration.tool_names import CLAUDE_WITHOUT_EQUAL, mcp_pattern
from harness_tui.core.record import record
from harness_tui.core.values import Action

_RULE: Final = re.compile(r"([A-Za-z_][\w.*-]*)\((.*)\)", re.DOTALL)
_HOST: Final = re.compile(r"[A-Za-z0-9.:-]+")
_READERS: Final = ("Read", "Glob", "Grep", "LS")
_WRITERS: Final = ("Edit", "Write", "MultiEdit")
_WHOLE: Final = {
    "Bash": "bash",
    "Read": "read",
    "Edit": "edit",
    "Write": "edit",
    "MultiEdit": "edit",
    "WebFetch": "webfetch",
    "Task": "task",
    "Agent": "task",
    "Skill": "skill",
    "AskUserQuestion": "question",
}


@record
class Patterns:
    """What a rule is about. ``patterns`` is empty when nothing is to be written; ``why`` says so, or what differs.

    ``action`` is what its rule does here; ``also`` are further permissions with patterns that belong to it.
    """

    permission: str
    patterns: tuple[str, ...] = ()
    why: str | None = None
    action: Action | None = None
    also: tuple[tuple[str, str], ...] = ()


def split_rule(text: str) -> tuple[str, str]:
    """Return tool and what is in the parentheses of ``text``, empty without any."""
    match = _RULE.fullmatch(text.strip())
    return (match[1], match[2].strip()) if match else (text.strip().removesuffix("()"), "")


def claude_patterns(tool: str, inner: str, action: Action) -> Patterns | None:
    """Return what a rule of Claude Code is here; ``None`` when there is nothing like its tool."""
    pattern = mcp_pattern(tool)
    if pattern is not None:
        return (
            Patterns("mcp", (pattern,)) if not inner else Patterns("mcp", (), "arguments of a tool have no rules here")
        )
    if tool in CLAUDE_WITHOUT_EQUAL and tool != "NotebookEdit":
        return None
    if not inner or inner == "*":
        return _whole(tool, action)
    match tool:
        case "Bash":
            return Patterns("bash", (bash_pattern(inner),))
        case _ if tool in _READERS or tool in _WRITERS:
            return _paths(tool, inner, action)
        case "NotebookEdit":
            return _paths("Edit", inner, action)
        case "WebFetch":
            return _webfetch(inner, action)
        case "Task" | "Agent":
            names = (inner, inner.lower()) if action != "allow" else (inner,)
            return Patterns("task", tuple(dict.fromkeys(map(_wild, names))))
        case "Skill":
            return Patterns("skill", (_wild(re.sub(r"(?::| )\*$", "", inner)),))
        case _:
            return None


def bash_pattern(inner: str) -> str:
    """Return our pattern for a command: ``git:*`` and ``git *`` are the word and what follows, ``*`` is any text."""
    return f"{_wild(inner[:-2].strip())} *" if inner.endswith(":*") and inner[:-2].strip() else _wild(inner)


def _wild(text: str) -> str:
    """Return ``text`` with ``*`` as the only wildcard."""
    text = re.sub(r"(\\+)(?=[*?])", lambda match: match[1] * 2, text)
    return text.replace("?", "\\?")


def _whole(tool: str, action: Action) -> Patterns | None:
    if tool in _WHOLE:
        why = "it holds back the tool edit as well" if tool == "Write" and action != "allow" else None
        return Patterns(_WHOLE[tool], ("*",), why)
    if tool in _READERS:
        if action == "allow":
            return Patterns("read", (), "files of the project are read without asking anyway")
        return Patterns("read", ("*",), f"there is no rule for {tool} alone: reading asks", "ask")
    if tool == "NotebookEdit":
        return Patterns("edit", ("*.ipynb",))
    return None


def _paths(tool: str, inner: str, action: Action) -> Patterns:
    permission = "edit" if tool in _WRITERS else "read"
    patterns = path_patterns(inner, action)
    if not patterns:
        why = "as a pattern of ours it would allow more: it is asked" if action == "allow" else "it takes a rule back"
        return Patterns(permission, (), why)
    outside = [pattern for pattern in patterns if pattern.startswith(("/", "~/"))]
    also = tuple(("external_directory", pattern) for pattern in outside) if permission == "read" else ()
    why = None
    if outside and permission == "edit" and action == "allow":
        why = "outside the project the folder is asked about besides"
    return Patterns(permission, patterns, why, also=also if action == "allow" else ())


def _webfetch(inner: str, action: Action) -> Patterns:
    host = inner.removeprefix("domain:").strip()
    if not inner.startswith("domain:"):
        return Patterns("webfetch", (), "only domain:HOST is known")
    if host == "*":
        return Patterns("webfetch", ("*",))
    if action == "allow":
        if not _HOST.fullmatch(host):
            return Patterns("webfetch", (), "a wildcard in a host would fit other addresses as well: it is asked")
        return Patterns("webfetch", (f"https://{host}/*", f"https://{host}"))
    name = _wild(host)
    return Patterns("webfetch", tuple(f"*://{name}{end}" for end in ("", "/*", ":*", "\\?*")))
