"""What a person is shown of a shell text: its simple commands, each with the gate's decision on it and on its files."""

from __future__ import annotations

from dataclasses import replace

from harness_tui.core.event_parts import CommandPart, CommandPreview, Preview
from harness_tui.core.seams import GateDecision
from harness_tui.core.values import Action

_STRICTNESS: dict[Action, int] = {"allow": 0, "ask": 1, "deny": 2}


def with_decisions(preview: Preview, decision: GateDecision) -> Preview:
    """Return ``preview`` with the parts that the gate found, if it is one of a command."""
    if not isinstance(preview, CommandPreview):
        return preview
    parts = command_parts(decision)
    return replace(preview, parts=parts) if parts else preview


def command_parts(decision: GateDecision) -> tuple[CommandPart, ...]:
    """Return the simple commands of ``decision``, each once: it asks or is denied when one of its files is.

    A redirection that belongs to a group of commands is a part of its own.
    """
    parts: list[CommandPart] = []
    places: dict[str, int] = {}
    for part in decision.parts:
        shown = part.check.display
        if part.check.permission == "bash":
            text = part.check.value if shown is None or shown in places else shown
            places.setdefault(text, len(parts))
            parts.append(CommandPart(text, part.decision))
        elif shown is not None and shown in places:
            place = places[shown]
            parts[place] = replace(parts[place], decision=_stricter(parts[place].decision, part.decision))
        elif shown is not None:
            places[shown] = len(parts)
            parts.append(CommandPart(shown, part.decision))
    return tuple(parts)


def _stricter(one: Action, other: Action) -> Action:
    return one if _STRICTNESS[one] >= _STRICTNESS[other] else other
