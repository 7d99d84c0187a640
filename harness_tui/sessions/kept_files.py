"""What is kept beside a session's record: whole outputs that were cut, what servers sent, a plan; its way into copies.

The record names these files by their paths, which lie in the folder of the session. A copy has a folder of its own: the
files go there, and the paths in its record lead there, so that it needs nothing of what it was copied from.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, cast

from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.limits import MIB
from harness_tui.core.paths import make_private_folder, read_regular
from harness_tui.core.record import record
from harness_tui.core.redaction import redact

CARRIED_BYTES: Final = 16 * MIB
"""A larger file is not carried by a document; the copy holds a line in its place that says so."""

CARRIED_IN_ALL: Final = 128 * MIB
"""So much do all files of a document have together."""

_NAME: Final = re.compile(r"(?:(?:outputs|images)/[A-Za-z0-9_-][A-Za-z0-9_.-]{0,200}|plan\.md)")


@record
class KeptFile:
    """A file of a document: its name below the session's folder, and its bytes; ``None``: only ``size`` is known."""

    name: str
    data: bytes | None
    size: int


def named_in(text: str, folder: Path) -> set[str]:
    """Return the names of kept files in ``folder`` that ``text`` mentions by their path."""
    return set(re.findall(re.escape(f"{folder}/") + f"({_NAME.pattern})", text))


def moved(data: Any, old: str, new: str) -> Any:
    """Return JSON data with paths that lead into the folder ``old`` leading into ``new``."""
    if isinstance(data, str):
        return data.replace(f"{old}/", f"{new}/")
    if isinstance(data, dict):
        return {key: moved(value, old, new) for key, value in cast(dict[str, Any], data).items()}
    if isinstance(data, list):
        return [moved(value, old, new) for value in cast(list[Any], data)]
    return data


def copy_files(names: Iterable[str], source: Path, target: Path) -> None:
    """Give ``target`` these files of ``source``, with shared bytes where the file system can. Raises ``HarnessError``.

    One that is not there any more is left out. They are written once, so that what is shared never changes.
    """
    try:
        for name in sorted(names):
            path = target / name
            make_private_folder(path.parent)
            with contextlib.suppress(FileNotFoundError):
                if not stat.S_ISREG((source / name).lstat().st_mode):
                    continue
                if name == "plan.md":  # written again with the next plan, and so never shared
                    shutil.copyfile(source / name, path)
                    path.chmod(0o600)
                    continue
                try:
                    os.link(source / name, path)
                except FileNotFoundError:
                    raise
                except OSError:  # another file system, or one without hard links
                    shutil.copyfile(source / name, path)
                    path.chmod(0o600)
    except OSError as error:
        raise _unkept(error, target) from error


def files_of(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the kept files as a document holds them: ``path`` and ``bytes``, and ``text`` or ``base64``.

    Secrets are taken out of texts. One that is too large has neither.
    """
    room = CARRIED_IN_ALL
    for path in sorted([*folder.glob("outputs/*"), *folder.glob("images/*"), folder / "plan.md"]):
        name = path.relative_to(folder).as_posix()
        try:
            status = path.lstat()
            if not stat.S_ISREG(status.st_mode) or not _NAME.fullmatch(name):
                continue
            row: dict[str, Any] = {"path": name, "bytes": status.st_size}
            if status.st_size <= min(CARRIED_BYTES, room):
                data = read_regular(path, max_bytes=CARRIED_BYTES)
                room -= len(data)
                row |= _content(data)
        except (OSError, HarnessError):  # it goes while we look
            continue
        yield row


def _content(data: bytes) -> dict[str, str]:
    try:
        return {"text": redact(data.decode("utf-8"))}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def read_files(items: list[Any]) -> list[KeptFile]:
    """Read the files of a document. Raises ``UsageError`` for a name that leads elsewhere, or a wrong content."""
    found: dict[str, KeptFile] = {}
    for index, item in enumerate(items):
        where = f"files[{index}]"
        row = cast(dict[str, Any], item) if isinstance(item, dict) else {}
        name, size = row.get("path"), row.get("bytes")
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name in found:
            raise UsageError(f"{name!r} is not the name of a kept file", where=where, mend="outputs/..., images/...")
        try:
            found[name] = KeptFile(name, _data(row), size if isinstance(size, int) and size >= 0 else 0)
        except (TypeError, AttributeError, UnicodeEncodeError, binascii.Error) as error:
            raise UsageError(f"the content cannot be read: {error}", where=where) from error
    return list(found.values())


def _data(row: dict[str, Any]) -> bytes | None:
    if row.get("text") is not None:
        return redact(row["text"]).encode("utf-8")
    return base64.b64decode(row["base64"], validate=True) if row.get("base64") is not None else None


def write_files(files: Iterable[KeptFile], folder: Path) -> None:
    """Write the files of a document into the session's folder, which is new. Raises ``HarnessError``."""
    try:
        for file in files:
            path = folder / file.name
            make_private_folder(path.parent)
            data = file.data
            if data is None:
                data = f"[the {file.size} bytes of this file were too many for the document]\n".encode()
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "wb") as target:
                target.write(data)
    except OSError as error:
        raise _unkept(error, folder) from error


def _unkept(error: OSError, folder: Path) -> HarnessError:
    return HarnessError(
        f"what is kept beside the session cannot be copied: {error.strerror or error}",
        where=str(folder),
        mend="free some space, and make the folder writable",
    )
