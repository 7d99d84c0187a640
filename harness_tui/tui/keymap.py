"""Keys and what they do: the names of actions, a person's own keys for them, and what is wrong with those.

An action's name is made from its binding, so that there is no second table: ``session('next_agent')`` is
``next-agent``, ``transcript_page(-1)`` is ``transcript-page-back``. A person's key takes the place of the keys of its
action, and counts wherever the action is meant, also in the prompt.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from textual.binding import Binding, BindingsMap, BindingType
from textual.widgets import TextArea

from harness_tui.tui.prompt.editor import MessageEditor
from harness_tui.tui.prompt.field import AID_KEYS, AID_TEXTS, Aid

if TYPE_CHECKING:
    from harness_tui.tui.app import HarnessApp

_BINDINGS: Final = "_bindings"  # Textual changes keys only of bindings with an id, and loses the rest of a clash
_KEY: Final = re.compile(r"(?:(?:ctrl|alt|shift|super)\+)*(?:[a-z0-9]|f[1-9]|f1[0-9]|f2[0-4]|[a-z_]{3,20})")
_PLAIN: Final = re.compile(r"(?:shift\+)?(?:[a-z0-9]|space)")
_TAKEN: Final = frozenset({"enter", "escape", "tab", "backspace", "delete", "up", "down", "left", "right", "ctrl+c"})
_WAYS: Final = {"-1": "-back", "1": "-on", "0": ""}


@dataclass(frozen=True, slots=True)
class KeyAction:
    """One action: its name in ``tui.keys``, the keys that count, what it does, and how the app is asked for it.

    ``binding`` is empty for what the prompt does alone.
    """

    name: str
    keys: tuple[str, ...]
    text: str
    binding: str = ""


def action_name(binding: str) -> str:
    """Return the name of a binding's action."""
    word, _, arguments = binding.partition("(")
    given = arguments.rstrip(")").strip("'\"")
    if given in _WAYS or not given:
        return word.replace("_", "-") + _WAYS.get(given, "")
    return given.replace("_", "-")


def actions(bindings: Iterable[BindingType]) -> list[KeyAction]:
    """Return every action of the app with a description, then those of the prompt, with the keys that they have."""
    described = [one for one in bindings if isinstance(one, Binding) and one.description]
    found = [KeyAction(action_name(one.action), _split(one.key), one.description, one.action) for one in described]
    return [*found, *(KeyAction(_aid_name(aid), _keys_of(aid), text) for aid, text in AID_TEXTS.items())]


def read_keys(
    given: Mapping[str, Any], known: Sequence[KeyAction]
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Return the keys of actions that a person set and that can count, and what is wrong, by the action's name.

    Where two want one key, the first has it. A key of another action goes to whoever asks for it, with a word.
    """
    names = {action.name for action in known}
    kept: dict[str, tuple[str, ...]] = {}
    wrong: dict[str, str] = {}
    owner: dict[str, str] = {}
    for name, value in given.items():
        if name not in names:
            close = difflib.get_close_matches(name, sorted(names), n=1, cutoff=0.6)
            wrong[name] = f"no such action{f'; did you mean {close[0]}?' if close else ''}"
            continue
        keys, problems = _read(value)
        for key in [key for key in keys if key in owner]:
            problems.append(f"{key} is the key of {owner[key]} already")
            keys.remove(key)
        owner.update(dict.fromkeys(keys, name))
        if keys or value == []:
            kept[name] = tuple(keys)
        if problems:
            wrong[name] = "; ".join(problems)
    editing = _editing_keys()
    for action in known:
        for key in action.keys if action.name not in kept else ():
            if (taker := owner.get(key)) is not None:
                _add(wrong, taker, f"{key} was the key of {action.name} and is no more")
    for key, name in owner.items():
        if key in editing:
            _add(wrong, name, f"{key} moves or edits in the prompt, and does not any more")
    return kept, wrong


def _read(value: Any) -> tuple[list[str], list[str]]:
    items = cast(list[Any], value) if isinstance(value, list) else str(value).split(",")
    keys: list[str] = []
    problems: list[str] = []
    for item in items:
        key = str(item).strip().lower()
        if not _KEY.fullmatch(key):
            problems.append(f"{key!r} is no key; write ctrl+k, alt+k, f9")
        elif _PLAIN.fullmatch(key):
            problems.append(f"{key} is a letter: nobody could write it any more")
        elif key in _TAKEN:
            problems.append(f"{key} cannot be given away")
        elif key not in keys:
            keys.append(key)
    return keys, problems


def _add(wrong: dict[str, str], name: str, text: str) -> None:
    wrong[name] = f"{wrong[name]}; {text}" if name in wrong else text


def _keys_of(aid: Aid) -> tuple[str, ...]:
    return tuple(key for key, one in AID_KEYS.items() if one == aid)


def _aid_name(aid: Aid) -> str:
    return aid.replace("_", "-")


def _split(keys: str) -> tuple[str, ...]:
    return tuple(key.strip() for key in keys.split(","))


def _editing_keys() -> set[str]:
    bindings = [one for one in (*TextArea.BINDINGS, *MessageEditor.BINDINGS) if isinstance(one, Binding)]
    passed_on = {key for one in bindings if one.action.startswith("app.") for key in one.key.split(",")}
    return {key.strip() for one in bindings for key in one.key.split(",")} - passed_on


class Keymap:
    """The keys of ``app`` that count."""

    def __init__(self, app: HarnessApp) -> None:
        self._app = app
        self._first: BindingsMap = getattr(app, _BINDINGS).copy()
        self._own: dict[str, tuple[str, ...]] = {}

    def use(self, given: Mapping[str, Any]) -> dict[str, str]:
        """Take a person's keys; return what is wrong with them, by the action's name."""
        known = actions(self._app.BINDINGS)
        self._own, wrong = read_keys(given, known)
        taken = {key for keys in self._own.values() for key in keys}
        changed = {action.binding: self._own[action.name] for action in known if action.name in self._own}
        bindings = self._first.copy()
        for key, ones in list(bindings.key_to_bindings.items()):
            left = [one for one in ones if one.action not in changed and key not in taken]
            if left:
                bindings.key_to_bindings[key] = left
            else:
                del bindings.key_to_bindings[key]
        for action in known:
            for key in changed.get(action.binding, ()) if action.binding else ():
                binding = Binding(key, action.binding, action.text, show=False, priority=True)
                bindings.key_to_bindings[key] = [binding]
        setattr(self._app, _BINDINGS, bindings)
        words = {binding.partition("(")[0] for binding in changed if binding} - {"suspend_process", "leave"}
        self._app.covered = {"find", "open", *words}
        aids: dict[str, Aid] = {}
        for aid in AID_TEXTS:
            own = self._own.get(_aid_name(aid))
            aids.update(dict.fromkeys(own if own is not None else set(_keys_of(aid)) - taken, aid))
        self._app.prompt.aid_keys = aids
        return wrong

    def actions(self) -> list[KeyAction]:
        """Return every action with the keys that count."""
        taken = {key for keys in self._own.values() for key in keys}
        return [
            KeyAction(
                one.name,
                self._own.get(one.name, tuple(key for key in one.keys if key not in taken)),
                one.text,
                one.binding,
            )
            for one in actions(self._app.BINDINGS)
        ]
