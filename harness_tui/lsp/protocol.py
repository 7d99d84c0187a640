"""The parts of the protocol that are data: what we say when a server starts, and what its answer means.

Plain dicts: the protocol's generated types cost a quarter of a second to import and reject real servers' messages.
Tests hold these dicts against those types.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from harness_tui._version import __version__
from harness_tui.lsp.spec import ServerSpec
from harness_tui.lsp.text import PositionEncoding
from harness_tui.lsp.uris import to_uri
from harness_tui.lsp.watching import Watcher, read_watchers

DIAGNOSTIC: Final = "textDocument/diagnostic"
DID_SAVE: Final = "textDocument/didSave"
EXECUTE_COMMAND: Final = "workspace/executeCommand"
TSSERVER_REQUEST: Final = "typescript.tsserverRequest"
WATCHED_FILES: Final = "workspace/didChangeWatchedFiles"

SERVER_CANCELLED: Final = -32802
CONTENT_MODIFIED: Final = -32801
REQUEST_CANCELLED: Final = -32800
PARSE_ERROR: Final = -32700
DEFINITION: Final = "textDocument/definition"
REFERENCES: Final = "textDocument/references"
IMPLEMENTATION: Final = "textDocument/implementation"
HOVER: Final = "textDocument/hover"
DOCUMENT_SYMBOL: Final = "textDocument/documentSymbol"
WORKSPACE_SYMBOL: Final = "workspace/symbol"
CALL_HIERARCHY: Final = "textDocument/prepareCallHierarchy"
RENAME: Final = "textDocument/rename"
PREPARE_RENAME: Final = "textDocument/prepareRename"
CODE_ACTION: Final = "textDocument/codeAction"
RESOLVE_ACTION: Final = "codeAction/resolve"
QUICK_FIX: Final = "quickfix"
_INCREMENTAL: Final = 2
_WATCHERS: Final = 1_000
"""Kept of one registration."""
_PROVIDERS: Final = {
    "definitionProvider": DEFINITION,
    "referencesProvider": REFERENCES,
    "implementationProvider": IMPLEMENTATION,
    "hoverProvider": HOVER,
    "documentSymbolProvider": DOCUMENT_SYMBOL,
    "workspaceSymbolProvider": WORKSPACE_SYMBOL,
    "callHierarchyProvider": CALL_HIERARCHY,
    "renameProvider": RENAME,
    "codeActionProvider": CODE_ACTION,
}
_ENCODINGS: Final[dict[str, PositionEncoding]] = {"utf-8": "utf-8", "utf-16": "utf-16", "utf-32": "utf-32"}


def workspace_folder(root: Path) -> dict[str, str]:
    """Return ``root`` as the protocol's workspace folder."""
    return {"uri": to_uri(root), "name": root.name or str(root)}


