"""Which servers there are: the built-in list, and what configuration makes of it.

An entry of the configuration with a known name changes that entry; one with another name is a server of its own and
needs ``command`` and ``extensions``. An entry that cannot be used stays in the list and says why.
"""

from __future__ import annotations

from dataclasses import replace

from harness_tui.config.settings import LspServerSettings, LspSettings
from harness_tui.lsp.built_in import BUILT_IN
from harness_tui.lsp.spec import LANGUAGE_IDS, ServerSpec


def catalog(settings: LspSettings) -> tuple[ServerSpec, ...]:
    """Return every server that may serve, built in and configured.

    Inside a group a server whose ``command`` is configured comes before the built-in order: naming it is a choice.
    """
    built_in = {spec.name: spec for spec in BUILT_IN}
    known = [_changed(spec, settings.servers.get(spec.name)) for spec in BUILT_IN]
    added = [_added(entry) for name, entry in settings.servers.items() if name not in built_in]
    chosen = {entry.name for entry in settings.servers.values() if entry.command is not None}
    known.sort(key=lambda spec: not (spec.group is not None and spec.name in chosen))
    return (*known, *added)


def install_hint(specs: tuple[ServerSpec, ...]) -> str:
    """Return what to install for one of ``specs`` to serve, most preferred first."""
    names = [spec.name for spec in specs if spec.blocked is None and spec.group is not None][:3]
    names = names or [spec.command[0] for spec in specs if spec.blocked is None and spec.command][:3]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]


def _changed(spec: ServerSpec, entry: LspServerSettings | None) -> ServerSpec:
    if entry is None:
        return spec
    return replace(
        spec,
        command=spec.command if entry.command is None else entry.command,
        languages=spec.languages if entry.extensions is None else _languages(entry.extensions),
        roots=spec.roots if entry.roots is None else entry.roots,
        env=entry.env,
        initialization=spec.initialization if entry.initialization is None else entry.initialization,
        settings=spec.settings if entry.settings is None else entry.settings,
        # A command of one's own need not understand the probe of the built-in one, nor need what that one needs.
        probe=spec.probe if entry.command is None else (),
        needs=spec.needs if entry.command is None else (),
        typescript=spec.typescript if entry.command is None else None,
        blocked=_blocked(entry, entry.command is not None and not entry.command),
        configured=True,
    )


def _added(entry: LspServerSettings) -> ServerSpec:
    return ServerSpec(
        name=entry.name,
        command=entry.command or (),
        languages=_languages(entry.extensions or ()),
        roots=entry.roots or (),
        env=entry.env,
        initialization=entry.initialization or {},
        settings=entry.settings or {},
        blocked=_blocked(entry, not entry.command or not entry.extensions),
        configured=True,
    )


def _blocked(entry: LspServerSettings, incomplete: bool) -> str | None:
    if entry.disabled:
        return "disabled in the configuration"
    if not entry.trusted:
        return "the folder that configures it is not trusted"
    return "its entry needs command and extensions" if incomplete else None


def _languages(extensions: tuple[str, ...]) -> dict[str, str]:
    dotted = [text.lower() if text.startswith(".") else f".{text.lower()}" for text in extensions]
    return {extension: LANGUAGE_IDS.get(extension, extension[1:]) for extension in dotted}
