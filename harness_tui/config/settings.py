"""Validated configuration as plain values: what every other package reads.

``schema`` makes these from files; they are cached, so that a warm start imports no pydantic.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Final, Literal

from harness_tui.core.limits import HOOK_S
from harness_tui.core.record import record
from harness_tui.core.values import AgentDefinition, Rule

PROVIDER_KINDS: Final = (
    "openai-compatible",
    "openai",
    "openai-responses",
    "openai-chat",
    "anthropic",
    "google",
    "local",
)
"""What ``kind`` of a provider may be; those but the first and the last have an address of their own."""

COMPATIBLE_PROVIDERS: Final = ("openrouter", "groq", "mistral", "deepseek", "xai")
"""Names of providers that are of the first kind where nothing is said, and have an address of their own."""


@record
class ModelPrice:
    """What a million tokens cost, in US dollars. What is ``None`` costs as much as other input."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None


@record
class ModelLimits:
    """What is configured of one model; ``context`` and ``output`` in tokens.

    ``path`` is the GGUF file of a model of kind ``local``, absolute. ``temperature`` and ``reasoning_effort`` count
    where the agent says nothing.
    """

    context: int | None = None
    output: int | None = None
    aliases: tuple[str, ...] = ()
    path: str | None = None
    temperature: float | None = None
    reasoning_effort: str | None = None
    price: ModelPrice | None = None


@record
class ProviderSettings:
    """A model provider. Times in seconds: to connect, until an answer begins, without anything in the middle of one.

    ``threads`` is how many a model of kind ``local`` computes with, ``key_origin`` the variable or file that
    ``api_key`` was read from, where it was.
    """

    name: str
    kind: str
    base_url: str | None = None
    api_key: str | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str])
    models: dict[str, ModelLimits] = field(default_factory=dict[str, ModelLimits])
    timeout: float = 600.0
    extra_body: dict[str, Any] = field(default_factory=dict[str, Any])
    source: str = ""
    connect_timeout: float = 15.0
    silence_timeout: float = 20.0
    threads: int | None = None
    key_origin: str | None = None


@record
class McpTimeouts:
    """Seconds: to start, without progress in a call, for a call as a whole; ``unused`` until an idle one is ended."""

    start: float = 30.0
    idle: float = 120.0
    total: float = 1800.0
    unused: float = 3600.0


@record
class McpServerSettings:
    """One MCP server: a ``command`` (stdio) or a ``url`` (HTTP).

    ``trusted`` is false for an entry of a folder that the person has not trusted: it is listed and never started.
    ``source`` is ``file:line``. ``error`` says why the entry cannot be used, while its neighbours can. ``server_name``
    is what a gateway at ``url`` knows the server by; without ``repair`` its messages are taken as they come.
    """

    name: str
    command: tuple[str, ...] = ()
    url: str | None = None
    transport: Literal["stdio", "http", "sse"] = "stdio"
    env: dict[str, str] = field(default_factory=dict[str, str])
    inherit: tuple[str, ...] = ()
    headers: dict[str, str] = field(default_factory=dict[str, str])
    cwd: str | None = None
    enabled: bool = True
    lazy: bool = True
    timeout: McpTimeouts = McpTimeouts()
    tools: dict[str, bool] = field(default_factory=dict[str, bool])
    oauth: dict[str, Any] = field(default_factory=dict[str, Any])
    server_name: str | None = None
    repair: bool = True
    source: str = ""
    trusted: bool = True
    error: str | None = None


@record
class LspServerSettings:
    """What configuration says of one language server; fields left at ``None`` keep the catalogue's value."""

    name: str
    command: tuple[str, ...] | None = None
    extensions: tuple[str, ...] | None = None
    roots: tuple[str, ...] | None = None
    env: dict[str, str] = field(default_factory=dict[str, str])
    initialization: dict[str, Any] | None = None
    settings: dict[str, Any] | None = None
    disabled: bool = False
    source: str = ""
    trusted: bool = True


