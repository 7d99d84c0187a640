"""What is shown of a configured value: everything but secrets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, cast

from harness_tui.config.substitution import secret_name
from harness_tui.core.redaction import MARK, redact_data

_QUERY: Final = re.compile(r"(?i)([?&][^=&#]*(?:key|token|secret|pass|auth|sig)[^=&#]*=)[^&#]+")
"""The value of a parameter of an address that is named like a secret."""


def masked(keys: Sequence[str], value: Any) -> Any:
    """Return ``value`` of the setting ``keys`` without secrets: by name, as registered, and by shape."""
    return redact_data(_by_name(list(keys), value))


def _by_name(keys: list[str], value: Any) -> Any:
    """Return ``value`` without what is a secret by its name; a placeholder is none."""
    match value:
        case dict():
            return {key: _by_name([*keys, str(key)], item) for key, item in cast(dict[Any, Any], value).items()}
        case str() if "://" in value and "?" in value:
            return _QUERY.sub(lambda match: f"{match[1]}{MARK}", value)
        case str() if "headers" in keys[:-1] or any(secret_name(key) for key in keys[-2:]):
            return value if "{env:" in value or "{file:" in value or "${" in value else MARK
        case _:
            return value
