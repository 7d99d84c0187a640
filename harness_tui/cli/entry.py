"""The console script: answers ``--version`` at once, opens the TUI without click, hands verbs to click.

Nothing beyond ``sys`` is imported before the version is answered, and no verb's parts before the TUI's first frame.
"""

from __future__ import annotations

import sys

VERBS = (
    "acp",
    "auth",
    "chat",
    "commands",
    "config",
    "context",
    "demo",
    "doctor",
    "lsp",
    "mcp",
    "models",
    "permissions",
    "protocol",
    "ps",
    "run",
    "sessions",
    "skills",
    "tools",
    "trust",
    "web",
)
"""Every word that is a verb and not a folder; each is a module of ``harness_tui.cli.verbs``."""


HELP = ("--help", "-h")

COMPLETE = "_HARNESS_COMPLETE"
"""Set by a shell that completes a line."""


def main() -> int:
    """Run what ``sys.argv`` says and return the exit code of design: 0, 1, 2, 3 or 130."""
    if None in (sys.stdin, sys.stdout, sys.stderr):
        _open_missing_streams()
    try:
        return _dispatch(sys.argv[1:])
    except KeyboardInterrupt:  # while modules are still being imported; a verb that runs ends in its own way
        from harness_tui.cli.streams import write_notice

        write_notice("harness: interrupted\n")
        return 130


def _dispatch(arguments: list[str]) -> int:
    if arguments in (["--version"], ["-V"]):
        return _version()
    if sys.platform == "win32":
        sys.stderr.write("harness: Windows is not supported, use WSL\n")
        return 2
    import os

    if COMPLETE in os.environ:
        from harness_tui.cli.completion import complete

        return complete()
    if arguments and (arguments[0] in VERBS or arguments[0] in (*HELP, "help")):
        from harness_tui.cli.ending import end_at_signals

        end_at_signals()  # before the imports, which take their time
        from harness_tui.cli.app import run_verb

        return run_verb(arguments)
    from harness_tui.cli.open import open_shell

    return open_shell(arguments)


def _version() -> int:
    from harness_tui._version import __version__

    try:
        sys.stdout.write(f"harness {__version__}\n")
        sys.stdout.flush()
    except OSError as error:
        from harness_tui.cli.streams import output_failed

        return output_failed(error)
    return 0


def _open_missing_streams() -> None:
    # A caller may close a standard stream (``harness ... <&-``). Its number must not go to the next file that is
    # opened, and Python leaves None in its place.
    import os

    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False))


if __name__ == "__main__":
    sys.exit(main())
