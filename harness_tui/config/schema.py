"""The shape of ``config.yaml`` as pydantic models: what is accepted, and the JSON Schema that editors use.

Imported on a cache miss only, and nowhere but in this package.
"""

from __future__ import annotations

import difflib
import re
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from harness_tui.config.bundled_rules import NAMED_ALONE, PERMISSIONS
from harness_tui.config.egress_rules import read_rule
from harness_tui.config.login_schema import Login, LoginModel, Text
from harness_tui.config.settings import PROVIDER_KINDS

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def _command(value: Any) -> Any:
    if isinstance(value, str):
        raise PydanticCustomError("command", "expected a list, got text; write each argument as an item of a list")
    if isinstance(value, list) and not value:
        raise PydanticCustomError("command", "must name a program")
    return value


def _permission(value: Any) -> Any:
    if value in ("write", "multiedit"):
        raise ValueError(f"{value!r} is decided as 'edit'")
    if value in ("list", "glob", "grep", "diagnostics", "lsp"):
        raise ValueError(f"{value!r} is decided as 'read'")
    known = (*PERMISSIONS, *NAMED_ALONE)
    if isinstance(value, str) and value != "*" and value not in known:
        close = difflib.get_close_matches(value, known, n=1, cutoff=0.6)
        hint = f"; did you mean {close[0]!r}?" if close else f"; known are {', '.join(known)}"
        raise ValueError(f"unknown permission {value!r}{hint}")
    return value


def _pattern(value: Any) -> Any:
    if isinstance(value, str) and re.search(r"\{(env|file):", value):
        raise PydanticCustomError("pattern", "{env:} and {file:} are not read in rules")
    return value


def _egress_rule(value: Any) -> Any:
    if isinstance(value, str):
        _pattern(value)
        read_rule(value)
    return value


def _switch(value: Any) -> Any:
    if isinstance(value, bool) or (isinstance(value, list) and all(isinstance(item, str) for item in value)):
        return value
    raise PydanticCustomError("switch", "expected true or false, or for skill a list of names")


def _kind(value: Any) -> Any:
    if isinstance(value, str) and value not in PROVIDER_KINDS:
        close = difflib.get_close_matches(value.lower().replace("_", "-"), PROVIDER_KINDS, n=1, cutoff=0.6)
        hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(PROVIDER_KINDS)}"
        raise ValueError(f"unknown kind {value!r}; {hint}")
    return value


def _extra_body(value: Any) -> Any:
    for name in _OWN_BODY if isinstance(value, dict) else ():
        if name in value:
            raise ValueError(f"{name!r} is written by the program itself and cannot be given here")
    return value


_OWN_BODY: Final = ("model", "messages", "stream", "tools")

Command = Annotated[
    list[str],
    BeforeValidator(_command),
    WithJsonSchema({"type": "array", "items": {"type": "string"}, "minItems": 1}),
]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Tokens = Annotated[int, Field(gt=0)]
Temperature = Annotated[float, Field(ge=0, le=2)]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh"]
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]
ProviderKind = Annotated[str, BeforeValidator(_kind), WithJsonSchema({"type": "string", "enum": list(PROVIDER_KINDS)})]
Milliseconds = Annotated[int, Field(ge=0, le=600_000)]
PermissionKey = Annotated[
    str,
    BeforeValidator(_permission),
    WithJsonSchema({"type": "string", "enum": ["*", *PERMISSIONS]}),
]
Switch = Annotated[
    Any,
    BeforeValidator(_switch),
    WithJsonSchema({"anyOf": [{"type": "boolean"}, {"type": "array", "items": {"type": "string"}}]}),
]
EgressRuleText = Annotated[str, BeforeValidator(_egress_rule)]
Mode = Literal["ask", "accept-edits", "plan"]


def _says(text: str) -> Any:
    return Field(description=text)


class Strict(BaseModel):
    """No unknown keys, no silent conversions."""

    model_config = ConfigDict(extra="forbid", strict=True)


