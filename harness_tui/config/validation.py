"""Documents to fragments: every entry is checked on its own, so that a bad one never takes its neighbours down.

Imports pydantic through ``schema``; ``files`` calls it on a cache miss only.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import Any, Final, cast, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from harness_tui.config.document import Document, KeyPath
from harness_tui.config.fragment import Fragment, Keys, RuleEntry
from harness_tui.config.problems import Problem
from harness_tui.config.rules import spread
from harness_tui.config.schema import (
    AgentModel,
    CompactionModel,
    ConfigFile,
    EgressModel,
    HooksModel,
    LspModel,
    LspServerModel,
    McpServerModel,
    ProviderModel,
    RuleModel,
    SessionsModel,
    ToolSearchModel,
    TuiModel,
    valid_name,
)

_ENTRIES: Final[dict[str, type[BaseModel]]] = {"providers": ProviderModel, "mcp": McpServerModel, "agents": AgentModel}
_SCALARS: Final = ("model", "small_model", "agent", "mode", "theme")
_NOT_SPECIAL: Final = object()
_TYPES: Final = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
}
_MENDS: Final = {
    "args": "append the arguments to 'command'",
    "environment": "it is called 'env'",
    "type": "say 'transport', or leave it out: 'command' or 'url' decides",
    "disabled": "say 'enabled: false'",
}


def validate_config(document: Document) -> Fragment:
    """Return what is right in a ``config.yaml``; everything else is a problem with its line."""
    checker = _Checker(document)
    if not isinstance(document.values, dict):
        message = f"expected a mapping of settings, got {_kind(document.values)}"
        checker.report((), "wrong-type", message, "write 'key: value' lines")
        return checker.fragment({}, broken=True)
    values: dict[str, Any] = {}
    for key, value in cast(dict[str, Any], document.values).items():
        if value is None:
            continue
        checked = checker.section(key, value)
        if checked is not None:
            values[key] = checked
    return checker.fragment(values, broken=document.broken)


def validate_agent(document: Document, name: str, prompt: str) -> Fragment:
    """Return the fragment of one agent file: its front matter is ``document``, its body ``prompt``."""
    entry: dict[str, Any] = {**document.values, "prompt": prompt}
    shifted = {("agents", name, *keys): line for keys, line in document.lines.items()}
    whole = Document(document.path, {}, {("agents", name): 1, **shifted}, document.problems, document.broken)
    checker = _Checker(whole)
    checked = checker.entry(("agents", name), AgentModel, entry, own_keys=("prompt",))
    if document.broken:
        checker.errors[("agents", name)] = document.problems[-1].message
    return checker.fragment({"agents": {name: {} if checked is None else checked}}, broken=False)


class _Checker:
    """Collects what is wrong while sections are checked."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._problems = list(document.problems)
        self._rules: list[RuleEntry] = []
        self.errors: dict[Keys, str] = {}

    def fragment(self, values: dict[str, Any], *, broken: bool) -> Fragment:
        lines = {tuple(map(str, keys)): line for keys, line in self._document.lines.items()}
        return Fragment(
            path=str(self._document.path),
            values={} if broken else values,
            rules=tuple(rule for rule in self._rules if not broken or rule.action != "allow"),
            lines=lines,
            problems=tuple(self._problems),
            errors={} if broken else self.errors,
            broken=broken,
        )

    def report(self, keys: KeyPath, code: str, message: str, mend: str | None = None) -> str:
        label = ".".join(str(key) for key in keys)
        text = f"{label}: {message}" if label else message
        self._problems.append(Problem(self._document.where(keys), code, text, mend))
        return text

    def section(self, key: str, value: Any) -> Any:
        """Return the checked value of one top-level key, or ``None`` when nothing of it is left."""
        if key in _SCALARS:
            return self._field((), key, value, ConfigFile)
        if key == "permission":
            return self._permission(value)
        if key == "instructions":
            return self._instructions(value)
        if key == "lsp":
            return self._parts(key, value, LspModel, self._lsp_servers)
        if key == "egress":
            return self._parts(key, value, EgressModel, self._egress_rules)
        if key == "hooks":
            return self._parts(key, value, HooksModel, self._hooks)
        if key == "compaction":
            return self._parts(key, value, CompactionModel)
        if key == "sessions":
            return self._parts(key, value, SessionsModel)
        if key == "tool_search":
            return self._parts(key, value, ToolSearchModel)
        if key == "tui":
            return self._parts(key, value, TuiModel)
        if key in _ENTRIES:
            return self._entries((key,), value, _ENTRIES[key])
        self._unknown((key,), ConfigFile.model_fields)
        return None

    def _is(self, value: Any, kind: type[Any], keys: KeyPath) -> bool:
        if isinstance(value, kind):
            return True
        wanted = "a list" if kind is list else "a mapping"
        self.report(keys, "wrong-type", f"expected {wanted}, got {_kind(value)}")
        return False

    def _unknown(self, keys: KeyPath, known: Iterable[str]) -> str:
        name = str(keys[-1])
        close = difflib.get_close_matches(name.lower().replace("-", "_"), list(known), n=1, cutoff=0.6)
        mend = f"did you mean {close[0]!r}?" if close else _MENDS.get(name, f"known are {', '.join(known)}")
        label = ".".join(str(key) for key in keys)
        self._problems.append(Problem(self._document.where(keys), "unknown-key", f"unknown key {label!r}", mend))
        return f"unknown key {name!r} ({mend})"

    def _field(self, keys: KeyPath, key: str, value: Any, model: type[BaseModel]) -> Any:
        """Check one field of ``model`` alone; ``None`` when it is wrong."""
        fields = model.model_fields
        if key not in fields:
            self._unknown((*keys, key), fields)
            return None
        try:
            checked = model.model_validate({key: value})
        except ValidationError as error:
            for detail in error.errors():
                self._explain(keys, detail, model)
            return None
        return checked.model_dump(exclude_unset=True)[key]

    def _entries(self, keys: Keys, value: Any, model: type[BaseModel]) -> dict[str, Any] | None:
        if not self._is(value, dict, keys):
            return None
        result: dict[str, Any] = {}
        for name, entry in cast(dict[str, Any], value).items():
            path = (*keys, name)
            if not valid_name(name):
                self.report(path, "bad-name", "a name is made of letters, digits, '_', '.' and '-'", "rename it")
                continue
            checked = self.entry(path, model, entry)
            result[name] = {} if checked is None else checked
        return result

    def entry(self, keys: Keys, model: type[BaseModel], entry: Any, *, own_keys: Iterable[str] = ()) -> Any:
        """Return one checked entry; a wrong one gives ``None`` and a reason in ``errors``."""
        if entry is None:
            entry = {}
        if not isinstance(entry, dict):
            self.errors[keys] = self.report(keys, "wrong-type", f"expected a mapping, got {_kind(entry)}")
            return None
        given = {key: value for key, value in cast(dict[str, Any], entry).items() if value is not None}
        reasons: list[str] = []
        rules: list[dict[str, Any]] = []
        if model is AgentModel and isinstance(given.get("permission"), list):
            place = (*keys, "permission")
            kept, wrong = self._rule_list(place, given["permission"])
            given["permission"] = [rule for _, rule in kept]
            rules = [{**rule, "source": self._document.where((*place, index))} for index, rule in kept]
            if wrong:  # an agent without one of its restrictions would be wider than was meant
                reasons.append("a rule of its permission list is wrong")
        try:
            checked = model.model_validate(given)
        except ValidationError as error:
            reasons += [self._explain(keys, detail, model, own_keys) for detail in error.errors()]
            checked = None
        if reasons:
            more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
            self.errors[keys] = reasons[0] + more
        if checked is None or reasons:
            return None
        values = checked.model_dump(exclude_unset=True)
        return {**values, "permission": rules} if rules else values

    def _permission(self, value: Any) -> None:
        if not self._is(value, list, ("permission",)):
            self._problems[-1] = Problem(
                self._problems[-1].where,
                "wrong-type",
                self._problems[-1].message,
                'write a list of {permission: bash, pattern: "git status *", action: allow}',
            )
            return
        rules, _ = self._rule_list(("permission",), cast(list[Any], value))
        for index, rule in rules:
            line = self._document.line(("permission", index))
            for permission in spread(rule["permission"]):
                self._rules.append(RuleEntry(permission, rule["pattern"], rule["action"], line))

    def _rule_list(self, keys: KeyPath, items: list[Any]) -> tuple[list[tuple[int, dict[str, Any]]], bool]:
        """Return the rules that can be used, with their places in the list, and whether any could not."""
        kept: list[tuple[int, dict[str, Any]]] = []
        wrong = False
        for index, item in enumerate(items):
            path = (*keys, index)
            if not isinstance(item, dict):
                self.report(path, "wrong-type", f"expected a rule, got {_kind(item)}")
                wrong = True
                continue
            try:
                rule = RuleModel.model_validate(item)
            except ValidationError as error:
                for detail in error.errors():
                    self._explain(path, detail, RuleModel)
                rule = _restriction(cast(dict[str, Any], item), error)
                wrong = wrong or rule is None
            if rule is not None:
                kept.append((index, rule.model_dump()))
        return kept, wrong

    def _instructions(self, value: Any) -> list[str] | None:
        if not self._is(value, list, ("instructions",)):
            return None
        kept: list[str] = []
        for index, item in enumerate(cast(list[Any], value)):
            if isinstance(item, str) and item.strip():
                kept.append(item)
            else:
                self.report(("instructions", index), "wrong-type", f"expected a path, got {_kind(item)}")
        return kept

    def _parts(
        self, section: str, value: Any, model: type[BaseModel], special: Callable[[str, Any], Any] | None = None
    ) -> dict[str, Any] | None:
        """Check a section key by key; ``special`` returns :data:`_NOT_SPECIAL` for the keys that it leaves to us."""
        if not self._is(value, dict, (section,)):
            return None
        result: dict[str, Any] = {}
        for key, item in cast(dict[str, Any], value).items():
            if item is None:
                continue
            checked = _NOT_SPECIAL if special is None else special(key, item)
            if checked is _NOT_SPECIAL:
                checked = self._field((section,), key, item, model)
            if checked is not None:
                result[key] = checked
        return result

    def _lsp_servers(self, key: str, item: Any) -> Any:
        return self._entries(("lsp", "servers"), item, LspServerModel) if key == "servers" else _NOT_SPECIAL

    def _egress_rules(self, key: str, items: Any) -> Any:
        if key not in ("allow", "deny"):
            return _NOT_SPECIAL
        kept = self._each("egress", key, items, EgressModel)
        return None if kept is None else [{"rule": item, "source": where} for item, where in kept]

    def _hooks(self, key: str, items: Any) -> Any:
        if key not in HooksModel.model_fields:
            return _NOT_SPECIAL
        kept = self._each("hooks", key, items, HooksModel)
        return None if kept is None else [{**item, "source": where} for item, where in kept]

    def _each(self, section: str, key: str, items: Any, model: type[BaseModel]) -> list[tuple[Any, str]] | None:
        """Return the items that can be used, each with its place: one that is wrong costs its neighbours nothing."""
        path = (section, key)
        if not self._is(items, list, path):
            return None
        kept: list[tuple[Any, str]] = []
        for index, item in enumerate(cast(list[Any], items)):
            try:
                checked = model.model_validate({key: [item]}).model_dump(exclude_unset=True)[key][0]
            except ValidationError as error:
                for detail in error.errors():
                    self._explain((section,), {**detail, "loc": (key, index, *detail["loc"][2:])}, model)
            else:
                kept.append((checked, self._document.where((*path, index))))
        return kept

    def _explain(
        self, keys: KeyPath, detail: ErrorDetails, model: type[BaseModel], own_keys: Iterable[str] = ()
    ) -> str:
        """Report one fault that pydantic found, in our own words, and return its text."""
        path = (*keys, *detail["loc"])
        kind, context = detail["type"], detail.get("ctx", {})
        if kind == "extra_forbidden":
            known = _fields_at(model, detail["loc"][:-1])
            return self._unknown(path, [key for key in known if key not in own_keys])
        if kind == "missing":
            return self.report(path[:-1], "missing-key", f"{path[-1]!r} is missing")
        if kind in _TYPES:
            quote = kind == "string_type" and isinstance(detail["input"], int | float)
            mend = "write it in quotes" if quote else None
            return self.report(path, "wrong-type", f"expected {_TYPES[kind]}, got {_kind(detail['input'])}", mend)
        if kind == "literal_error":
            allowed = [str(item) for item in _literals(context)]
            close = difflib.get_close_matches(str(detail["input"]), allowed, n=1, cutoff=0.6)
            mend = f"did you mean {close[0]!r}?" if close else None
            got = detail["input"] if isinstance(detail["input"], str) else _kind(detail["input"])
            return self.report(path, "wrong-value", f"expected one of {', '.join(allowed)}, got {got!r}", mend)
        message = detail["msg"].removeprefix("Value error, ")
        return self.report(path, "wrong-value", message[:1].lower() + message[1:])


