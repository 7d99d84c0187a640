"""Agent files of Claude Code and opencode, read where they lie.

They narrow and never widen: a list of tools takes the others away, a rule that allows is left out, or asks where an
earlier one of the same file holds back. What cannot be read makes the agent unusable where it could have restricted it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

from harness_tui.config.document import Document, split_front_matter
from harness_tui.config.migration.agent_tools import AgentTools
from harness_tui.config.migration.tool_names import HOSTED, entry_name
from harness_tui.config.problems import Level, Problem
from harness_tui.config.yaml_source import parse_yaml, read_text
from harness_tui.core.limits import TEMPLATE_BYTES
from harness_tui.core.record import record

Maker: TypeAlias = Literal["claude", "opencode", "gemini"]

_KEY: Final = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)[ \t]*:(?:[ \t]+(.*))?$")
_PROSE: Final = ("name", "description", "color", "prompt", "argument-hint")
_EFFORTS: Final = ("none", "minimal", "low", "medium", "high", "xhigh")
_NO_EQUAL: Final = {
    "mcpServers": "servers are configured under 'mcp'",
    "hooks": "hooks are configured under 'hooks'",
    "skills": "name the skills that it should load in its text",
    "isolation": "there are no worktrees here",
    "memory": "there is no memory of agents here",
    "background": "subagents run side by side in one answer",
    "top_p": "only the temperature can be set",
}


@record
class AgentFile:
    """An agent in our terms. ``values`` are keys of ``agents`` without ``prompt``, ``lines`` those of the file.

    ``error`` says why it cannot be used; ``name`` is then the best there is. ``None`` in place of one: not an agent.
    """

    path: Path
    name: str
    values: dict[str, Any]
    prompt: str
    lines: dict[str, int]
    problems: tuple[Problem, ...]
    error: str | None = None
    disabled: bool = False
    raw: Any = None


def read_agent_file(path: Path, maker: Maker, *, keep_allows: bool = False) -> AgentFile | None:
    """Read one Markdown file; ``None`` when it has no front matter and so is none. Faults are its problems.

    With ``keep_allows`` rules that allow stay as they are: for an import, where a person sees them first.
    """
    text = read_text(path, max_bytes=TEMPLATE_BYTES)
    if isinstance(text, Document):
        problem = text.problems[-1]
        return AgentFile(path, entry_name(path.stem), {}, "", {}, text.problems, error=problem.message)
    matter, body = split_front_matter(text)
    if matter is None:
        return None
    document = parse_yaml(matter, path, first_line=2)
    if document.broken or not isinstance(document.values, dict):
        document = _by_key(matter, path)
    return translate_agent(document, body.strip(), path.stem, maker, keep_allows=keep_allows)


def translate_agent(
    document: Document, prompt: str, name: str, maker: Maker, *, keep_allows: bool = False
) -> AgentFile:
    """Return the agent that the values of ``document`` describe; ``name`` counts where they give none."""
    return _Translation(document, prompt, name, maker, keep_allows=keep_allows).result()


class _Translation:
    def __init__(self, document: Document, prompt: str, name: str, maker: Maker, *, keep_allows: bool) -> None:
        self._document = document
        self._given: dict[str, Any] = document.values
        self._prompt = prompt
        self._maker: Maker = maker
        self._problems = list(document.problems)
        self._error = next((item.message for item in document.problems if item.level == "error"), None)
        self._values: dict[str, Any] = {}
        self._lines: dict[str, int] = {}
        own = self._given.get("name") if maker != "opencode" else None
        self._name = own if isinstance(own, str) and own.strip() else name
        self._tools = AgentTools(maker, keep_allows=keep_allows)

    def result(self) -> AgentFile:
        for key, value in self._given.items():
            if value is not None:
                self._take(key, value)
        mode = self._given.get("mode")
        if mode in ("primary", "subagent", "all"):
            self._put("mode", mode, "mode")
        else:
            self._values["mode"] = "all"
        self._rights()
        name = entry_name(self._name)
        if name != self._name:
            self._tell("name", "agent-name", f"the agent {self._name!r} is called {name!r} here")
        return AgentFile(
            self._document.path,
            name,
            self._values,
            self._prompt or _text(self._given.get("prompt")),
            self._lines,
            tuple(self._problems),
            error=self._error if name else "the file gives no name for the agent",
            disabled=self._given.get("disable") is True,
            raw=self._given,
        )

    def _put(self, key: str, value: Any, source: str) -> None:
        self._values[key] = value
        self._lines[key] = self._document.line((source,))

    def _tell(self, key: str, code: str, message: str, level: Level = "info") -> None:
        self._problems.append(Problem(self._document.where((key,)), code, message, None, level))

    def _take(self, key: str, value: Any) -> None:
        match key:
            case "description":
                self._put("description", " ".join(_text(value).split()), key)
            case "model":
                self._model(_text(value).strip())
            case "maxTurns" | "max_turns" | "steps" | "maxSteps":
                self._number("steps", key, value, int(value) if isinstance(value, int | float) else 0)
            case "temperature":
                self._number("temperature", key, value, value)
            case "effort" | "reasoningEffort" | "reasoning_effort" | "variant":
                effort = {"max": "xhigh"}.get(_text(value), _text(value))
                if effort in _EFFORTS:
                    self._put("reasoning_effort", effort, key)
                else:
                    self._tell(key, "not-carried", f"{key}: {value!r} has no equal here")
            case "permissionMode":
                if value == "plan":
                    self._put("start_mode", "plan", key)
                elif value not in ("default", "inherit"):
                    self._tell(key, "not-carried", f"permissionMode {value!r} would widen rights and is left out")
            case _ if key in _NO_EQUAL:
                self._tell(key, "not-carried", f"{key!r} has no equal in an agent: {_NO_EQUAL[key]}")
            case _:
                pass

    def _model(self, model: str) -> None:
        provider, slash, rest = model.partition("/")
        if self._maker == "opencode" and slash and rest and provider in HOSTED:
            self._put("model", model, "model")
        elif model and model != "inherit":
            self._tell("model", "agent-model", f"the model {model!r} is not known here: the session's model is used")

    def _number(self, key: str, source: str, given: Any, value: Any) -> None:
        low, high = (1, 10_000) if key == "steps" else (0, 2)
        if isinstance(given, bool) or not isinstance(given, int | float) or not low <= value <= high:
            self._tell(source, "wrong-value", f"{source}: {given!r} is no number from {low} to {high}: left out")
        else:
            self._put(key, value, source)

    def _rights(self) -> None:
        for key in ("tools", "disallowedTools", "permission", "permissions"):
            value = self._given.get(key)
            if value is None or value == "":
                continue
            where = self._document.where((key,))
            reason = self._tools.take(key, value, where)
            if reason is not None:
                self._error = self._error or f"{key}: {reason}"
                self._tell(key, "wrong-value", f"{key}: {reason}: the agent is not used", "warning")
        for where, message in self._tools.notes:
            self._problems.append(Problem(where, "not-carried", message, None, "info"))
        if self._tools.switches:
            self._put("tools", self._tools.switches, "tools")
        if self._tools.rules:
            self._put("permission", self._tools.rules, "permission")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None or isinstance(value, dict | list) else str(value)


def _by_key(matter: str, path: Path) -> Document:
    """Return the values of front matter that is no YAML as a whole: each key alone, prose as it is written.

    People write whole dialogues with colons into a description. A key that could restrict must be right.
    """
    values: dict[str, Any] = {}
    lines: dict[tuple[str | int, ...], int] = {(): 1}
    problems: list[Problem] = []
    for key, number, chunk in _chunks(matter):
        lines[(key,)] = number
        parsed = parse_yaml(chunk, path, first_line=number)
        if not parsed.broken and isinstance(parsed.values, dict) and key in parsed.values:
            values[key] = cast(dict[str, Any], parsed.values)[key]
            lines.update({keys: line for keys, line in parsed.lines.items() if keys[:1] == (key,)})
            continue
        values[key] = " ".join(chunk.partition(":")[2].split()).strip("\"'")
        if key not in _PROSE:
            problem = parsed.problems[-1]
            problems.append(Problem(problem.where, "yaml", f"{key}: {problem.message}: the agent is not used"))
    return Document(path, values, lines, tuple(problems))


def _chunks(matter: str) -> Iterator[tuple[str, int, str]]:
    """Yield key, line in the file and text of each top-level ``key:`` of front matter."""
    key, start, chunk = "", 0, list[str]()
    for number, line in enumerate(matter.split("\n"), 2):
        found = _KEY.match(line)
        if found:
            if key:
                yield key, start, "\n".join(chunk)
            key, start, chunk = found[1], number, [line]
        else:
            chunk.append(line)
    if key:
        yield key, start, "\n".join(chunk)
