"""Settings of opencode: ``opencode.json`` and ``opencode.jsonc`` of the person and the project, and its agent files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from harness_tui.config.document import Document, KeyPath
from harness_tui.config.migration.agent_files import translate_agent
from harness_tui.config.migration.agent_folders import take_agents
from harness_tui.config.migration.findings import Findings, FoundRule, FoundValue
from harness_tui.config.migration.opencode_rules import opencode_rules
from harness_tui.config.migration.providers import take_provider
from harness_tui.config.migration.reading import Scene, leave_others, mapping, open_settings, texts
from harness_tui.config.migration.servers import Draft, as_seconds, take_server
from harness_tui.config.migration.tool_names import OPENCODE, entry_name, safe_tool
from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import TEMPLATE_BYTES
from harness_tui.core.paths import expand, read_regular

_KEYS_OF_TOOLS: Final = {"read": "read", "bash": "bash", "webfetch": "webfetch", "task": "task", "skill": "skill"}
_DONE: Final = (
    "permission",
    "permissions",
    "tools",
    "mcp",
    "model",
    "small_model",
    "provider",
    "providers",
    "default_agent",
    "instructions",
    "agent",
    "agents",
    "mode",
    "lsp",
)
_REASONS: Final = {
    "command": "write each as a file in .harness/commands",
    "commands": "write each as a file in .harness/commands",
    "formatter": "a hook 'after_edit' runs a formatter",
    "plugin": "there are no plug-ins",
    "keybinds": "the keys are fixed",
    "theme": "set 'theme' in config.yaml",
    "share": "sessions are not shared",
    "autoupdate": "nothing updates itself",
    "snapshot": "changes are always kept for undo",
    "disabled_providers": "a provider is used only where it is named or has a key",
    "compaction": "see 'compaction', which counts in tokens",
    "skills": "skills are found in their folders",
}


def read_opencode(scene: Scene) -> list[Findings]:
    """Return what the person's and the project's files hold."""
    user, project = Findings("user", ordered=True), Findings("project", ordered=True)
    own = scene.config / "opencode"
    for name in ("config.json", "opencode.json", "opencode.jsonc"):
        _settings(own / name, user)
    for name in ("agent", "agents"):
        take_agents(own / name, "opencode", user)
    if scene.at_home:
        return [user]
    for folder in (scene.root, scene.root / ".opencode"):
        for name in ("opencode.json", "opencode.jsonc"):
            _settings(folder / name, project)
    for name in ("agent", "agents"):
        take_agents(scene.root / ".opencode" / name, "opencode", project)
    return [user, project]


def _settings(path: Path, findings: Findings) -> None:
    document = open_settings(path, findings)
    if document is None:
        return
    values = document.values
    _tools(document, findings)
    for key in ("permission", "permissions"):
        if values.get(key) is not None:
            _permission(document, key, findings)
    servers = mapping(values.get("mcp"))
    nested = "servers" in servers and "type" not in mapping(servers["servers"])
    keys = ("mcp", "servers") if nested else ("mcp",)
    for name, entry in mapping(servers.get("servers") if nested else servers).items():
        _server(document, (*keys, name), mapping(entry), findings)
    for key, ours in (("model", "model"), ("small_model", "small_model"), ("default_agent", "agent")):
        value = values.get(key)
        if isinstance(value, str) and value:
            findings.values[(ours,)] = FoundValue(value, document.where((key,)))
    for key in ("provider", "providers"):
        for name, entry in mapping(values.get(key)).items():
            take_provider(document, (key, name), mapping(entry), findings)
    _instructions(document, findings)
    for key in ("agent", "agents", "mode"):
        for name, entry in mapping(values.get(key)).items():
            _agent(document, (key, name), mapping(entry), findings)
    _lsp(document, findings)
    leave_others(document, findings, _DONE, _REASONS)


def _permission(document: Document, key: str, findings: Findings) -> None:
    found = opencode_rules(document.values[key], lambda place: document.where((key, *place)))
    if found.fault is not None:
        # Half of the rules may be the half that allows.
        findings.leave(document.where((key,)), key, f"{found.fault}: none of its rules is carried over")
        return
    findings.rules += found.rules
    findings.left += found.left


def _tools(document: Document, findings: Findings) -> None:
    """``tools: {write: false}`` of all agents: what is switched off is denied; it stands before the permissions."""
    for name, on in mapping(document.values.get("tools")).items():
        where = document.where(("tools", name))
        if on is True:
            continue
        if on is not False:
            findings.leave(where, f"tools.{name}", "expected true or false")
            continue
        ours = OPENCODE.get(name)
        if ours is None:
            key, pattern = "mcp", safe_tool(name)
        else:
            key, pattern = _KEYS_OF_TOOLS.get(name, "edit" if ours[0] in ("edit", "write") else ""), "*"
        if not key:
            findings.leave(where, f"tools.{name}: false", "no rule denies this tool alone; switch it off in an agent")
        else:
            findings.rules.append(FoundRule(key, pattern, "deny", where, f"tools.{name}: false"))


def _server(document: Document, keys: tuple[str, ...], entry: dict[str, Any], findings: Findings) -> None:
    oauth = mapping(entry.get("oauth"))
    timeout = entry.get("timeout")
    catalogue = mapping(timeout).get("catalog") if isinstance(timeout, dict) else timeout
    draft = Draft(
        keys[-1],
        document.where(keys),
        command=entry.get("command"),
        url=entry.get("url"),
        env=entry.get("environment"),
        headers=entry.get("headers"),
        cwd=entry.get("cwd"),
        enabled=entry.get("enabled", True) is not False and entry.get("disabled") is not True,
        start=as_seconds(catalogue),
        oauth={"scope": oauth["scope"]} if isinstance(oauth.get("scope"), str) else {},
    )
    if set(entry) <= {"enabled", "disabled"}:
        findings.leave(draft.where, f"MCP server {keys[-1]}", "it only switches a server of another file")
        return
    take_server(findings, "opencode", draft)
    for key in ("clientId", "clientSecret"):
        if key in oauth:
            findings.leave(
                document.where((*keys, "oauth", key)), f"{keys[-1]}.oauth.{key}", "only the scope is configured here"
            )


def _instructions(document: Document, findings: Findings) -> None:
    kept: list[str] = []
    for index, item in enumerate(texts(document.values.get("instructions"))):
        where = document.where(("instructions", index))
        if "://" in item:
            findings.leave(where, f"instructions: {item}", "instructions are files: nothing is fetched")
        else:
            kept.append(item)
    if kept:
        base = document.path.parent
        if findings.level == "user":  # relative to its own file there, to ours here
            kept = [item if item.startswith("~/") else str(expand(item, base)) for item in kept]
        findings.values[("instructions",)] = FoundValue(kept, document.where(("instructions",)))


def _agent(document: Document, keys: tuple[str, ...], entry: dict[str, Any], findings: Findings) -> None:
    name = entry_name(keys[-1])
    if entry.get("disable") is True or entry.get("disabled") is True or not name:
        return
    lines: dict[KeyPath, int] = {
        place[len(keys) :]: line for place, line in document.lines.items() if place[: len(keys)] == keys
    }
    part = Document(document.path, {key: value for key, value in entry.items() if key != "prompt"}, lines)
    try:
        prompt = _prompt(entry.get("prompt", entry.get("system")), document.path.parent)
    except HarnessError as error:
        findings.leave(document.where(keys), f"agent {name}", f"its prompt: {error.what}")
        return
    agent = translate_agent(part, prompt, name, "opencode", keep_allows=True)
    if agent.error is not None:
        findings.leave(document.where(keys), f"agent {name}", agent.error)
        return
    for problem in agent.problems:
        findings.leave(problem.where, f"agent {name}", problem.message)
    findings.agents.append(agent)


def _prompt(value: Any, base: Path) -> str:
    """Return the text of a prompt, which may be ``{file:PATH}``. Raises ``HarnessError``."""
    text = value if isinstance(value, str) else ""
    if not (text.startswith("{file:") and text.endswith("}")):
        return text
    path = expand(text[6:-1].strip(), base)
    return read_regular(path, max_bytes=TEMPLATE_BYTES).decode("utf-8-sig", "replace").strip()


def _lsp(document: Document, findings: Findings) -> None:
    value = document.values.get("lsp")
    if value is False:
        findings.values["lsp", "enabled"] = FoundValue(False, document.where(("lsp",)))
    for name, given in mapping(value).items():
        entry, where = mapping(given), document.where(("lsp", name))
        ours: dict[str, Any] = {
            key: entry[key] for key in ("command", "extensions", "env", "initialization") if entry.get(key)
        }
        if entry.get("disabled") is True:
            ours["disabled"] = True
        if ours and entry_name(name) == name:
            findings.values["lsp", "servers", name] = FoundValue(ours, where)
        else:
            findings.leave(where, f"lsp.{name}", "it says nothing that can be carried over")
