"""What every screen over the session has in common: it is left once."""

from __future__ import annotations

from typing import Generic, TypeVar

from textual.screen import ModalScreen

Result = TypeVar("Result")


class Dialog(ModalScreen[Result], Generic[Result]):
    """A screen over the session that gives one result."""

    def leave(self, result: Result) -> None:
        """Close this screen and give ``result``.

        Keys that were typed before it went are still handed to it: a second one that leaves must not close the
        screen below.
        """
        if self.is_active:
            self.dismiss(result)
