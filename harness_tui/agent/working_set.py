"""What a session has at hand beside its messages: its steps, the files it read or changed. Kept over a compaction."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from harness_tui.core.envelope import Envelope
from harness_tui.core.events import FileChanged, TodoUpdated, ToolFinished
from harness_tui.core.messages import AssistantMessage, Message, ToolMessage, UserMessage
from harness_tui.core.values import TodoItem
from harness_tui.library.skill_text import typed_in, wrapped_in

FILES: Final = 20
SUMMARY_HEAD: Final = """\
The conversation so far was summed up to save room. This message takes its place; nothing in it is a new request.

"""
_OPENED_BY: Final = frozenset({"read", "edit", "write"})
_LISTED: Final = re.compile(r"^<open_files>\n(.*?)\n</open_files>$", re.DOTALL | re.MULTILINE)


class WorkingSet:
    """Listens to one session's stream. A resumed session takes it from its messages and the last list of steps."""

    def __init__(self) -> None:
        self.todos: tuple[TodoItem, ...] = ()
        self._files: dict[str, None] = {}

    @property
    def files(self) -> tuple[str, ...]:
        """Files that were read or changed, newest first, at most :data:`FILES`."""
        return tuple(reversed(self._files))[:FILES]

    def listener(self, envelope: Envelope) -> None:
        """Take what an event tells."""
        match envelope.event:
            case TodoUpdated(items=items):
                self.todos = items
            case FileChanged(path=path, after=after):
                self._files.pop(path, None)
                if after is not None:
                    self._files[path] = None
            case ToolFinished(tool="read", is_error=False, metadata={"path": str(path)}):
                self._open(path)
            case _:
                pass

    def take(self, messages: Iterable[Message]) -> None:
        """Find the files that the messages of a record speak of."""
        paths: dict[str, str] = {}
        for message in messages:
            match message:
                case UserMessage(text=text):
                    for listed in _LISTED.findall(text):
                        for line in reversed(listed.splitlines()):
                            self._open(line.removeprefix("- "))
                case AssistantMessage(calls=calls):
                    paths |= {
                        call.call: str(call.arguments["path"])
                        for call in calls
                        if call.tool in _OPENED_BY and "path" in call.arguments
                    }
                case ToolMessage(call=call, is_error=False) if call in paths:
                    self._open(paths[call])
                case _:
                    pass

    def _open(self, path: str) -> None:
        self._files.pop(path, None)
        self._files[path] = None


def loaded_skills(messages: Iterable[Message], name_of: Callable[[str], str]) -> list[tuple[str, str]]:
    """Return name and text of the skills that ``messages`` hold, in their order: loaded, typed, carried over.

    ``name_of`` gives the name of the skill in a folder.
    """
    found: list[tuple[str, str]] = []
    for message in messages:
        match message:
            case ToolMessage(tool="skill", text=text, is_error=False):
                found += wrapped_in(text)
            case UserMessage(text=text) if text.startswith(SUMMARY_HEAD):
                found += reversed(wrapped_in(text, len(SUMMARY_HEAD)))  # the newest comes first there
            case UserMessage(text=text):
                typed = typed_in(text, name_of)
                found += [typed] if typed is not None else []
            case _:
                pass
    return found


def summary_head(skills: Iterable[str]) -> str:
    """Return what a message that takes the place of the history begins with: the texts of ``skills``, newest first."""
    return SUMMARY_HEAD + "\n".join(skills)


def is_summary(text: str) -> bool:
    """Tell whether the text of a message takes the place of a history."""
    return text.startswith(SUMMARY_HEAD)
