"""The person's own editor over the shell: the terminal is theirs until they have closed it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import App, SuspendNotSupported

from harness_tui.core.errors import HarnessError

if TYPE_CHECKING:
    from typing import Any

    from harness_tui.tui.backend_library import LibraryFiles


async def open_in_editor(app: App[Any], library: LibraryFiles, path: str, line: int | None = None) -> str:
    """Open ``path`` at ``line`` and wait until the editor is closed; return what went wrong, empty for nothing."""
    ended: BaseException | None = None
    try:
        with app.suspend():
            try:
                await library.edit(path, line)
            except BaseException as error:  # noqa: BLE001 - the library takes the screen again only where nothing is raised
                ended = error
    except SuspendNotSupported:
        return "no editor can be opened on this screen"
    app.refresh(layout=True)  # whatever the editor left on the screen goes
    match ended:
        case None:
            return ""
        case HarnessError():
            return str(ended)
        case _:
            raise ended