class RuleModel(Strict):
    """One permission rule; within one file the last rule that matches decides."""

    permission: PermissionKey
    pattern: Annotated[str, BeforeValidator(_pattern)] = "*"
    action: Literal["allow", "ask", "deny"]


class ModelPriceModel(Strict):
    """What a million tokens cost, in US dollars."""

    input: Dollars
    output: Dollars
    cache_read: Dollars | None = None
    cache_write: Dollars | None = None


class ModelLimitsModel(Strict):
    """What is known of one model, sizes in tokens; ``path`` is the file of a model of kind ``local``."""

    context: Tokens | None = None
    output: Tokens | None = None
    aliases: list[Text] = []
    path: Text | None = None
    temperature: Temperature | None = None
    reasoning_effort: Effort | None = None
    price: ModelPriceModel | None = None


class ProviderModel(Strict):
    """A model provider. Times in seconds: to connect, until an answer begins, without anything in the middle of it."""

    kind: ProviderKind | None = None
    base_url: Text | None = None
    api_key: Text | None = None
    headers: dict[str, str] = {}
    models: dict[str, ModelLimitsModel] = {}
    timeout: Positive = 600.0
    connect_timeout: Positive = 15.0
    silence_timeout: Positive = 20.0
    extra_body: Annotated[dict[str, Any], BeforeValidator(_extra_body)] = {}
    threads: Annotated[int, Field(gt=0, le=256)] | None = None


class McpTimeoutsModel(Strict):
    """Seconds: to start, without progress in a call, for a call as a whole.

    A lazy server with a command that nobody called for ``unused`` seconds is ended until its next use; 0 keeps it.
    """

    start: Positive = 30.0
    idle: Positive = 120.0
    total: Positive = 1800.0
    unused: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 3600.0


class McpServerModel(Strict):
    """One MCP server: a ``command`` or a ``url``.

    ``server_name``: what a gateway at the URL knows it by. ``repair: false``: its messages are taken as they come.
    """

    command: Command | None = None
    url: Text | None = None
    transport: Literal["stdio", "http", "sse"] | None = None
    env: dict[str, str] = {}
    inherit: list[Text] = []
    headers: dict[str, str] = {}
    cwd: Text | None = None
    enabled: bool = True
    lazy: bool = True
    timeout: McpTimeoutsModel = McpTimeoutsModel()
    tools: dict[str, bool] = {}
    oauth: Login = LoginModel()
    server_name: Text | None = None
    repair: bool = True


class LspServerModel(Strict):
    """One language server; what is left out keeps the catalogue's value."""

    command: Command | None = None
    extensions: list[Text] | None = None
    roots: list[Text] | None = None
    env: dict[str, str] = {}
    initialization: dict[str, Any] | None = None
    settings: dict[str, Any] | None = None
    disabled: bool = False


class LspModel(Strict):
    """Language servers; times in milliseconds, memory in MiB."""

    enabled: Annotated[bool, _says("Start language servers")] = True
    diagnostics_on_edit: Annotated[bool, _says("Tell the model of errors after each edit")] = True
    wait_ms: Annotated[Milliseconds, _says("How long an edit waits for a verdict, in ms")] = 1500
    cold_wait_ms: Annotated[Milliseconds | None, _says("How long the first verdict of a server may take, in ms")] = None
    memory_mb: Annotated[int, Field(ge=0, le=1_048_576)] = 4096
    servers: dict[str, LspServerModel] = {}


class EgressModel(Strict):
    """Where connections may go: hosts, ``*.suffix``, addresses, networks, each with ``:port`` when wanted.

    A deny beats an allow. An allow opens private addresses; ``default: deny`` closes every address that none names.
    """

    allow: list[EgressRuleText] = []
    deny: list[EgressRuleText] = []
    default: Annotated[Literal["allow", "deny"], _says("What is done about public addresses that no rule names")] = (
        "allow"
    )


