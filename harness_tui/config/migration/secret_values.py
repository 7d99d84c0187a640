"""Values of other tools' settings in our form: placeholders translated, secrets in clear text left behind.

A secret is never copied: its place takes ``{env:NAME}``, and the person is told which variable to set.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from harness_tui.config.migration.findings import Findings, Secret
from harness_tui.config.substitution import secret_name
from harness_tui.core.paths import digest
from harness_tui.core.redaction import redact

Dialect: TypeAlias = Literal["claude", "opencode", "codex", "gemini"]

_OWN: Final = re.compile(r"\{(?:env|file):[^{}]+\}")
_OWN_START: Final = re.compile(r"\{(?:env|file):")
_BRACED: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^{}]*))?\}")
_PLAIN: Final = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")
_SCHEME: Final = re.compile(r"(?i)((?:bearer|basic|token)\s+)(\S.*)", re.DOTALL)
_FLAG: Final = re.compile(r"-{1,2}([A-Za-z0-9_-]+)(?:=(.+))?", re.DOTALL)
_PAIR: Final = re.compile(r"([A-Za-z0-9_-]+)\s*[=:]\s*(\S.*)", re.DOTALL)
_QUERY: Final = re.compile(r"(?i)([?&])([^=&#?]*(?:key|token|secret|pass|auth|sig)[^=&#]*)=([^&#]+)")
_NAMES: Final = re.compile(r"(?i)auth|(?:^|[_-])pat(?:$|[_-])|session|signature|bearer|(?:^|[_-])pwd(?:$|[_-])|dsn$")
_RUN: Final = re.compile(r"[A-Za-z0-9]{20,}")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9]+")


class Values:
    """Translates the values of one server or provider called ``owner``."""

    def __init__(self, findings: Findings, dialect: Dialect, owner: str) -> None:
        self._findings = findings
        self._dialect: Dialect = dialect
        self._owner = owner

    def placeholders(self, text: str) -> str | None:
        """Return ``text`` with our placeholders; ``None`` when it would mean something else here."""
        if self._dialect == "opencode":
            return text
        if _OWN_START.search(text):
            return None
        if self._dialect == "codex":
            return text
        text = _BRACED.sub(lambda match: f"{{env:{match[1]}{match[2] or ''}}}", text)
        return _PLAIN.sub(lambda match: f"{{env:{match[1]}}}", text) if self._dialect == "gemini" else text

    def variable(self, key: str, text: str, where: str, variable: str | None = None) -> str | None:
        """Return the value of an environment variable or header ``key``; ``None`` when it cannot be carried over.

        ``variable`` is the name that a secret is read from, made of the owner and the key by default.
        """
        ours = self.placeholders(text)
        if ours is None or ours != text or _OWN.search(ours) or not text.strip():
            return ours
        if not (secret_name(key) or _NAMES.search(key) or looks_secret(text) or _SCHEME.fullmatch(text)):
            return text
        name = variable or self.named(key)
        if self._findings.known.setdefault(name, digest(text.encode())) != digest(text.encode()):
            name = self.named(key)  # another server has another secret under this name
        self._findings.secrets.append(Secret(name, where, f"{self._owner}: {key}"))
        scheme = _SCHEME.fullmatch(text)
        return f"{scheme[1] if scheme else ''}{{env:{name}}}"

    def address(self, url: str, where: str) -> str | None:
        """Return a URL without the secrets in its query; ``None`` for one that holds a password, or is no address."""
        ours = self.placeholders(url)
        if ours is None or re.search(r"://[^/?#]*@", ours):
            return None

        def without(match: re.Match[str]) -> str:
            if "{env:" in match[3] or "{file:" in match[3]:
                return match.group()
            name = self.named(match[2])
            self._findings.secrets.append(Secret(name, where, f"{self._owner}: {match[2]} in its address"))
            return f"{match[1]}{match[2]}={{env:{name}}}"

        return _QUERY.sub(without, ours)

    def named(self, key: str) -> str:
        """Return the name of the variable for ``key`` of this owner."""
        return _UNSAFE.sub("_", f"{self._owner}_{key}").strip("_").upper()


def looks_secret(text: str) -> bool:
    """Tell whether ``text`` has the shape of a secret: a known one, or a long run of letters and digits mixed.

    What is none costs a variable; what is one and is missed stands in a file.
    """
    if redact(text) != text:
        return True
    runs = (match.group() for match in _RUN.finditer(text))
    return any(not run.isalpha() and not run.isdigit() for run in runs)


def command_fault(command: list[str], placeholders: Callable[[str], str | None]) -> str | None:
    """Return why a command line cannot be carried over: everyone on the machine can read it."""
    before = ""
    for part in command:
        ours = placeholders(part)
        if ours is None or ours != part or _OWN_START.search(part):
            return "its command line takes a variable, which is not put in here: give it in 'env'"
        flag = _FLAG.fullmatch(part)
        pair = _PAIR.fullmatch(part)
        is_value_of_secret = secret_name(before) and not part.startswith("-")
        named = (flag is not None and flag[2] and secret_name(flag[1])) or (pair is not None and secret_name(pair[1]))
        if is_value_of_secret or named or looks_secret(part):
            return "its command line holds a secret in clear text: let the program read it from 'env'"
        before = flag[1] if flag is not None and not flag[2] else ""
    return None