def initialize_params(spec: ServerSpec, root: Path) -> dict[str, Any]:
    """Return the parameters of ``initialize``.

    Pull diagnostics are announced, with late registration: they are exact where pushed ones are late or missing.
    Editing by the server (``applyEdit``) is not; edits that it proposes may create and move files, never delete one.
    """
    return {
        "processId": os.getpid(),
        "clientInfo": {"name": "harness", "version": __version__},
        "rootPath": str(root),
        "rootUri": to_uri(root),
        "workspaceFolders": [workspace_folder(root)],
        "initializationOptions": spec.initialization,
        "capabilities": {
            "general": {"positionEncodings": ["utf-8", "utf-16"]},
            "window": {"workDoneProgress": True},
            "workspace": {
                "configuration": True,
                "workspaceFolders": True,
                "didChangeConfiguration": {"dynamicRegistration": True},
                "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
                "diagnostics": {"refreshSupport": True},
                "symbol": {"dynamicRegistration": True},
                "workspaceEdit": {
                    "documentChanges": True,
                    "resourceOperations": ["create", "rename"],
                    "failureHandling": "transactional",
                },
            },
            "textDocument": {
                "synchronization": {"dynamicRegistration": True, "didSave": True},
                "publishDiagnostics": {
                    "relatedInformation": True,
                    "versionSupport": True,
                    "tagSupport": {"valueSet": [1, 2]},
                    "codeDescriptionSupport": True,
                    "dataSupport": True,
                },
                "diagnostic": {"dynamicRegistration": True, "relatedDocumentSupport": True},
                "definition": {"dynamicRegistration": True, "linkSupport": True},
                "references": {"dynamicRegistration": True},
                "implementation": {"dynamicRegistration": True, "linkSupport": True},
                "hover": {"dynamicRegistration": True, "contentFormat": ["plaintext", "markdown"]},
                "documentSymbol": {"dynamicRegistration": True, "hierarchicalDocumentSymbolSupport": True},
                "callHierarchy": {"dynamicRegistration": True},
                "rename": {"dynamicRegistration": True, "prepareSupport": True},
                "codeAction": {
                    "dynamicRegistration": True,
                    "codeActionLiteralSupport": {"codeActionKind": {"valueSet": [QUICK_FIX]}},
                    "isPreferredSupport": True,
                    "disabledSupport": True,
                    "dataSupport": True,
                    "resolveSupport": {"properties": ["edit"]},
                },
            },
        },
    }


def configuration(settings: Mapping[str, Any], params: Any) -> list[Any]:
    """Answer ``workspace/configuration``: one value for each item asked, ``None`` where nothing is configured."""
    items: object = params.get("items") if isinstance(params, dict) else None
    return [_section(settings, item) for item in cast(list[Any], items)] if isinstance(items, list) else []


def _section(settings: Mapping[str, Any], item: Any) -> Any:
    section: object = item.get("section") if isinstance(item, dict) else None
    if not isinstance(section, str) or not section:
        return dict(settings)
    if section in settings:  # written with its dots, as editors do
        return settings[section]
    value: Any = settings
    for name in section.split("."):
        if not isinstance(value, Mapping) or name not in value:
            return None
        value = cast(Mapping[str, Any], value)[name]
    return value


