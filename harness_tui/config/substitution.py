"""``{env:NAME}``, ``{env:NAME:-default}`` and ``{file:PATH}`` in values, and ``${NAME}`` in ``.mcp.json``.

One pass: what is put in is never looked at again. A missing variable is an error that names it. Inside a ``command``
nothing is put in, because everyone on the machine can read an argument vector.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from harness_tui.config.fragment import Keys
from harness_tui.config.layers import Leaf
from harness_tui.core.errors import HarnessError
from harness_tui.core.late_pattern import late_pattern
from harness_tui.core.paths import read_regular, resolve
from harness_tui.core.redaction import REDACTOR, SECRET_NAMES

_OWN: Final = late_pattern(r"\{env:([A-Za-z_][A-Za-z0-9_]*)(:-([^{}]*))?\}|\{file:([^{}]+)\}")
_OWN_START: Final = late_pattern(r"\{(?:env|file):")
_FOREIGN: Final = late_pattern(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}")
_KEY_NAME: Final = late_pattern(r"(?i)(?:^|[_-])key$")
_FILE_BYTES: Final = 64 * 1024


class Substitution:
    """Puts variables and files into the values of configuration files."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def value(self, keys: Keys, leaf: Leaf) -> Any:
        """Return the value of ``leaf`` with everything put in. Raises ``HarnessError`` that says what is missing."""
        return self._walk(keys, leaf, leaf.value)

    def origin(self, leaf: Leaf) -> str | None:
        """Return the variable or file that the whole value of ``leaf`` comes from, ``None`` for any other value."""
        match = _OWN.fullmatch(leaf.value) if isinstance(leaf.value, str) and leaf.dialect == "harness" else None
        if match is None:
            return None
        return match[4] or (match[1] if self._environ.get(match[1]) else None)

    def _walk(self, keys: Keys, leaf: Leaf, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(keys, leaf, value)
        if isinstance(value, list):
            return [self._walk(keys, leaf, item) for item in cast(list[Any], value)]
        if isinstance(value, dict):
            return {key: self._walk((*keys, key), leaf, item) for key, item in cast(dict[str, Any], value).items()}
        return value

    def _text(self, keys: Keys, leaf: Leaf, text: str) -> str:
        in_command = keys[-1] == "command"
        if leaf.dialect == "plain":
            return text
        if leaf.dialect == "mcp-json":
            result = _FOREIGN.sub(lambda match: self._foreign(leaf, match, in_command), text)
        else:
            if in_command and _OWN_START.search(text):
                raise HarnessError(
                    "a command line can be read by everyone on this machine, so nothing is put into it",
                    where=leaf.source,
                    mend="put the value into 'env' and let the program read it there",
                    code="placeholder-in-command",
                )
            result = _OWN.sub(lambda match: self._own(leaf, match), text)
            if _OWN_START.search(_OWN.sub("", text)):
                raise HarnessError(
                    f"{text!r} holds a placeholder that is not complete",
                    where=leaf.source,
                    mend="write {env:NAME}, {env:NAME:-default} or {file:PATH}",
                    code="placeholder",
                )
        if _is_secret(keys, text, changed=result != text):
            _register(result)
        return result

    def _own(self, leaf: Leaf, match: re.Match[str]) -> str:
        return self._file(leaf, match[4]) if match[4] else self._variable(leaf, match[1], match[2], match[3])

    def _foreign(self, leaf: Leaf, match: re.Match[str], in_command: bool) -> str:
        if in_command and secret_name(match[1]):
            raise HarnessError(
                f"a command line can be read by everyone on this machine, so {match[1]} is not put into it",
                where=leaf.source,
                mend="put it into 'env' and let the program read it there",
                code="placeholder-in-command",
            )
        return self._variable(leaf, match[1], match[2], match[3])

    def _variable(self, leaf: Leaf, name: str, has_default: str | None, default: str | None) -> str:
        value = self._environ.get(name)
        if has_default is not None:
            value = value or default or ""
        if value is None:
            raise HarnessError(
                f"the environment variable {name} is not set",
                where=leaf.source,
                mend=f"set {name}, or give a default: {{env:{name}:-...}}",
                code="missing-variable",
            )
        if secret_name(name):
            REDACTOR.add(value)
        return value

    def _file(self, leaf: Leaf, name: str) -> str:
        path = resolve(name.strip(), Path(leaf.path).parent)
        try:
            text = read_regular(path, max_bytes=_FILE_BYTES).decode("utf-8")
        except HarnessError as error:
            message = f"the file {path} cannot be read: {error.what}"
            raise HarnessError(message, where=leaf.source, code="missing-file") from error
        except UnicodeDecodeError as error:
            raise HarnessError(f"the file {path} is not UTF-8", where=leaf.source, code="missing-file") from error
        return text.removesuffix("\n").removesuffix("\r")


def secret_name(name: str) -> bool:
    """Tell whether a variable, header or field of this name holds a secret."""
    return bool(SECRET_NAMES.search(name) or _KEY_NAME.search(name))


def _is_secret(keys: Keys, text: str, *, changed: bool) -> bool:
    """Tell whether the value at ``keys`` is a secret: by its name, or as a header that comes from elsewhere."""
    own = keys[2:] if keys[0] in ("mcp", "providers") else keys  # how an entry is called says nothing of its values
    return any(secret_name(key) for key in own[-2:]) or (changed and "headers" in keys)


def _register(value: str) -> None:
    REDACTOR.add(value)
    scheme, _, rest = value.partition(" ")
    if rest and scheme.lower() in ("bearer", "basic", "token"):
        REDACTOR.add(rest)
