"""Errors that a person reads: what is wrong, where, and how to mend it."""

from __future__ import annotations


class HarnessError(Exception):
    """An error with its place and its remedy.

    ``what`` is one sentence, ``where`` a ``file:line`` or the name of a server, tool or setting,
    ``mend`` says what to do about it. ``code`` is a stable word for programs.
    """

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        mend: str | None = None,
        code: str = "error",
    ) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.mend = mend
        self.code = code

    @property
    def placed(self) -> str:
        """What is wrong with its place, the remedy left out: for those who show that by itself."""
        return f"{self.where}: {self.what}" if self.where else self.what

    def __str__(self) -> str:
        if self.mend and "\n" in self.mend:  # a remedy of several lines stands below, not in a bracket
            return f"{self.placed}\n\n{self.mend}"
        return f"{self.placed} ({self.mend})" if self.mend else self.placed


class UsageError(HarnessError):
    """What was asked for cannot be had as asked: exit code 2."""


class RefusedError(HarnessError):
    """Refused by permission or trust: exit code 3."""


class ToolError(HarnessError):
    """A tool call that failed in a way that the model can read and mend."""


class StalePreviewError(HarnessError):
    """What was shown for approval is no longer what would happen: prepare and ask again."""