@dataclass(slots=True)
class Abilities:
    """What a server can do, by its answer to ``initialize`` and by what it registered since.

    ``pulls`` maps a registration to its provider's identifier (``None`` without one); ``pull_failed`` is set for good
    once a pull was answered with "unknown method". ``saves`` tells whether it wants ``didSave``, ``takes_ranges``
    whether a change may be a part of the text, ``across_files`` whether a change of one file may change what a pull
    says of another. ``commands`` are those that it executes; ``sync_failed`` is set for good once its synchronous
    command was refused. ``tells_idle`` tells whether it has ever said that it had finished with a file. ``providers``
    are the methods that it answers about symbols; ``prepares_rename`` and ``resolves_actions`` tell whether it also
    answers ``prepareRename`` and ``codeAction/resolve``.
    """

    encoding: PositionEncoding = "utf-16"
    saves: bool = False
    takes_ranges: bool = False
    across_files: bool = False
    commands: frozenset[str] = frozenset()
    sync_failed: bool = False
    tells_idle: bool = False
    providers: set[str] = field(default_factory=set[str])
    prepares_rename: bool = False
    resolves_actions: bool = False
    pulls: dict[str, str | None] = field(default_factory=dict[str, "str | None"])
    pull_failed: bool = False
    watchers: dict[str, list[Watcher]] = field(default_factory=dict[str, list[Watcher]])
    name: str | None = None
    version: str | None = None

    @property
    def identifiers(self) -> tuple[str | None, ...]:
        """The identifiers to pull with, each once; empty when nothing can be pulled."""
        return () if self.pull_failed else tuple(dict.fromkeys(self.pulls.values()))

    @property
    def has_sync_command(self) -> bool:
        """Whether typescript-language-server's way to ask its compiler directly can be used."""
        return TSSERVER_REQUEST in self.commands and not self.sync_failed

    @property
    def asks(self) -> bool:
        """Whether sets come by asking for them, and not only when the server likes."""
        return bool(self.identifiers) or self.has_sync_command

    @property
    def asks_across_files(self) -> bool:
        """Whether sets come by asking, and a change of one file may change the set of another."""
        return self.across_files if self.identifiers else self.has_sync_command

    @property
    def all_watchers(self) -> list[Watcher]:
        """Every registered watcher."""
        return [watcher for watchers in self.watchers.values() for watcher in watchers]

    def register(self, params: Any) -> None:
        """Take ``client/registerCapability``; registrations of other methods are accepted and not used."""
        for entry in _entries(params, "registrations"):
            number, options = str(entry.get("id")), _mapping(entry.get("registerOptions"))
            match entry.get("method"):
                case "textDocument/diagnostic":
                    self.pulls[number] = _text(options.get("identifier"))
                    self.across_files = self.across_files or options.get("interFileDependencies") is True
                case "textDocument/didSave":
                    self.saves = True
                case "workspace/didChangeWatchedFiles":
                    # pyrefly adds a second set under the id of the first, which editors keep as well.
                    both = dict.fromkeys((*self.watchers.get(number, ()), *read_watchers(options)))
                    self.watchers[number] = list(both)[:_WATCHERS]
                case str() as method if method in _PROVIDERS.values():
                    self.providers.add(method)
                    self.take_options(method, options)
                case _:
                    continue

    def take_options(self, method: str, options: Mapping[str, Any]) -> None:
        """Take what else a provider offers."""
        if method == RENAME:
            self.prepares_rename = self.prepares_rename or options.get("prepareProvider") is True
        elif method == CODE_ACTION:
            self.resolves_actions = self.resolves_actions or options.get("resolveProvider") is True

    def unregister(self, params: Any) -> None:
        """Take ``client/unregisterCapability``; the field's name is misspelled in the protocol."""
        for entry in (*_entries(params, "unregisterations"), *_entries(params, "unregistrations")):
            number = str(entry.get("id"))
            self.pulls.pop(number, None)
            self.watchers.pop(number, None)


def read_abilities(result: Any) -> Abilities:
    """Read the answer to ``initialize``; whatever has no known shape counts as absent."""
    fields = _mapping(result)
    capabilities, info = _mapping(fields.get("capabilities")), _mapping(fields.get("serverInfo"))
    abilities = Abilities(
        encoding=_ENCODINGS.get(str(capabilities.get("positionEncoding")), "utf-16"),
        saves=_wants_save(capabilities.get("textDocumentSync")),
        takes_ranges=_takes_ranges(capabilities.get("textDocumentSync")),
        name=_text(info.get("name")),
        version=_text(info.get("version")),
        providers={method for name, method in _PROVIDERS.items() if capabilities.get(name) not in (None, False)},
        commands=_names(_mapping(capabilities.get("executeCommandProvider")).get("commands")),
    )
    for name, method in _PROVIDERS.items():
        abilities.take_options(method, _mapping(capabilities.get(name)))
    provider = capabilities.get("diagnosticProvider")
    if isinstance(provider, dict) or provider is True:
        abilities.pulls[""] = _text(_mapping(provider).get("identifier"))
        abilities.across_files = _mapping(provider).get("interFileDependencies") is True
    return abilities


def _wants_save(sync: object) -> bool:
    save: object = _mapping(sync).get("save")
    return isinstance(save, dict) or save is True


def _takes_ranges(sync: object) -> bool:
    kind: object = _mapping(sync).get("change") if isinstance(sync, dict) else sync
    return kind == _INCREMENTAL and not isinstance(kind, bool)


def _entries(params: Any, name: str) -> Sequence[dict[str, Any]]:
    entries = _mapping(params).get(name)
    return [entry for entry in cast(list[Any], entries) if isinstance(entry, dict)] if isinstance(entries, list) else ()


def _mapping(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _names(value: object) -> frozenset[str]:
    entries = cast(list[Any], value) if isinstance(value, list) else []
    return frozenset(entry for entry in entries if isinstance(entry, str))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
