"""The console script: answers ``--version`` at once, opens the TUI without click, hands verbs to click.

Nothing beyond ``sys`` is imported before the version is answered, and no verb's parts before the TUI's first frame.
"""

from __future__ import annotations

import sys

VERBS = (
    "commands",
    "config",
    "demo",
    "lsp",
    "mcp",
    "models",
    "permissions",
    "protocol",
    "run",
    "sessions",
    "skills",
    "tools",
    "trust",
)
"""Every word that is a verb and not a folder; each is a module of ``harness_tui.cli.verbs``."""


def main() -> int:
    """Run what ``sys.argv`` says and return the exit code of design: 0, 1, 2, 3 or 130."""
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):
        from harness_tui._version import __version__

        sys.stdout.write(f"harness {__version__}\n")
        return 0
    if sys.platform == "win32":
        sys.stderr.write("harness: Windows is not supported, use WSL\n")
        return 2
    if arguments and (arguments[0] in VERBS or arguments[0] in ("--help", "-h", "help")):
        from harness_tui.cli.app import run_verb

        return run_verb(arguments)
    from harness_tui.cli.open import open_shell

    return open_shell(arguments)


if __name__ == "__main__":
    sys.exit(main())