@record
class LspSettings:
    """Language servers. ``wait_ms`` for a warm verdict; ``cold_wait_ms`` for the first one of a server, ``None``
    leaves it to the front end (10000 headless, 1500 in the TUI). A server over ``memory_mb`` MiB is started anew while
    it rests; 0 is no limit."""

    enabled: bool = True
    diagnostics_on_edit: bool = True
    wait_ms: int = 1500
    cold_wait_ms: int | None = None
    memory_mb: int = 4096
    servers: dict[str, LspServerSettings] = field(default_factory=dict[str, LspServerSettings])


@record
class EgressEntry:
    """One rule of the network policy as it is written, for ``config.egress_rules``; ``source`` is ``file:line``."""

    rule: str
    source: str = ""


@record
class EgressSettings:
    """Where connections may go. A deny beats an allow; an allow opens what is refused by itself, such as private
    addresses; ``default`` decides on public addresses that no rule names."""

    allow: tuple[EgressEntry, ...] = ()
    deny: tuple[EgressEntry, ...] = ()
    default: Literal["allow", "deny"] = "allow"


@record
class HookSettings:
    """A program that runs at an event: ``command`` is its arguments, ``source`` ``file:line``, ``timeout`` seconds."""

    command: tuple[str, ...]
    match: str = "*"
    timeout: float = HOOK_S
    source: str = ""


@record
class HooksSettings:
    """The hooks of each event, in the order of the files."""

    after_edit: tuple[HookSettings, ...] = ()
    before_tool: tuple[HookSettings, ...] = ()
    run_finished: tuple[HookSettings, ...] = ()


@record
class CompactionSettings:
    """When the history is summed up. ``reserve`` and ``keep`` in tokens, ``None`` follows the model's limit."""

    auto: bool = True
    reserve: int | None = None
    keep: int | None = None


@record
class SessionsSettings:
    """How much room recorded sessions may take, in MiB: all of them, and one that is closed. 0 sets no limit."""

    total_mb: int = 4096
    session_mb: int = 1024


@record
class RuleLayer:
    """The permission rules of one layer, in file order."""

    name: Literal["bundled", "user", "project", "agent", "mode"]
    rules: tuple[Rule, ...]


@record
class ToolSearchSettings:
    """When tools of MCP servers are searched for: past ``budget`` tokens, ``None`` for a tenth of the context.

    ``always`` are patterns of tools that are sent all the same.
    """

    budget: int | None = None
    always: tuple[str, ...] = ()


@record
class TuiSettings:
    """How the full-screen front end looks and behaves. ``keys`` are as written."""

    mouse: bool = True
    ascii: bool = False
    keys: dict[str, Any] = field(default_factory=dict[str, Any])


@record
class Settings:
    """The whole configuration of a project, precedence applied.

    ``rules`` holds the layers bundled, user and project; the project's allow and ask rules are left out until the
    folder is trusted, its deny rules never. ``agents`` holds built-in and configured ones. ``unusable`` says of
    an entry that is left out, by its key (``providers.local``, ``agents.review``, ``lsp.servers.ty``), why; ``mcp``
    entries carry their own ``error``. ``model`` and ``small_model`` are also called ``main`` and ``small``.
    """

    model: str | None = None
    small_model: str | None = None
    agent: str = "build"
    mode: str = "ask"
    providers: dict[str, ProviderSettings] = field(default_factory=dict[str, ProviderSettings])
    rules: tuple[RuleLayer, ...] = ()
    mcp: dict[str, McpServerSettings] = field(default_factory=dict[str, McpServerSettings])
    lsp: LspSettings = LspSettings()
    egress: EgressSettings = EgressSettings()
    agents: dict[str, AgentDefinition] = field(default_factory=dict[str, AgentDefinition])
    instructions: tuple[str, ...] = ()
    theme: str | None = None
    tui: TuiSettings = TuiSettings()
    hooks: HooksSettings = HooksSettings()
    compaction: CompactionSettings = CompactionSettings()
    sessions: SessionsSettings = SessionsSettings()
    tool_search: ToolSearchSettings = ToolSearchSettings()
    unusable: dict[str, str] = field(default_factory=dict[str, str])
