"""The click group of all verbs, each loaded when it is typed, and the one place where errors become exit codes."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

import click

from harness_tui._version import __version__
from harness_tui.cli.ending import INTERRUPTED, end_at_once_from_now_on
from harness_tui.cli.entry import VERBS
from harness_tui.cli.streams import OutputError, discard_output, output_failed, use_utf8, write_notice
from harness_tui.core.errors import HarnessError, RefusedError, UsageError
from harness_tui.core.text import clean_for_display

SUMMARIES = {
    "acp": "An agent for editors (Agent Client Protocol).",
    "auth": "Keys of model providers: add, list, remove.",
    "chat": "The shell line by line: dumb terminals, screen readers, pipes.",
    "commands": "List, show, check, create and expand commands.",
    "config": "Show and check the configuration, import that of other tools.",
    "context": "What a request is made of: tokens part by part.",
    "demo": "A tour on a scratch project, with real tools and servers.",
    "doctor": "Everything that is wrong, and how to mend it.",
    "lsp": "Language servers: list, check files.",
    "mcp": "MCP servers: list, tools, call.",
    "models": "List the models that can be used.",
    "permissions": "List rules and approvals, explain a decision.",
    "protocol": "Generate and check the protocol contract.",
    "ps": "The processes that running shells have started.",
    "run": "One run without a screen.",
    "sessions": "Recorded sessions: list, show, search, export, fork, undo.",
    "skills": "List, show, check and create skills.",
    "tools": "List tools, or call one by hand.",
    "trust": "Trust a folder's configuration, commands, skills and servers.",
    "web": "The shell in a browser, on this machine only.",
}


class VerbGroup(click.Group):
    """Finds verbs in ``harness_tui.cli.verbs`` without importing them for ``--help``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs that this version has."""
        return [verb for verb in VERBS if _exists(verb)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a verb's module."""
        if cmd_name not in VERBS or not _exists(cmd_name):
            return None
        return importlib.import_module(f"harness_tui.cli.verbs.{cmd_name}").command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the summaries, which need no import."""
        verbs = self.list_commands(ctx)
        if verbs:
            with formatter.section("Verbs"):
                formatter.write_dl([(verb, SUMMARIES[verb]) for verb in verbs])


@click.command(cls=VerbGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="harness", message="%(prog)s %(version)s")
def harness() -> None:
    """Harness, an agent shell for the terminal.

    \b
    harness [PATH] [--model M] [--agent A] [--mode M] [--session ID | --continue]
    opens the shell in a folder; a folder named like a verb is written ./run.
    """


def run_verb(arguments: list[str]) -> int:
    """Run one verb and return its exit code."""
    if arguments[0] == "help":
        arguments = [*arguments[1:], "--help"]
    use_utf8()
    if not _folder_is_there():
        write_notice("harness: the current folder does not exist any more (go to another one)\n")
        return 2
    code = _run(arguments)
    try:
        sys.stdout.flush()
    except OSError as error:
        return output_failed(error) or code
    return code


def _run(arguments: list[str]) -> int:
    try:
        # Not ``harness.main``: that one ends the process by itself when the reader of our output went away.
        with harness.make_context("harness", list(arguments)) as context:
            result = harness.invoke(context)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.ClickException as error:
        error.show()
        return 2
    except (click.Abort, KeyboardInterrupt):
        end_at_once_from_now_on()
        write_notice("harness: interrupted\n")
        return INTERRUPTED
    except OutputError as error:
        return output_failed(error.cause)
    except HarnessError as error:
        write_notice(f"harness: {clean_for_display(str(error))}\n")
        return exit_code_of(error)
    except BrokenPipeError as error:  # click writes help itself
        return output_failed(error)
    except OSError as error:  # a folder of ours that cannot be read or written, a full disk
        discard_output()
        write_notice(f"harness: {clean_for_display(str(error))}\n")
        return 1


def _folder_is_there() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


def exit_code_of(error: HarnessError) -> int:
    """Return 2 for a usage error, 3 for a refusal, else 1."""
    match error:
        case UsageError():
            return 2
        case RefusedError():
            return 3
        case _:
            return 1


def _exists(verb: str) -> bool:
    return importlib.util.find_spec(f"harness_tui.cli.verbs.{verb}") is not None
