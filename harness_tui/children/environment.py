"""The environment of a child: an allow-list, what the caller names, and the marks by which strays are found.

Keys of model providers, tokens and whatever else the shell was started with never reach a child by accident.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final

from harness_tui.children.lookup import absolute_entries
from harness_tui.core.errors import HarnessError
from harness_tui.core.redaction import SECRET_NAMES

SHELL_MARK: Final = "HARNESS_SHELL"
"""Carried by every child: the id of the shell that started it."""

CHILD_MARK: Final = "HARNESS_CHILD"
"""Carried by every child and what it starts: the id of that one child."""

BASE_NAMES: Final = frozenset(
    {
        "HOME",
        "PATH",
        "LANG",
        "LANGUAGE",
        "TERM",
        "TMPDIR",
        "TZ",
        "SHELL",
        "USER",
        "LOGNAME",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "no_proxy",
    }
)
BASE_PREFIXES: Final = ("LC_", "XDG_", "SSL_CERT_")


def child_environment(
    environ: Mapping[str, str],
    *,
    owner: str,
    inherit: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return the environment of a child of ``owner``: base names, ``inherit``-ed names, then ``env`` as it is.

    A name in ``inherit`` that is not set is left out. ``bash`` and ``lsp:*`` also see VIRTUAL_ENV. Of PATH the absolute
    entries are kept: with others a folder that somebody made would decide what ``ls`` is.
    """
    names = [name for name in environ if name in BASE_NAMES or _has_base_prefix(name)]
    if owner == "bash" or owner.startswith("lsp:"):
        names.append("VIRTUAL_ENV")
    names.extend(inherit)
    result = {name: environ[name] for name in names if name in environ}
    if "PATH" in result:
        result["PATH"] = os.pathsep.join(absolute_entries(result["PATH"])) or os.defpath
    return result | dict(env or {})


def check_needs(environ: Mapping[str, str], owner: str, needs: Sequence[str]) -> None:
    """Raise ``HarnessError`` that names the variables of ``needs`` that are not set."""
    missing = [name for name in needs if name not in environ]
    if missing:
        one = len(missing) == 1
        raise HarnessError(
            f"the variable{'' if one else 's'} {', '.join(missing)} {'is' if one else 'are'} not set",
            where=owner,
            mend="set it before you start the shell, or take its name out of inherit",
            code="variable",
        )


def _has_base_prefix(name: str) -> bool:
    # ``XDG_API_TOKEN`` is no base directory: a prefix lets nothing through that is named like a secret.
    return name.startswith(BASE_PREFIXES) and not SECRET_NAMES.search(name)


def foreground_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a person's own program (editor, pager): everything but what is named like a secret."""
    return {name: value for name, value in environ.items() if not SECRET_NAMES.search(name)}
