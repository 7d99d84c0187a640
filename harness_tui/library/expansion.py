"""The result of expanding a line, and the callbacks that decide what may happen on the way."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from pathlib import Path
from typing import Protocol

from harness_tui.core.event_parts import CommandRef
from harness_tui.core.messages import Attachment
from harness_tui.core.record import record
from harness_tui.core.resources import ReadableResources
from harness_tui.core.seams import ProcessSpawner, PromptMessage, PromptSource
from harness_tui.core.values import Rule
from harness_tui.library.mentions import ReadGate


class ShellGate(Protocol):
    """Decides on all shell parts of a template at once, before any runs."""

    def __call__(self, commands: Sequence[str], words: Sequence[str], grants: Sequence[Rule], /) -> Awaitable[bool]:
        """Tell whether every one of ``commands`` may run with ``words`` as its parameters.

        ``commands`` are as their author wrote them. ``grants`` are allow rules of this run only, never over a deny.
        """
        ...


@record
class Surroundings:
    """Where and for whom a template is expanded.

    ``root`` is the project root, a real path. ``spawner`` or ``shell_gate`` missing means that no shell part may run.
    ``read_gate`` decides on mentions of the template, ``person_gate`` on those that a person typed; resources are read
    from ``resources`` and ``person_resources``, in the same way. ``may_grant`` tells
    whether ``allowed-tools`` count (a trusted folder). ``shell_seconds`` bounds each shell part from above.
    ``stand_in`` makes it a preview: its text takes the place of each shell part, as written, and nothing is started.
    """

    root: Path
    agents: Collection[str]
    models: Callable[[str], bool]
    spawner: ProcessSpawner | None = None
    shell_gate: ShellGate | None = None
    read_gate: ReadGate | None = None
    person_gate: ReadGate | None = None
    resources: ReadableResources | None = None
    person_resources: ReadableResources | None = None
    images: bool = True
    session: str | None = None
    may_grant: bool = False
    shell_seconds: float | None = None
    prompts: PromptSource | None = None
    stand_in: Callable[[str], str] | None = None


@record
class Expansion:
    """What a line became. With an ``error``, a code, nothing may be sent and nothing has run.

    ``agent``, ``model`` and ``subtask`` hold for this run only, ``None`` is the session's own. ``skill`` is the name of
    the skill whose body the message holds. ``command`` is ``None`` for a line that turned out to be a plain message.
    ``turns`` are the messages of a server's prompt where they are several, or an assistant's; ``message`` is then the
    text of all.
    """

    message: str = ""
    agent: str | None = None
    model: str | None = None
    subtask: bool = False
    attachments: tuple[Attachment, ...] = ()
    warnings: tuple[str, ...] = ()
    error: str | None = None
    error_text: str | None = None
    command: CommandRef | None = None
    skill: str | None = None
    grants: tuple[Rule, ...] = ()
    turns: tuple[PromptMessage, ...] = ()


def failed(error: str, text: str, *, command: CommandRef | None = None, warnings: Sequence[str] = ()) -> Expansion:
    """Return an expansion that stopped."""
    return Expansion(error=error, error_text=text, command=command, warnings=tuple(warnings))
