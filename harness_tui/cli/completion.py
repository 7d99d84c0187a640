"""Completion of verbs and options in a shell: ``eval "$(_HARNESS_COMPLETE=bash_source harness)"``.

A shell asks at every Tab, in whatever folder it is: no configuration is read and no program is started.
"""

from __future__ import annotations

import os

from click.shell_completion import BashComplete, add_completion_class, shell_complete

from harness_tui.cli.app import harness
from harness_tui.cli.entry import COMPLETE


class _Bash(BashComplete):
    @staticmethod
    def _check_version() -> None:
        """Start no bash to ask for its version: the one that is found first may be the project's."""


def complete() -> int:
    """Print what the variable asks for: the script for a shell, or the words that fit. Return the exit code."""
    add_completion_class(_Bash, "bash")
    return shell_complete(harness, {}, "harness", COMPLETE, os.environ[COMPLETE])
