"""Model providers of other tools as entries of ``providers``."""

from __future__ import annotations

from typing import Any, Final

from harness_tui.config.document import Document
from harness_tui.config.migration.findings import Findings, FoundValue, Secret
from harness_tui.config.migration.reading import mapping
from harness_tui.config.migration.secret_values import Dialect, Values
from harness_tui.config.migration.tool_names import HOSTED, entry_name

_KINDS: Final = {
    "@ai-sdk/openai-compatible": "openai-compatible",
    "@ai-sdk/openai": "openai-responses",
    "@ai-sdk/anthropic": "anthropic",
    "@ai-sdk/google": "google",
}
_WITH_A_KIND: Final = ("anthropic", "openai", "google")
"""Whose entry needs no address."""


def take_provider(document: Document, keys: tuple[str, ...], entry: dict[str, Any], findings: Findings) -> None:
    """Put a provider of opencode among ``findings``, or the reason why it cannot be."""
    where, name, options = document.where(keys), entry_name(keys[-1]), mapping(entry.get("options"))
    url, package = options.get("baseURL", entry.get("api")), entry.get("npm")
    what = f"provider {keys[-1]}"
    kind = _KINDS.get(package, "") if isinstance(package, str) else ""
    if not kind and isinstance(package, str):
        findings.leave(where, what, f"what {package} speaks is not known here")
        return
    if not name or (not url and name not in _WITH_A_KIND):
        known = f"give its key with 'harness auth add {name}'"
        findings.leave(where, what, known if name in HOSTED else "its address is not known here")
        return
    place = document.where((*keys, "options", "apiKey"))
    put_provider(
        findings,
        "opencode",
        name,
        where,
        kind=kind or ("" if name in _WITH_A_KIND else "openai-compatible"),
        url=url,
        key=options.get("apiKey"),
        key_where=place,
        headers=mapping(options.get("headers")),
        models={str(model): _limits(mapping(item)) for model, item in mapping(entry.get("models")).items()},
    )


def put_provider(
    findings: Findings,
    dialect: Dialect,
    name: str,
    where: str,
    *,
    kind: str,
    url: Any,
    key: Any = None,
    key_where: str = "",
    headers: dict[str, Any] | None = None,
    models: dict[str, dict[str, int]] | None = None,
) -> None:
    """Put one provider among ``findings``; its key in clear text becomes a variable."""
    values, entry = Values(findings, dialect, name), dict[str, Any]()
    if kind:
        entry["kind"] = kind
    if isinstance(url, str) and url:
        if "?" in url or "@" in url:
            findings.leave(where, f"provider {name}", "its address holds a query or a password")
            return
        entry["base_url"] = url
    if isinstance(key, str) and key:
        ours = values.placeholders(key)
        if ours == key and "{env:" not in key and "{file:" not in key:
            variable = values.named("api_key")
            findings.secrets.append(Secret(variable, key_where, f"{name}: its key"))
            findings.keys[name] = key
            ours = f"{{env:{variable}}}"
        if ours is not None:
            entry["api_key"] = ours
    for header, text in (headers or {}).items():
        ours = values.variable(header, text, where) if isinstance(text, str) else None
        if ours is None:
            findings.leave(where, f"{name}: header {header}", "it cannot be carried over")
        else:
            entry.setdefault("headers", {})[header] = ours
    if models:
        entry["models"] = models
    if entry:
        findings.values["providers", name] = FoundValue(entry, where)


def _limits(item: dict[str, Any]) -> dict[str, int]:
    limit = mapping(item.get("limit"))
    found = {name: limit.get(name) for name in ("context", "output")}
    return {name: value for name, value in found.items() if isinstance(value, int) and value > 0}
