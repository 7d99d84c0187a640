"""``harness [PATH]``: opens the TUI. Reads its few options without click, which the first frame cannot afford."""

from __future__ import annotations

import sys

from harness_tui.cli.entry import HELP

_VALUES = {"--model": "model", "--agent": "agent", "--mode": "mode", "--session": "session"}
_USAGE = (
    "usage: harness [PATH] [--model M] [--agent A] [--mode M] [--session ID | --continue]\n"
    "       harness --help lists the verbs"
)


def parse(arguments: list[str]) -> tuple[str, dict[str, str | bool]]:
    """Return the folder and the options. Raises ``ValueError`` with a sentence for the person."""
    folder: str | None = None
    options: dict[str, str | bool] = {}
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if word == "--continue":
            options["continue"] = True
        elif name in _VALUES:
            if not equals:
                if not rest:
                    raise ValueError(f"{name} needs a value")
                value = rest.pop(0)
            options[_VALUES[name]] = value
        elif word.startswith("-"):
            raise ValueError(f"unknown option {word}")
        elif folder is None:
            folder = word
        else:
            raise ValueError(f"one folder at a time: {folder} and {word}")
    return folder or ".", options


def open_shell(arguments: list[str]) -> int:
    """Open the TUI in the folder that ``arguments`` name, and return the exit code."""
    from pathlib import Path

    if any(word in HELP for word in arguments):
        from harness_tui.cli.app import run_verb

        return run_verb(["--help"])
    word = arguments[0] if arguments else "."
    if not word.startswith("-") and not Path(word).is_dir():
        # Before its other words are looked at: after a misspelt verb they are no folders and no options of ours.
        sys.stderr.write(f"harness: {word} is neither a folder nor a verb{_suggestion(word)}\n{_USAGE}\n")
        return 2
    try:
        folder, options = parse(arguments)
    except ValueError as error:
        sys.stderr.write(f"harness: {error}\n{_USAGE}\n")
        return 2
    if not Path(folder).is_dir():
        sys.stderr.write(f"harness: {folder} is not a folder\n{_USAGE}\n")
        return 2
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        sys.stderr.write('harness: the shell needs a terminal; without one use harness run "message"\n')
        return 2
    from harness_tui.tui.run import Options, run

    return run(
        Path(folder),
        options=Options(
            model=_from_here(_text(options, "model")),
            agent=_text(options, "agent"),
            mode=_text(options, "mode"),
            session=_text(options, "session"),
            continue_latest=bool(options.get("continue")),
        ),
    )


def _from_here(model: str | None) -> str | None:
    """Return ``model``; the file of ``replay:FILE`` lies relative to the current folder, whatever folder is opened."""
    from pathlib import Path

    prefix, colon, name = (model or "").partition(":")
    if prefix not in ("replay", "local") or not colon or not name:
        return model
    return f"{prefix}:{Path(name).expanduser().absolute()}"


def _text(options: dict[str, str | bool], name: str) -> str | None:
    value = options.get(name)
    return value if isinstance(value, str) else None


def _suggestion(word: str) -> str:
    import difflib

    from harness_tui.cli.entry import VERBS

    close = difflib.get_close_matches(word, VERBS, 1)
    return f"; did you mean {close[0]}?" if close else ""
