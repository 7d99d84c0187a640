"""What in a project's files can run code or widen rights: the things that trust is about.

Each covered file gives a digest over exactly those things, so that editing a command's prose asks nothing. Looking is
done on the text by rules that find at least what the loaders would act on; finding too much only asks once too often.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, cast

from harness_tui.config.document import split_front_matter
from harness_tui.core.late_pattern import late_pattern
from harness_tui.core.paths import digest
from harness_tui.core.record import record
from harness_tui.core.text import cut_end

_WIDENING_KEYS: Final = ("agent", "instructions", "hooks")
_RIGHTS_KEYS: Final = ("allowed-tools", "tools", "permission", "permissions", "hooks", "agent", "shell")
_AGENT_PROSE: Final = ("description", "prompt")
_KEY: Final = late_pattern(r"""(["']?)([^\s\-#?:\[\]{}"'&*!|>%@`,\\][^:"'\\]*?)\1[ \t]*:(?:[ \t]|$)""")
_INLINE: Final = late_pattern(r"!`([^`\n]+)`")
_OPEN: Final = late_pattern(r"^[ \t]*(`{3,}|~{3,})[ \t]*!")
_SHOWN: Final = 80


@record
class Risk:
    """What trust covers of one file.

    ``covered``: there is something in it that is not used until the folder is trusted. ``digest`` is the hash of
    what can run code or widen rights, empty when there is nothing of the kind. ``what`` describes that for a person.
    """

    covered: bool = False
    digest: str = ""
    what: tuple[str, ...] = ()


def _risk(payload: dict[str, Any], what: list[str], *, covered: bool) -> Risk:
    if not payload:
        return Risk(covered)
    text = json.dumps(payload, sort_keys=True, ensure_ascii=False, default=str)
    return Risk(True, digest(text.encode("utf-8", "surrogatepass")), tuple(what))


def config_risk(values: Any) -> Risk:
    """Return the risk of a ``config.yaml`` or ``.mcp.json``, from its parsed values in the form of ``config.yaml``."""
    if not isinstance(values, dict):
        return Risk()
    given = {key: value for key, value in cast(dict[str, Any], values).items() if value not in (None, {}, [])}
    payload: dict[str, Any] = {}
    what: list[str] = []
    for key, value in given.items():
        match key:
            case "permission":
                rules = [rule for rule in _items(value) if _action(rule) != "deny"]
                if any(_action(rule) != "ask" for rule in rules):
                    payload[key] = rules
                    what += [f"allow rule: {_rule_text(rule)}" for rule in rules if _action(rule) == "allow"]
            case "agents":
                payload[key] = {
                    name: _agent_payload(entry) if isinstance(entry, dict) else entry
                    for name, entry in _mapping(value).items()
                }
                what += [f"agent {name}" for name in _mapping(value)]
            case "lsp":
                servers = _mapping(_mapping(value).get("servers"))
                if servers:
                    payload[key] = servers
                    what += [f"language server {name}{_command_text(entry)}" for name, entry in servers.items()]
            case "egress":
                opening = {name: item for name, item in _mapping(value).items() if _opens(name, item)}
                if opening:
                    payload[key] = opening
                    what.append(f"network: {_short(opening)}")
            case "mcp" | "providers":
                payload[key] = value
                noun = "MCP server" if key == "mcp" else "model provider"
                what += [f"{noun} {name}{_command_text(entry)}" for name, entry in _mapping(value).items()]
            case _ if key in _WIDENING_KEYS:
                payload[key] = value
                what += _hook_texts(value) if key == "hooks" else [f"{key}: {_short(value)}"]
            case _:
                pass
    return _risk(payload, what, covered=_covers_something(given))


def agent_risk(front_matter: Any, name: str) -> Risk:
    """Return the risk of an agent file, from its parsed front matter; the prompt is prose."""
    values = _mapping(front_matter)
    return _risk({"agent": name, **_agent_payload(values)}, [f"agent {name}"], covered=True)


def markdown_risk(text: str, kind: str) -> Risk:
    """Return the risk of a command or skill file: what its front matter grants, and its shell parts."""
    matter, _ = split_front_matter(text)
    payload: dict[str, Any] = {}
    what: list[str] = []
    for key, chunk in _chunks(matter or ""):
        if key in _RIGHTS_KEYS:
            payload[key] = " ".join(chunk.split())
            what.append(f"{kind} with {_short(payload[key])}")
        elif key is None:
            payload["front matter"] = matter
    shell = list(_shell_parts(text))  # of the whole text: a header that is no mapping is sent like the body
    if shell:
        payload["shell"] = shell
        payload["arguments"] = [" ".join(chunk.split()) for key, chunk in _chunks(matter or "") if key == "arguments"]
        what += [f"{kind} runs: {_short(part)}" for part in shell]
    return _risk(payload, what, covered=True)


def toml_risk(text: str) -> Risk:
    """Return the risk of a command file in TOML: its shell parts ``!{...}``. One that is broken runs nothing."""
    from harness_tui.config.brace_forms import TomlFault, brace_forms, read_toml_prompt

    try:
        prompt = read_toml_prompt(text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")).prompt
    except TomlFault:
        return Risk(covered=True)
    shell = [form.inner for form in brace_forms(prompt) if form.sign == "!"]
    return _risk({"shell": shell} if shell else {}, [f"command runs: {_short(part)}" for part in shell], covered=True)


def _covers_something(given: dict[str, Any]) -> bool:
    if any(key not in ("permission", "theme", "tui", "egress") for key in given):
        return True
    if any(_opens(name, item) for name, item in _mapping(given.get("egress")).items()):
        return True
    return any(_action(rule) != "deny" for rule in _items(given.get("permission")))


def _opens(name: str, value: Any) -> bool:
    """Tell whether an entry of ``egress`` lets more through; unknown ones count as if they did."""
    return value not in (None, []) and name != "deny" and (name, value) != ("default", "deny")


def _agent_payload(entry: Any) -> dict[str, Any]:
    return {key: value for key, value in _mapping(entry).items() if key not in _AGENT_PROSE}


def _chunks(matter: str) -> Iterator[tuple[str | None, str]]:
    """Cut front matter into its top-level ``key:`` parts. The key ``None`` marks text that is no such part.

    No YAML: the lenient loader of commands saves what YAML refuses, and nothing that it saves may be missed here.
    """
    key, lines = "", list[str]()
    for line in matter.split("\n"):
        found = _KEY.match(line)
        if found:
            yield key, "\n".join(lines)
            key, lines = found[2].strip().lower().replace("_", "-"), [line]
        elif not line.strip(" \t") or line.startswith("#") or (key and line[0] in " \t-"):
            lines.append(line)
        else:  # a flow mapping, an indented or an explicit key, a key with escapes, a list
            yield None, line
    yield key, "\n".join(lines)


def _shell_parts(text: str) -> Iterator[str]:
    fence = ""
    block: list[str] = []
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        opened = _OPEN.match(line)
        if fence:
            bare = line.strip()
            if len(bare) >= len(fence) and set(bare) == {fence[0]}:
                yield "\n".join(block)
                fence = ""
            else:
                block.append(line)
        elif opened:
            fence, block = opened[1], []
        else:
            yield from _INLINE.findall(line)
    if fence:
        yield "\n".join(block)


def _mapping(value: Any) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _items(value: Any) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else []


def _action(rule: Any) -> Any:
    return _mapping(rule).get("action")


def _rule_text(rule: Any) -> str:
    return f"{_mapping(rule).get('permission')} {_mapping(rule).get('pattern', '*')}"


def _command_text(entry: Any) -> str:
    values = _mapping(entry)
    command = values.get("command")
    if isinstance(command, list):
        return ": " + _short(" ".join(str(part) for part in cast(list[Any], command)))
    address = values.get("url") or values.get("base_url")
    return f": {_short(address)}" if address else ""


def _hook_texts(value: Any) -> Iterator[str]:
    for event, items in _mapping(value).items():
        for item in _items(items):
            yield f"hook {event} {_mapping(item).get('match', '*')}{_command_text(item)}"
        if not isinstance(items, list):
            yield f"hook {event}: {_short(items)}"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return cut_end(" ".join(text.split()), _SHOWN)
