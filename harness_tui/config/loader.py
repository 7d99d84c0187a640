"""Loads everything that is configured for a project: files, environment, flags, trust.

Precedence, later wins: bundled < the person's ``config.yaml`` < ``.mcp.json`` and the like (free names only) <
``.harness/config.yaml`` < ``.harness/config.local.yaml`` < ``HARNESS_CONFIG`` < ``HARNESS_MODEL``, ``HARNESS_AGENT`` <
flags.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness_tui.config.agents import built_in_agents
from harness_tui.config.build import Builder, absolute_replay
from harness_tui.config.bundled_rules import BUNDLED_RULES
from harness_tui.config.files import FileRecord, Inventory, read_inventory
from harness_tui.config.fragment import Fragment, Keys
from harness_tui.config.layers import Layers, Leaf, Origin, closing_entries, entries_of
from harness_tui.config.own_alone import why_own_alone
from harness_tui.config.places import Places
from harness_tui.config.problems import Problem
from harness_tui.config.project import Project
from harness_tui.config.rules import MODES, ask_for_everything
from harness_tui.config.settings import LspSettings, McpServerSettings, RuleLayer, Settings
from harness_tui.config.sources import FOREIGN_AGENTS
from harness_tui.config.substitution import Substitution
from harness_tui.config.trust import TrustStatus, TrustStore
from harness_tui.core.errors import UsageError
from harness_tui.core.values import AgentDefinition, Rule


@dataclass(frozen=True, slots=True)
class Flags:
    """What the command line says; ``None`` where it says nothing."""

    model: str | None = None
    agent: str | None = None
    mode: str | None = None


@dataclass(frozen=True, slots=True)
class Loaded:
    """The configuration of a project, and everything that there is to say about it.

    ``untrusted_agents`` are agents of a folder that is not trusted: for lists and hints, never for runs.
    """

    settings: Settings
    problems: tuple[Problem, ...]
    origins: tuple[Origin, ...]
    trust: TrustStatus
    untrusted_agents: dict[str, AgentDefinition] = field(default_factory=dict[str, AgentDefinition])


def load(
    project: Project,
    places: Places,
    flags: Flags = Flags(),
    environ: Mapping[str, str] | None = None,
    trust: TrustStore | None = None,
) -> Loaded:
    """Load the configuration of ``project``. Reads files: call it in a thread.

    A fault in a file is a problem of the result. Raises ``UsageError`` for what was asked for by name and cannot be
    had: a wrong flag, an unknown agent, a ``HARNESS_CONFIG`` that cannot be read or is not valid.
    """
    environ = os.environ if environ is None else environ
    extra = _extra_file(environ)
    inventory = read_inventory(project, places, extra)
    status = (trust or TrustStore(places)).status(project, inventory)
    return _Loading(project, inventory, status, flags, environ, extra).result()


def _extra_file(environ: Mapping[str, str]) -> Path | None:
    value = environ.get("HARNESS_CONFIG")
    if not value:
        return None
    path = Path(value).expanduser().absolute()
    if not path.is_file():
        raise UsageError("there is no such file", where=f"HARNESS_CONFIG={value}", code="no-file")
    return path


class _Loading:
    """One load; its parts share what was read."""

    def __init__(
        self,
        project: Project,
        inventory: Inventory,
        trust: TrustStatus,
        flags: Flags,
        environ: Mapping[str, str],
        extra: Path | None,
    ) -> None:
        self._project = project
        self._inventory = inventory
        self._trust = trust
        self._flags = flags
        self._environ = environ
        self._extra = extra
        self._layers = Layers()
        self._held = Layers()
        self._problems: list[Problem] = [*inventory.problems, *trust.problems]
        self._builder = Builder(self._layers, project, Substitution(environ))

    def result(self) -> Loaded:
        self._lay_foreign_agents()
        for record in self._inventory.config:
            if record.fragment is not None and record.source.kind not in FOREIGN_AGENTS:
                self._lay(record, record.fragment)
        self._from_environment()
        agents = self._builder.agents()
        held = Builder(self._held, self._project, Substitution({}))
        settings = Settings(
            model=self._builder.model(),
            small_model=self._builder.model(("small_model",)),
            agent=self._agent(agents, held.untrusted_agents()),
            mode=self._mode(),
            providers=self._builder.providers(),
            rules=self._rules(),
            mcp=self._mcp(held),
            lsp=self._lsp(held),
            egress=self._builder.egress(),
            agents=agents,
            instructions=self._builder.instructions(),
            theme=self._builder.scalar("theme"),
            tui=self._builder.tui(),
            hooks=self._builder.hooks(),
            compaction=self._builder.compaction(),
            sessions=self._builder.sessions(),
            tool_search=self._builder.tool_search(),
            unusable=self._builder.unusable,
        )
        problems = [*self._problems, *self._layers.problems, *self._held.problems, *self._builder.problems]
        untrusted_agents = {name: item for name, item in held.untrusted_agents().items() if name not in agents}
        return Loaded(settings, tuple(problems), tuple(self._origins(settings)), self._trust, untrusted_agents)

    # --- files ---------------------------------------------------------------------------------------

    def _lay(self, record: FileRecord, fragment: Fragment) -> None:
        source = record.source
        if source.layer == "file":
            self._refuse_invalid(fragment)
        self._problems += fragment.problems
        if source.layer == "servers":
            self._lay_free_servers(record, fragment)
        elif source.of_project and not self._trust.usable:
            # What only closes the network counts without trust, as deny rules do.
            closing = closing_entries(fragment)
            self._layers.lay(source, fragment, only=closing)
            others = [keys for keys in entries_of(fragment) if keys not in closing]
            self._held.lay(source, fragment, only=others)
            self._tell_untrusted(fragment, [keys for keys in others if why_own_alone(keys, None) is None])
        else:
            self._layers.lay(source, fragment)

    def _lay_foreign_agents(self) -> None:
        """Lay one agent of other tools for each name that none of ours has: of several the last, the nearest one."""
        ours = set(built_in_agents())
        for record in self._inventory.config:
            counts = not record.source.of_project or self._trust.usable
            if record.fragment is not None and record.source.kind not in FOREIGN_AGENTS and counts:
                ours |= {keys[1] for keys in entries_of(record.fragment) if keys[0] == "agents"}
        chosen: dict[tuple[str, bool], tuple[FileRecord, Fragment, Keys]] = {}
        for record in self._inventory.config:
            fragment = record.fragment
            if fragment is None or record.source.kind not in FOREIGN_AGENTS:
                continue
            for keys in entries_of(fragment):
                if keys[1] in built_in_agents():
                    message = f"{keys[1]!r} is an agent of Harness itself: this file is not used"
                    self._problems.append(Problem(fragment.where(), "name-taken", message, "rename it", "info"))
                elif keys[1] not in ours:
                    held = record.source.of_project and not self._trust.usable
                    self._tell_shadowed(chosen.get((keys[1], held)), fragment)
                    chosen[keys[1], held] = record, fragment, keys
        for (_, held), (record, fragment, keys) in chosen.items():
            self._problems += fragment.problems
            (self._held if held else self._layers).lay(record.source, fragment, only=[keys])
            if held:
                self._tell_untrusted(fragment, [keys])

    def _tell_shadowed(self, other: tuple[FileRecord, Fragment, Keys] | None, winner: Fragment) -> None:
        if other is None:
            return
        message = f"the agent {other[2][1]!r} is that of {winner.path}: this one is not used"
        self._problems.append(Problem(other[1].where(), "shadowed", message, None, "info"))

    def _refuse_invalid(self, fragment: Fragment) -> None:
        errors = [problem for problem in fragment.problems if problem.level == "error"]
        if errors:
            first, more = errors[0], len(errors) - 1
            message = f"HARNESS_CONFIG is not valid: {first.message}" + (f" (and {more} more)" if more else "")
            raise UsageError(message, where=first.where, mend=first.mend, code=first.code)

    def _lay_free_servers(self, record: FileRecord, fragment: Fragment) -> None:
        free: list[Keys] = []
        for keys in entries_of(fragment):
            if keys[0] != "mcp":
                continue
            taken = self._layers.places.get(keys) or self._held.places.get(keys)
            if taken is None:
                free.append(keys)
                continue
            message = f"the name {keys[-1]!r} is taken ({taken}); this entry is not used"
            self._problems.append(Problem(fragment.where(keys), "name-taken", message, None, "info"))
        if self._trust.usable:
            self._layers.lay(record.source, fragment, only=free)
        else:
            self._held.lay(record.source, fragment, only=free)
            self._tell_untrusted(fragment, free)

    def _tell_untrusted(self, fragment: Fragment, entries: Iterable[Keys]) -> None:
        names = [".".join(keys) for keys in entries]
        count = sum(rule.action != "deny" for rule in fragment.rules)
        if count:
            names.append(f"{count} permission rule{'s' if count > 1 else ''}")
        if names:
            message = f"not used until this folder is trusted: {', '.join(names)}"
            mend = "look at it, then run 'harness trust'"
            self._problems.append(Problem(fragment.path, "untrusted", message, mend, "warning"))

    # --- environment and flags -----------------------------------------------------------------------

    def _from_environment(self) -> None:
        here = str(Path.cwd() / "-")  # a name in the current folder: what relative paths are read against
        named = (
            (("model",), self._environ.get("HARNESS_MODEL"), "HARNESS_MODEL"),
            (("agent",), self._environ.get("HARNESS_AGENT"), "HARNESS_AGENT"),
            (("model",), self._flags.model, "--model"),
            (("agent",), self._flags.agent, "--agent"),
            (("mode",), self._flags.mode, "--mode"),
        )
        for keys, value, source in named:
            if value:
                text = absolute_replay(value, Path.cwd()) if keys == ("model",) else value
                self._layers.put(keys, Leaf(text, source, here, of_project=False, dialect="plain"))

    def _agent(self, agents: Mapping[str, AgentDefinition], untrusted: Mapping[str, AgentDefinition]) -> str:
        leaf = self._layers.leaves.get(("agent",))
        name = self._builder.scalar("agent")
        if leaf is None or name is None:
            return "build"
        if name in agents:
            return str(name)
        reason = self._builder.unusable.get(f"agents.{name}")
        if name in untrusted:
            message, mend = f"the agent {name!r} belongs to a folder that is not trusted", "run 'harness trust'"
        elif reason:
            message, mend = f"the agent {name!r} cannot be used: {reason}", None
        else:
            close = difflib.get_close_matches(str(name), list(agents), n=1)
            mend = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(sorted(agents))}"
            message = f"there is no agent {name!r}"
        if leaf.dialect == "plain":
            raise UsageError(message, where=leaf.source, mend=mend, code="unknown-agent")
        self._problems.append(Problem(leaf.source, "unknown-agent", f"{message}; 'build' is used", mend))
        return "build"

    def _mode(self) -> str:
        leaf = self._layers.leaves.get(("mode",))
        mode = self._builder.scalar("mode")
        if leaf is None or mode is None:
            return "ask"
        if mode in MODES:
            return str(mode)
        raise UsageError(
            f"there is no mode {mode!r}", where=leaf.source, mend=f"there are {', '.join(MODES)}", code="unknown-mode"
        )

    # --- rules and servers ---------------------------------------------------------------------------

    def _rules(self) -> tuple[RuleLayer, ...]:
        user: list[Rule] = []
        project: list[Rule] = []
        closed: list[Rule] = []
        for record in self._inventory.config:
            fragment, of_project = record.fragment, record.source.of_project
            if fragment is None or record.source.kind != "config":
                continue
            if fragment.broken:
                closed += ask_for_everything(f"{fragment.path} (cannot be read)")
            for rule in fragment.rules:
                if not of_project or self._trust.usable or rule.action == "deny":
                    source = f"{fragment.path}:{rule.line}"
                    made = Rule(rule.permission, rule.pattern, rule.action, source)
                    (project if of_project else user).append(made)
        # Last in the last layer: a file that cannot be read makes everything ask, whatever others allow.
        return (
            RuleLayer("bundled", BUNDLED_RULES),
            RuleLayer("user", tuple(user)),
            RuleLayer("project", (*project, *closed)),
        )

    def _mcp(self, held: Builder) -> dict[str, McpServerSettings]:
        servers = self._builder.mcp()
        for name in self._held.names("mcp"):
            if name not in servers or not self._layers.has_address(("mcp", name)):
                servers[name] = held.untrusted_mcp(name)
        return servers

    def _lsp(self, held: Builder) -> LspSettings:
        lsp = self._builder.lsp()
        untrusted = {
            name: held.untrusted_lsp_server(name)
            for name in self._held.names("lsp", "servers")
            if name not in lsp.servers and ("lsp", "servers", name) not in self._held.errors
        }
        return replace(lsp, servers={**lsp.servers, **untrusted}) if untrusted else lsp

    # --- origins -------------------------------------------------------------------------------------

    def _origins(self, settings: Settings) -> Iterable[Origin]:
        defaults: tuple[tuple[str, Any], ...] = (
            ("model", None),
            ("agent", "build"),
            ("mode", "ask"),
            ("lsp.enabled", settings.lsp.enabled),
            ("lsp.diagnostics_on_edit", settings.lsp.diagnostics_on_edit),
            ("lsp.wait_ms", settings.lsp.wait_ms),
            ("egress.default", settings.egress.default),
        )
        found = list(self._layers.origins())
        given = {origin.key for origin in found if origin.state == "used"}
        yield from (Origin(key, value, "default") for key, value in defaults if key not in given)
        yield from (_mark_unusable(origin, settings) for origin in found)
        for layer in settings.rules:
            for rule in layer.rules:
                value = {"permission": rule.permission, "pattern": rule.pattern, "action": rule.action}
                yield Origin("permission", value, rule.source or layer.name)
        for origin in self._held.origins():
            yield Origin(origin.key, origin.value, origin.source, "untrusted")
        yield from self._held_rules()

    def _held_rules(self) -> Iterable[Origin]:
        if self._trust.usable:
            return
        for record in self._inventory.config:
            if record.fragment is None or not record.source.of_project:
                continue
            for rule in record.fragment.rules:
                if rule.action != "deny":
                    value = {"permission": rule.permission, "pattern": rule.pattern, "action": rule.action}
                    yield Origin("permission", value, f"{record.fragment.path}:{rule.line}", "untrusted")


def _mark_unusable(origin: Origin, settings: Settings) -> Origin:
    for key in settings.unusable:
        if origin.key.startswith(key + "."):
            return Origin(origin.key, origin.value, origin.source, "unusable")
    name = origin.key.split(".")[1] if origin.key.startswith("mcp.") else ""
    server = settings.mcp.get(name)
    if server is not None and server.error and origin.state == "used":
        return Origin(origin.key, origin.value, origin.source, "unusable")
    return origin
