"""How much room sessions may take: read from the person's own files alone.

The limit decides which of a person's sessions are removed, and a folder that they open has no say in that.
"""

from __future__ import annotations

from harness_tui.config.layers import Layers
from harness_tui.config.problems import Problem
from harness_tui.config.settings import SessionsSettings


def session_limits(layers: Layers, problems: list[Problem]) -> SessionsSettings:
    """Return the configured limits; one that stands in a project is reported to ``problems`` and not used."""
    given: dict[str, int] = {}
    for name in ("total_mb", "session_mb"):
        leaf = layers.leaves.get(("sessions", name))
        if leaf is None:
            continue
        if leaf.of_project:
            text = f"sessions.{name}: this is not read in a project"
            mend = "set it in your own config.yaml: it decides which of your sessions are removed"
            problems.append(Problem(leaf.source, "not-in-project", text, mend))
        else:
            given[name] = leaf.value
    return SessionsSettings(**given)
