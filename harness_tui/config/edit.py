"""The only writer of configuration files.

A write is atomic, under a lock, refused when the file changed meanwhile or would become invalid, and keeps comments. A
change made here to a trusted project's own file stays trusted; any other change asks again.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, cast

from harness_tui.config.document import Document
from harness_tui.config.locking import locked
from harness_tui.config.places import Places
from harness_tui.config.project import Project
from harness_tui.config.trust import TrustStore
from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.limits import CONFIG_BYTES
from harness_tui.core.paths import digest, is_inside, make_private_folder, read_regular, write_atomic
from harness_tui.core.record import record
from harness_tui.core.values import Rule

_MISSING = object()


def file_digest(path: Path) -> str:
    """Return what names the present content of ``path``, for ``expected``; ``""`` when there is no such file."""
    return digest(data) if (data := _read(path)) is not None else ""


def set_value(
    path: Path,
    keys: tuple[str, ...],
    value: Any,
    *,
    places: Places,
    project: Project | None = None,
    expected: str | None = None,
) -> None:
    """Set ``keys`` of the configuration file ``path`` to ``value`` (JSON data); mappings on the way are created.

    ``expected`` is the :func:`file_digest` that the person was shown. Raises ``UsageError`` when the file would not
    be valid, ``HarnessError`` when it changed meanwhile, cannot be edited or cannot be written.
    """
    from harness_tui.config.rewrite import set_in_text

    change = partial(_set, keys=keys, value=value)
    _Edit(path, places, project, expected).apply(lambda text: set_in_text(text, keys, value), change)


def remove_value(
    path: Path, keys: tuple[str, ...], *, places: Places, project: Project | None = None, expected: str | None = None
) -> bool:
    """Remove ``keys`` from the file; return whether they were there. Raises as :func:`set_value`."""
    from harness_tui.config.rewrite import remove_in_text

    edit = _Edit(path, places, project, expected)
    found = _look_up(edit.values(), keys) is not _MISSING

    def change(data: Any) -> None:
        for key in keys[:-1]:
            data = data[key]
        del data[keys[-1]]

    if found:
        edit.apply(lambda text: remove_in_text(text, keys), change)
    return found


def append_rule(
    path: Path, rule: Rule, *, places: Places, project: Project | None = None, expected: str | None = None
) -> None:
    """Add ``rule`` at the end of the file's ``permission`` list. Raises as :func:`set_value`."""
    from harness_tui.config.rewrite import append_in_text

    item = {"permission": rule.permission, "pattern": rule.pattern, "action": rule.action}

    def change(data: Any) -> None:
        if data.get("permission") is None:
            data["permission"] = []
        data["permission"].append(dict(item))

    _Edit(path, places, project, expected).apply(lambda text: append_in_text(text, "permission", item), change)


@record
class SetValue:
    """A value to be set, mappings on the way created."""

    keys: tuple[str, ...]
    value: Any


@record
class RuleInsert:
    """A rule to be put into the ``permission`` list at ``index``, counted with those inserted before it."""

    index: int
    rule: Rule


Change: TypeAlias = SetValue | RuleInsert


@record
class Rewritten:
    """A file before and after its changes; ``before`` is ``None`` when there was none."""

    before: bytes | None
    after: bytes


def change_file(
    path: Path,
    changes: Sequence[Change],
    *,
    places: Places,
    project: Project | None = None,
    expected: str | None = None,
    backup: Path | None = None,
    write: bool = True,
) -> Rewritten:
    """Make several changes of one file in one write, and return what it was and is. Raises as :func:`set_value`.

    What was there is kept in ``backup`` first. Without ``write`` nothing is written, and only looked at what would be.
    """
    from harness_tui.config.rewrite import insert_in_text, set_in_text

    steps: list[tuple[Callable[[str], str | None], Callable[[Any], None]]] = []
    for change in changes:
        match change:
            case SetValue(keys=keys, value=value):
                steps.append((partial(set_in_text, keys=keys, value=value), partial(_set, keys=keys, value=value)))
            case RuleInsert(index=index, rule=rule):
                item = {"permission": rule.permission, "pattern": rule.pattern, "action": rule.action}
                quick = partial(insert_in_text, key="permission", index=index, item=item)
                steps.append((quick, partial(_insert, index=index, item=item)))
    return _Edit(path, places, project, expected).apply_all(steps, backup=backup, write=write)


def _set(data: Any, keys: tuple[str, ...], value: Any) -> None:
    for key in keys[:-1]:
        if not isinstance(data.get(key), dict):
            data[key] = {}
        data = data[key]
    data[keys[-1]] = copy.deepcopy(value)


def _insert(data: Any, index: int, item: dict[str, str]) -> None:
    if data.get("permission") is None:
        data["permission"] = []
    data["permission"].insert(index, dict(item))