def _restriction(item: dict[str, Any], error: ValidationError) -> RuleModel | None:
    """Return a rule that only restricts and is wrong in nothing but an unknown key: it must not be lost."""
    if any(detail["type"] != "extra_forbidden" for detail in error.errors()) or item.get("action") == "allow":
        return None
    return RuleModel.model_validate({key: value for key, value in item.items() if key in RuleModel.model_fields})


def _fields_at(model: type[BaseModel], loc: tuple[int | str, ...]) -> list[str]:
    """Return the names of the fields of the model that ``loc`` leads to, inside ``model``."""
    current: Any = model
    for part in loc:
        if isinstance(current, type) and issubclass(current, BaseModel) and part in current.model_fields:
            current = _model_in(current.model_fields[str(part)].annotation)
    return list(current.model_fields) if isinstance(current, type) and issubclass(current, BaseModel) else []


def _model_in(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in get_args(annotation):
        found = _model_in(argument)
        if found is not None:
            return found
    return None


def _literals(context: dict[str, Any]) -> list[str]:
    text = str(context.get("expected", "")).replace(" or ", ", ")
    return [item.strip().strip("'") for item in text.split(",")]


def _kind(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {value}"
        case str():
            return "text"
        case list():
            return "a list"
        case dict():
            return "a mapping"
        case _:
            return type(value).__name__
