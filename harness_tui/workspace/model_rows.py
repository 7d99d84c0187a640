"""Models as the rows of a front end's list."""

from __future__ import annotations

from collections.abc import Iterable

from harness_tui.core.record import record
from harness_tui.models.catalogue import ModelInfo, price_text


@record
class ModelRow:
    """One model; ``price`` in a few characters, ``reason`` and ``mend`` of one that is not available.

    ``wants_key`` names the provider whose key is what it lacks.
    """

    name: str
    context: int | None
    price: str | None
    aliases: tuple[str, ...]
    favourite: bool
    available: bool
    reason: str | None
    mend: str | None
    wants_key: str | None = None


def model_rows(infos: Iterable[ModelInfo]) -> list[ModelRow]:
    """Return ``infos`` as rows, in their order."""
    return [
        ModelRow(
            info.name,
            info.context,
            price_text(info.price),
            info.aliases,
            info.favourite,
            info.available,
            info.why,
            info.mend,
            info.provider if info.wants_key else None,
        )
        for info in infos
    ]
