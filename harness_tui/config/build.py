"""Layered values to settings: placeholders put in, paths made absolute, each entry on its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from harness_tui.config.agents import built_in_agents
from harness_tui.config.entry_checks import check_headers, check_provider, check_url
from harness_tui.config.fragment import Keys
from harness_tui.config.layers import Layers, Leaf
from harness_tui.config.login_keys import check_login, with_paths
from harness_tui.config.problems import Problem
from harness_tui.config.project import Project
from harness_tui.config.rules import spread
from harness_tui.config.settings import (
    COMPATIBLE_PROVIDERS,
    CompactionSettings,
    EgressEntry,
    EgressSettings,
    HookSettings,
    HooksSettings,
    LspServerSettings,
    LspSettings,
    McpServerSettings,
    McpTimeouts,
    ModelLimits,
    ModelPrice,
    ProviderSettings,
    SessionsSettings,
    ToolSearchSettings,
    TuiSettings,
)
from harness_tui.config.substitution import Substitution
from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import HOOK_S
from harness_tui.core.paths import expand
from harness_tui.core.values import AgentDefinition, Rule

T = TypeVar("T")


@dataclass(slots=True)
class Builder:
    """Builds the parts of ``Settings`` from layers; faults are collected, never raised."""

    layers: Layers
    project: Project
    substitution: Substitution
    problems: list[Problem] = field(default_factory=list[Problem])
    unusable: dict[str, str] = field(default_factory=dict[str, str])

    def scalar(self, *keys: str) -> Any:
        """Return one top-level value, or ``None``; a fault in it is reported and it counts as not set."""
        leaf = self.layers.leaves.get(keys)
        if leaf is None:
            return None
        try:
            return self.substitution.value(keys, leaf)
        except HarnessError as error:
            self._report(keys, error, leaf.source)
            return None

    def tui(self) -> TuiSettings:
        """Return how the full-screen front end looks; keys are as written."""
        return TuiSettings(**self._plain(self.layers.entry(("tui",)), ("tui",), raw=True))

    def model(self, keys: Keys = ("model",)) -> str | None:
        """Return the configured model; the path of ``replay:FILE`` is made absolute."""
        leaf = self.layers.leaves.get(keys)
        value = self.scalar(*keys)
        if leaf is None or value is None:
            return None
        try:
            return absolute_replay(str(value), Path(leaf.path).parent)
        except HarnessError as error:
            self._report(keys, HarnessError(f"{value!r}: {error.what}"), leaf.source)
            return None

    def instructions(self) -> tuple[str, ...]:
        """Return the paths (or patterns) of further instruction files, absolute."""
        leaf = self.layers.leaves.get(("instructions",))
        items = self.scalar("instructions")
        if leaf is None or not isinstance(items, list):
            return ()
        base = self.project.root if leaf.of_project else Path(leaf.path).parent
        paths: list[str] = []
        for item in cast(list[Any], items):
            try:
                paths.append(str(expand(str(item), base)))
            except HarnessError as error:
                self._report(("instructions",), HarnessError(f"{item!r}: {error.what}"), leaf.source)
        return tuple(paths)

    def providers(self) -> dict[str, ProviderSettings]:
        """Return the providers that can be used."""
        return self._entries(("providers",), self._provider)

    def agents(self) -> dict[str, AgentDefinition]:
        """Return the built-in agents and the configured ones that can be used, values laid over built-in ones."""
        return {**built_in_agents(), **self._entries(("agents",), self._agent)}

    def mcp(self) -> dict[str, McpServerSettings]:
        """Return all MCP servers; one that cannot be used says so in ``error``."""
        result: dict[str, McpServerSettings] = {}
        for name in self.layers.names("mcp"):
            keys = ("mcp", name)
            where = self.layers.places.get(keys, "")
            reason = self.layers.errors.get(keys)
            raw = self.untrusted_mcp(name)
            if reason is None:
                try:
                    result[name] = self._mcp(keys, self._plain(self.layers.entry(keys), keys), where)
                    continue
                except HarnessError as error:
                    reason = self._report(keys, error, where)
            result[name] = replace(raw, error=reason, trusted=True)
        return result

    def untrusted_mcp(self, name: str) -> McpServerSettings:
        """Return a server as it is written, nothing put in, marked as not trusted."""
        keys = ("mcp", name)
        values = self._plain(self.layers.entry(keys), keys, raw=True)
        where = self.layers.places.get(keys, "")
        try:
            server = self._mcp(keys, values, where)
        except HarnessError as error:
            server = McpServerSettings(name=name, source=where, error=self.layers.errors.get(keys, error.what))
        return replace(server, trusted=False)

    def lsp(self) -> LspSettings:
        """Return the language server settings with the servers that can be used."""
        given = {
            name: value
            for name in ("enabled", "diagnostics_on_edit", "wait_ms", "cold_wait_ms", "memory_mb")
            if (value := self.scalar("lsp", name)) is not None
        }
        return LspSettings(**given, servers=self._entries(("lsp", "servers"), self._lsp_server))

    def egress(self) -> EgressSettings:
        """Return the network policy; its rules hold no placeholders."""

        def rules(name: str) -> tuple[EgressEntry, ...]:
            leaf = self.layers.leaves.get(("egress", name))
            return () if leaf is None else tuple(EgressEntry(**item) for item in leaf.value)

        return EgressSettings(rules("allow"), rules("deny"), self.scalar("egress", "default") or "allow")

    def hooks(self) -> HooksSettings:
        """Return the hooks of every file that counts."""

        def of(event: str) -> tuple[HookSettings, ...]:
            leaf = self.layers.leaves.get(("hooks", event))
            items: list[dict[str, Any]] = [] if leaf is None else leaf.value
            return tuple(
                HookSettings(
                    tuple(item["command"]), item.get("match", "*"), item.get("timeout", HOOK_S), item["source"]
                )
                for item in items
            )

        return HooksSettings(of("after_edit"), of("before_tool"), of("run_finished"))

    def compaction(self) -> CompactionSettings:
        """Return when the history is summed up."""
        given = {
            name: value
            for name in ("auto", "reserve", "keep")
            if (value := self.scalar("compaction", name)) is not None
        }
        return CompactionSettings(**given)

    def sessions(self) -> SessionsSettings:
        """Return how much room sessions may take."""
        names = ("total_mb", "session_mb")
        return SessionsSettings(
            **{name: value for name in names if (value := self.scalar("sessions", name)) is not None}
        )

    def tool_search(self) -> ToolSearchSettings:
        """Return when tools of servers are searched for."""
        always = self.scalar("tool_search", "always") or ()
        return ToolSearchSettings(self.scalar("tool_search", "budget"), tuple(always))

    def untrusted_lsp_server(self, name: str) -> LspServerSettings:
        """Return a language server as it is written, nothing put in, marked as not trusted."""
        keys = ("lsp", "servers", name)
        values = self._plain(self.layers.entry(keys), keys, raw=True)
        return replace(self._lsp_server(keys, values, self.layers.places.get(keys, "")), trusted=False)

    def untrusted_agents(self) -> dict[str, AgentDefinition]:
        """Return the configured agents as they are written, marked as not trusted."""
        result: dict[str, AgentDefinition] = {}
        for name in self.layers.names("agents"):
            keys = ("agents", name)
            if keys not in self.layers.errors:
                values = self._plain(self.layers.entry(keys), keys, raw=True)
                result[name] = replace(self._agent(keys, values, self.layers.places.get(keys, "")), trusted=False)
        return result

    # --- one entry -----------------------------------------------------------------------------------

    def _entries(self, section: Keys, make: Callable[[Keys, dict[str, Any], str], T]) -> dict[str, T]:
        result: dict[str, T] = {}
        for name in self.layers.names(*section):
            keys = (*section, name)
            where = self.layers.places.get(keys, "")
            if keys in self.layers.errors:
                self.unusable[".".join(keys)] = self.layers.errors[keys]
                continue
            try:
                result[name] = make(keys, self._plain(self.layers.entry(keys), keys), where)
            except HarnessError as error:
                self.unusable[".".join(keys)] = self._report(keys, error, where)
        return result

    def _report(self, keys: Keys, error: HarnessError, where: str) -> str:
        label = ".".join(keys)
        self.problems.append(Problem(error.where or where, error.code, f"{label}: {error.what}", error.mend))
        return f"{error.what} ({error.mend})" if error.mend else error.what

    def _plain(self, values: dict[str, Any], keys: Keys, *, raw: bool = False) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, item in values.items():
            path = (*keys, key)
            if isinstance(item, Leaf):
                keep = raw or key == "permission" or (item.path.endswith(".md") and key == "prompt")
                result[key] = item.value if keep else self.substitution.value(path, item)
            else:
                result[key] = self._plain(item, path, raw=raw)
        return result

    def _mcp(self, keys: Keys, values: dict[str, Any], where: str) -> McpServerSettings:
        command, url = values.get("command"), values.get("url")
        if not command and not url:
            mend = "give it one of them"
            raise HarnessError("neither 'command' nor 'url'", where=where, mend=mend, code="no-address")
        if command and url:
            mend = "keep one of them"
            raise HarnessError("both 'command' and 'url'", where=where, mend=mend, code="two-addresses")
        transport = values.get("transport") or ("http" if url else "stdio")
        if (transport == "stdio") != bool(command):
            message = f"the transport {transport} does not go with {'a command' if command else 'a url'}"
            raise HarnessError(message, where=where, mend="leave 'transport' out", code="transport")
        if url and "{" not in url:
            check_url(url, where)
        if not any("{" in name + value for name, value in values.get("headers", {}).items()):
            check_headers(values.get("headers", {}), lambda name: self._place((*keys, "headers", name), where))
        return McpServerSettings(
            name=keys[-1],
            command=tuple(command or ()),
            url=url,
            transport=transport,
            env=values.get("env", {}),
            inherit=tuple(values.get("inherit", ())),
            headers=values.get("headers", {}),
            cwd=self._path((*keys, "cwd"), values.get("cwd")),
            enabled=values.get("enabled", True),
            lazy=values.get("lazy", True),
            timeout=McpTimeouts(**values.get("timeout", {})),
            tools=values.get("tools", {}),
            oauth=self._login(keys, values, where),
            server_name=values.get("server_name"),
            repair=values.get("repair", True),
            source=where,
        )

    def _login(self, keys: Keys, values: dict[str, Any], where: str) -> dict[str, Any]:
        options: dict[str, Any] = values.get("oauth", {})
        for name in ("oauth", "server_name"):
            if values.get(name) and not values.get("url"):
                place = self._place((*keys, name), where)
                raise HarnessError(f"{name!r} goes with a 'url' only", where=place, mend="take it away", code="no-url")
        if options and any(name.lower() == "authorization" for name in values.get("headers", {})):
            place = self._place((*keys, "oauth"), where)
            message = "the header 'Authorization' already says who asks, so 'oauth' would not be used"
            raise HarnessError(message, where=place, mend="keep one of them", code="grant")
        if "{env:" not in repr(options) and "{file:" not in repr(options):
            check_login((*keys, "oauth"), options, where, self._place)
        return with_paths(options, lambda names, text: self._path((*keys, "oauth", *names), text))

    def _path(self, keys: Keys, text: str | None) -> str | None:
        """Return a file or working folder, absolute: relative to the project for its own files, else to the file.

        Where only the other of the two is there, it is that one.
        """
        leaf = self.layers.leaves.get(keys)
        if text is None or leaf is None:
            return None
        beside = Path(leaf.path).parent
        first, second = (self.project.root, beside) if leaf.of_project else (beside, self.project.root)
        path, other = expand(text, first), expand(text, second)
        return str(other if not path.exists() and other.exists() else path)

    def _provider(self, keys: Keys, values: dict[str, Any], where: str) -> ProviderSettings:
        url = values.get("base_url")
        compatible = bool(url) or keys[-1] in COMPATIBLE_PROVIDERS
        kind = values.get("kind") or ("openai-compatible" if compatible else keys[-1])
        check_provider(keys, kind, values, where, self._place)
        models = {name: self._limits((*keys, "models", name), item) for name, item in values.get("models", {}).items()}
        return ProviderSettings(
            name=keys[-1],
            kind=kind,
            base_url=url,
            api_key=values.get("api_key"),
            headers=values.get("headers", {}),
            models=models,
            timeout=values.get("timeout", 600.0),
            extra_body=values.get("extra_body", {}),
            source=where,
            connect_timeout=values.get("connect_timeout", 15.0),
            silence_timeout=values.get("silence_timeout", 20.0),
            threads=values.get("threads"),
            key_origin=self.substitution.origin(key) if (key := self.layers.leaves.get((*keys, "api_key"))) else None,
        )

    def _limits(self, keys: Keys, item: dict[str, Any]) -> ModelLimits:
        price = item.get("price")
        return ModelLimits(
            item.get("context"),
            item.get("output"),
            tuple(item.get("aliases", ())),
            self._path((*keys, "path"), item.get("path")),
            item.get("temperature"),
            item.get("reasoning_effort"),
            ModelPrice(**price) if price else None,
        )

    def _place(self, keys: Keys, default: str) -> str:
        """Return ``file:line`` of what lies at ``keys``, or below it."""
        for path, leaf in self.layers.leaves.items():
            if path[: len(keys)] == keys:
                return leaf.source
        return default

    def _lsp_server(self, keys: Keys, values: dict[str, Any], where: str) -> LspServerSettings:
        def items(name: str) -> tuple[str, ...] | None:
            return tuple(values[name]) if name in values else None

        return LspServerSettings(
            name=keys[-1],
            command=items("command"),
            extensions=items("extensions"),
            roots=items("roots"),
            env=values.get("env", {}),
            initialization=values.get("initialization"),
            settings=values.get("settings"),
            disabled=values.get("disabled", False),
            source=where,
        )

    def _agent(self, keys: Keys, values: dict[str, Any], where: str) -> AgentDefinition:
        base = built_in_agents().get(keys[-1], AgentDefinition(name=keys[-1]))
        given = {name: values[name] for name in values if name not in ("permission", "tools", "model")}
        model_leaf = self.layers.leaves.get((*keys, "model"))
        if model_leaf is not None and values.get("model") not in (None, "", "inherit"):  # as other tools write "none"
            given["model"] = absolute_replay(values["model"], Path(model_leaf.path).parent)
        tools = {
            name: item if isinstance(item, bool) else tuple(item) for name, item in values.get("tools", {}).items()
        }
        rules = tuple(
            Rule(permission, rule["pattern"], rule["action"], rule.get("source", where))
            for rule in values.get("permission", ())
            for permission in spread(rule["permission"])
        )
        return replace(
            base, **given, tools={**base.tools, **tools}, permission=(*base.permission, *rules), source=where
        )


def absolute_replay(model: str, base: Path) -> str:
    """Return ``model``; a relative path after ``replay:`` or ``local:`` is read against ``base``."""
    prefix, colon, name = model.partition(":")
    return f"{prefix}:{expand(name, base)}" if prefix in ("replay", "local") and colon and name else model