class _Edit:
    """One change of one file."""

    def __init__(self, path: Path, places: Places, project: Project | None, expected: str | None) -> None:
        self._path = path
        self._target = path.resolve()  # a linked file stays a link
        self._places = places
        self._project = project
        self._expected = expected

    def values(self) -> Any:
        return _parse(_decode(_read(self._target) or b"", self._path), self._path).values

    def apply(self, quick: Callable[[str], str | None], change: Callable[[Any], None]) -> None:
        self.apply_all([(quick, change)])

    def apply_all(
        self,
        steps: Sequence[tuple[Callable[[str], str | None], Callable[[Any], None]]],
        *,
        backup: Path | None = None,
        write: bool = True,
    ) -> Rewritten:
        """Make changes, each on the text where that is possible, and write the outcome once."""
        lock = self._places.state / "locks" / f"config-{digest(str(self._target).encode())[:20]}.lock"
        with locked(lock) if write else nullcontext():
            data = _read(self._target)
            before = digest(data) if data is not None else ""
            if self._expected is not None and self._expected != before:
                raise self._changed()
            text = _decode(data or b"", self._path)
            lines = "\r\n" if "\r\n" in text and text.count("\n") == text.count("\r\n") else "\n"
            plain = text.replace("\r\n", "\n") if lines == "\r\n" else text
            old = _parse(plain, self._path)
            new = plain
            for quick, change in steps:
                new = self._step(new, quick, change)
            self._check(old, new)
            bom = b"\xef\xbb\xbf" if (data or b"").startswith(b"\xef\xbb\xbf") else b""
            result = Rewritten(data, bom + new.replace("\n", lines).encode())
            if not write:
                return result
            trusted = self._trusted()
            if file_digest(self._target) != before:
                raise self._changed()
            if backup is not None and data is not None:
                make_private_folder(backup.parent)
                write_atomic(backup, data, mode=0o600)
            self._write(result.after)
            if trusted and self._project is not None:
                TrustStore(self._places).update(self._project, self._path)
            return result

    def _step(self, text: str, quick: Callable[[str], str | None], change: Callable[[Any], None]) -> str:
        from harness_tui.config.rewrite import round_trip

        wanted = copy.deepcopy(_parse(text, self._path, strict=False).values)
        _change(wanted, change, self._path)
        new = quick(text)

        def accept(candidate: str) -> bool:
            document = _parse(candidate, self._path, strict=False)
            return not document.broken and document.values == wanted

        return new if new is not None and accept(new) else round_trip(text, change, accept)

    def _changed(self) -> HarnessError:
        mend = "look at it again and repeat the change"
        return HarnessError(
            "the file changed meanwhile; nothing was written", where=str(self._path), mend=mend, code="stale"
        )

    def _check(self, old: Document, new: str) -> None:
        from harness_tui.config.validation import validate_config

        document = _parse(new, self._path, strict=False)
        known = {problem.message for problem in validate_config(old).problems}
        for problem in validate_config(document).problems:
            if problem.level == "error" and problem.message not in known:
                raise UsageError(problem.message, where=problem.where, mend=problem.mend, code=problem.code)

    def _trusted(self) -> bool:
        project = self._project
        if project is None or not is_inside(self._path.absolute(), project.root):
            return False
        return TrustStore(self._places).status(project).trusted

    def _write(self, data: bytes) -> None:
        folder, exists = self._target.parent, self._target.exists()
        own = is_inside(self._target, self._places.config)
        try:
            if own:
                make_private_folder(folder)
            else:
                folder.mkdir(parents=True, exist_ok=True)
            write_atomic(self._target, data, mode=0o600 if own and not exists else None)
            if self._path.name == "config.local.yaml" and not exists:
                _ignore(folder / ".gitignore", self._path.name)
        except OSError as error:
            message = f"the file cannot be written: {error.strerror}"
            raise HarnessError(message, where=str(self._path), code="unwritable") from error


def _ignore(path: Path, name: str) -> None:
    """Keep a file that is one person's own out of git."""
    if not path.exists():
        write_atomic(path, f"{name}\n".encode())


def _read(path: Path) -> bytes | None:
    return read_regular(path, max_bytes=CONFIG_BYTES) if path.exists() else None


def _decode(data: bytes, path: Path) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise HarnessError(
            "the file is not UTF-8", where=str(path), mend="save it as UTF-8", code="not-utf8"
        ) from error


def _parse(text: str, path: Path, *, strict: bool = True) -> Document:
    from harness_tui.config.yaml_source import parse_yaml

    document = parse_yaml(text, path)
    if strict and (document.broken or not isinstance(document.values, dict)):
        problem = document.problems[-1] if document.problems else None
        where = problem.where if problem else str(path)
        message = problem.message if problem else "the file is not a mapping of settings"
        raise HarnessError(message, where=where, mend="mend the file by hand first", code="edit")
    return document


def _change(values: Any, change: Callable[[Any], None], path: Path) -> None:
    try:
        change(values)
    except (KeyError, TypeError, AttributeError) as error:
        mend = "mend the file by hand first"
        raise HarnessError("the file has another shape here", where=str(path), mend=mend, code="edit") from error


def _look_up(values: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        if not isinstance(values, dict) or key not in values:
            return _MISSING
        values = cast(dict[str, Any], values)[key]
    return values
