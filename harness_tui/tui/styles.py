"""Style sheets beside their widgets: ``view.py`` is styled by ``view.tcss``."""

from __future__ import annotations

from pathlib import Path


def beside(module_file: str) -> str:
    """Return the text of the ``.tcss`` file with the stem of ``module_file`` (pass ``__file__``)."""
    return Path(module_file).with_suffix(".tcss").read_text(encoding="utf-8")