class HookModel(Strict):
    """A program to run. ``match`` fits the file, the tool, or the run's end; ``timeout`` in seconds, 30 by default."""

    match: Text = "*"
    command: Command
    timeout: Annotated[float, Field(gt=0, le=600, allow_inf_nan=False)] = 30.0


class HooksModel(Strict):
    """What runs after an edit, before a tool, at the end of a run. Hooks of several files are all run."""

    after_edit: list[HookModel] = []
    before_tool: list[HookModel] = []
    run_finished: list[HookModel] = []


class CompactionModel(Strict):
    """When the history is summed up, in tokens: ``reserve`` stays free, ``keep`` of the latest turns is kept."""

    auto: Annotated[bool, _says("Sum the history up when the context fills")] = True
    reserve: Annotated[Tokens | None, _says("Tokens that stay free for the answer")] = None
    keep: Annotated[int, Field(ge=0)] | None = None


KeyNames = Annotated[
    dict[str, Any],  # each is looked at alone by whoever knows the keys: one that is wrong costs only itself
    WithJsonSchema({"type": "object", "additionalProperties": {"type": ["string", "array"]}}),
]


class TuiModel(Strict):
    """How the full-screen front end looks and behaves. Not read in a project."""

    mouse: Annotated[bool, _says("Take clicks and the wheel; off leaves them to the terminal, from the next start")] = (
        True
    )
    ascii: Annotated[bool, _says("Draw lines and marks with signs that every terminal has")] = False
    keys: Annotated[KeyNames, _says("Other keys for actions: see the key help for their names")] = {}


class ToolSearchModel(Strict):
    """When tools of MCP servers are searched for instead of all being sent: past ``budget`` tokens, 0 for always.

    Without one that is a tenth of the model's context. Tools that a pattern of ``always`` names are sent all the same.
    """

    budget: Annotated[int, Field(ge=0)] | None = None
    always: list[Text] = []


class SessionsModel(Strict):
    """How much room sessions may take, in MiB: all of them, and one; 0 sets no limit. Not read in a project."""

    total_mb: Annotated[int, Field(ge=0)] = 4096
    session_mb: Annotated[int, Field(ge=0)] = 1024


class AgentModel(Strict):
    """An agent; the same keys stand in the front matter of ``agents/*.md``, where the body is the prompt."""

    description: str = ""
    mode: Literal["primary", "subagent", "all"] = "primary"
    model: Text | None = None
    prompt: str = ""
    tools: dict[str, Switch] = {}
    permission: list[RuleModel] = []
    steps: Annotated[int, Field(gt=0)] | None = None
    temperature: Temperature | None = None
    reasoning_effort: Effort | None = None
    start_mode: Mode | None = None


class ConfigFile(Strict):
    """The whole of ``config.yaml``."""

    model: Annotated[Text | None, _says("The model of new sessions, as provider/model")] = None
    small_model: Annotated[Text | None, _says("The model of titles and other small work")] = None
    agent: Annotated[Text | None, _says("The agent of new sessions")] = None
    mode: Annotated[Mode | None, _says("What new sessions ask")] = None
    providers: dict[str, ProviderModel] = {}
    permission: list[RuleModel] = []
    mcp: dict[str, McpServerModel] = {}
    lsp: LspModel = LspModel()
    egress: EgressModel = EgressModel()
    agents: dict[str, AgentModel] = {}
    instructions: Annotated[list[Text], _says("More files with instructions for the model")] = []
    theme: Annotated[Text | None, _says("Colours: terminal, harness-dark, harness-light, or one of yours")] = None
    tui: TuiModel = TuiModel()
    hooks: HooksModel = HooksModel()
    compaction: CompactionModel = CompactionModel()
    sessions: SessionsModel = SessionsModel()
    tool_search: ToolSearchModel = ToolSearchModel()


def valid_name(name: str) -> bool:
    """Tell whether ``name`` can name a server, a provider or an agent: letters, digits, ``_ . -``, at most 64."""
    return _NAME.fullmatch(name) is not None


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of ``config.yaml``."""
    schema = ConfigFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "Harness configuration"}
