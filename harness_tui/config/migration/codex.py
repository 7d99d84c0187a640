"""Settings of Codex: ``config.toml`` of the person and the project, and its agents.

Codex lets commands run in a sandbox without asking. There is none here: what it allowed for that reason is asked.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from harness_tui.config.document import Document
from harness_tui.config.migration.agent_files import translate_agent
from harness_tui.config.migration.findings import Findings, FoundRule, FoundValue
from harness_tui.config.migration.providers import put_provider
from harness_tui.config.migration.reading import Scene, leave_others, mapping, open_settings, texts
from harness_tui.config.migration.servers import Draft, take_server
from harness_tui.config.migration.tool_names import entry_name

_DONE: Final = (
    "model",
    "model_provider",
    "model_providers",
    "mcp_servers",
    "approval_policy",
    "sandbox_mode",
    "model_reasoning_effort",
    "profile",
)
_REASONS: Final = {
    "profiles": "there are no profiles: an agent has its own model and rules",
    "projects": "trust is given here anew: harness trust",
    "sandbox_workspace_write": "there is no sandbox: commands are asked about",
    "notify": "a hook 'run_finished' runs a program",
    "shell_environment_policy": "commands get a fixed list of variables",
    "instructions": "write it into AGENTS.md",
    "features": "there are no such switches",
    "history": "'sessions' limits what is kept",
    "tui": "the shell has settings of its own",
    "model_context_window": "'context' of the model in 'providers' says it",
    "agents": "'task' takes up to four agents at once",
}
_EFFORTS: Final = ("none", "minimal", "low", "medium", "high", "xhigh")
_READ_ONLY: Final = {"edit": False, "write": False, "bash": False, "bash_*": False}


def read_codex(scene: Scene) -> list[Findings]:
    """Return what the person's and the project's files hold."""
    folder = scene.folder("CODEX_HOME", ".codex")
    user, project = Findings("user"), Findings("project")
    for base, findings in ((folder, user), (scene.root / ".codex", project)):
        if findings is project and scene.at_home:
            continue
        document = open_settings(base / "config.toml", findings)
        if document is not None:
            _settings(document, findings)
        _agents(base / "agents", findings)
        rules = sorted(base.glob("rules/*.rules")) if base.is_dir() else []
        for path in rules:
            findings.leave(f"{path}:1", path.name, "rules of this language are not read: write them under 'permission'")
    return [user] if scene.at_home else [user, project]


def _settings(document: Document, findings: Findings) -> None:
    values = document.values
    model, provider = values.get("model"), values.get("model_provider", "openai")
    if isinstance(model, str) and model and isinstance(provider, str):
        findings.values[("model",)] = FoundValue(f"{entry_name(provider)}/{model}", document.where(("model",)))
    for name, entry in mapping(values.get("model_providers")).items():
        _provider(document, name, mapping(entry), findings)
    effort = values.get("model_reasoning_effort")
    if isinstance(effort, str) and isinstance(model, str):
        where = document.where(("model_reasoning_effort",))
        findings.leave(
            where, f"model_reasoning_effort: {effort}", "say 'reasoning_effort' of the model, or of an agent"
        )
    _approval(document, findings)
    for name, entry in mapping(values.get("mcp_servers")).items():
        _server(document, name, mapping(entry), findings)
    if isinstance(values.get("profile"), str):
        findings.leave(document.where(("profile",)), "profile", _REASONS["profiles"])
    leave_others(document, findings, _DONE, _REASONS)


def _provider(document: Document, name: str, entry: dict[str, Any], findings: Findings) -> None:
    keys = ("model_providers", name)
    where = document.where(keys)
    if not entry_name(name) or not isinstance(entry.get("base_url"), str):
        findings.leave(where, f"provider {name}", "it has no address")
        return
    variable = entry.get("env_key")
    headers = dict(mapping(entry.get("http_headers")))
    headers |= {key: f"{{env:{value}}}" for key, value in mapping(entry.get("env_http_headers")).items()}
    put_provider(
        findings,
        "opencode",  # whose placeholders are ours: those above are made here
        entry_name(name),
        where,
        kind="openai-responses" if entry.get("wire_api") == "responses" else "openai-compatible",
        url=entry["base_url"],
        key=f"{{env:{variable}}}" if isinstance(variable, str) and variable else None,
        headers=headers,
    )
    if entry.get("query_params"):
        findings.leave(document.where((*keys, "query_params")), f"{name}.query_params", "addresses take no query here")


def _approval(document: Document, findings: Findings) -> None:
    policy, sandbox = document.values.get("approval_policy"), document.values.get("sandbox_mode")
    where = document.where(("approval_policy",) if policy is not None else ("sandbox_mode",))
    place = document.where(("sandbox_mode",))
    if sandbox == "workspace-write" and policy in ("on-request", "on-failure", "never"):
        findings.values[("mode",)] = FoundValue("accept-edits", place)
        findings.note(place, "sandbox_mode: workspace-write", "edits in the project are not asked about, commands are")
    elif sandbox == "read-only" and policy == "never":
        findings.rules.append(FoundRule("edit", "*", "deny", place, "sandbox_mode: read-only"))
    elif sandbox == "danger-full-access":
        findings.leave(place, f"sandbox_mode: {sandbox}", "everything would be allowed: what no rule allows is asked")
    elif sandbox is not None:
        findings.note(place, f"sandbox_mode: {sandbox}", "edits and commands are asked about, as they are anyway")
    if policy in ("on-request", "on-failure", "never"):
        why = "commands ran in a sandbox without asking, and there is none here: they are asked about"
        findings.leave(where, f"approval_policy: {policy}", why)
    elif policy == "untrusted":
        findings.note(where, "approval_policy: untrusted", "commands are asked about, as they are anyway")
    elif policy is not None:
        findings.leave(where, "approval_policy", "there is nothing like it here: what no rule allows is asked")


def _server(document: Document, name: str, entry: dict[str, Any], findings: Findings) -> None:
    keys = ("mcp_servers", name)
    headers: dict[str, Any] = dict(mapping(entry.get("http_headers")))
    headers |= {key: f"${{{value}}}" for key, value in mapping(entry.get("env_http_headers")).items()}
    token = entry.get("bearer_token_env_var")
    if isinstance(token, str) and token:
        headers["Authorization"] = f"Bearer ${{{token}}}"
    tools: dict[str, bool] = {}
    if isinstance(entry.get("enabled_tools"), list):
        tools = {"*": False, **dict.fromkeys(texts(entry["enabled_tools"]), True)}
    tools |= dict.fromkeys(texts(entry.get("disabled_tools")), False)
    draft = Draft(
        name,
        document.where(keys),
        command=entry.get("command"),
        arguments=entry.get("args"),
        url=entry.get("url"),
        env=entry.get("env"),
        headers=headers,
        cwd=entry.get("cwd"),
        enabled=entry.get("enabled", True) is not False,
        start=entry.get("startup_timeout_sec"),
        total=entry.get("tool_timeout_sec"),
        tools=tools,
        inherit=tuple(texts(entry.get("env_vars"))),
    )
    take_server(findings, "claude" if headers else "codex", draft)


def _agents(folder: Path, findings: Findings) -> None:
    for path in sorted(folder.glob("*.toml"))[:200] if folder.is_dir() else ():
        document = open_settings(path, findings)
        if document is None:
            continue
        values = document.values
        given = {"name": values.get("name", path.stem), "description": values.get("description", "")}
        effort = values.get("model_reasoning_effort")
        if effort in _EFFORTS:
            given["effort"] = effort
        part = Document(path, given, document.lines)
        prompt = values.get("developer_instructions")
        agent = translate_agent(part, prompt if isinstance(prompt, str) else "", path.stem, "claude")
        what = f"agent {agent.name}"
        if agent.error is not None:
            findings.leave(f"{path}:1", what, agent.error)
            continue
        if values.get("sandbox_mode") == "read-only":
            agent.values["tools"] = dict(_READ_ONLY)
        if values.get("model"):
            findings.leave(document.where(("model",)), what, "the session's model is used: choose one with /model")
        if values.get("mcp_servers"):
            findings.leave(document.where(("mcp_servers",)), what, "servers are configured under 'mcp'")
        findings.agents.append(agent)
