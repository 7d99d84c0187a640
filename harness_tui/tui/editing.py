"""The person's own editor over the shell: the terminal is theirs until they have closed it."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, TypeVar

from textual.app import App, SuspendNotSupported

from harness_tui.core.errors import HarnessError

if TYPE_CHECKING:
    from typing import Any

    from harness_tui.tui.backend_library import LibraryFiles

T = TypeVar("T")


async def open_in_editor(app: App[Any], library: LibraryFiles, path: str, line: int | None = None) -> str:
    """Open ``path`` at ``line`` and wait until the editor is closed; return what went wrong, empty for nothing."""
    _, problem = await lend_screen(app, library.edit(path, line))
    return problem


async def lend_screen(app: App[Any], work: Coroutine[Any, Any, T]) -> tuple[T | None, str]:
    """Let ``work`` have the terminal; return what it gives, and what went wrong, empty for nothing."""
    result: T | None = None
    ended: BaseException | None = None
    try:
        with app.suspend():
            try:
                result = await work
            except BaseException as error:  # noqa: BLE001 - the library takes the screen again only where nothing is raised
                ended = error
    except SuspendNotSupported:
        work.close()
        return None, "no editor can be opened on this screen"
    app.refresh(layout=True)  # whatever the editor left on the screen goes
    match ended:
        case None:
            return result, ""
        case HarnessError():
            return None, str(ended)
        case _:
            raise ended
