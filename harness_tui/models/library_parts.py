"""What is left out of the library of Anthropic: half of it are 1,100 modules about organizations, sessions and vaults,
15 MB and a third of a second for a program that sends messages.
"""

from __future__ import annotations

from typing import Final

_TOPICS: Final = (
    "beta.agents",
    "beta.compliance",
    "beta.environments",
    "beta.memory_stores",
    "beta.organization",
    "beta.sessions",
    "beta.skills",
    "beta.tunnels",
    "beta.user_profiles",
    "beta.vaults",
    "organization",
)
UNUSED: Final = frozenset(f"anthropic.{side}.{topic}" for side in ("resources", "types") for topic in _TOPICS)
"""Packages of the Anthropic library that have nothing to do with messages."""
