"""What a workspace reads from files before anything starts. Blocks: call it in a thread."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from harness_tui.config.bundled import bundled
from harness_tui.config.loader import Loaded, load
from harness_tui.config.places import Places
from harness_tui.config.project import Project
from harness_tui.config.trust import TrustStore
from harness_tui.core.errors import HarnessError
from harness_tui.core.paths import make_private_folder
from harness_tui.core.record import record
from harness_tui.core.seams import ProcessSpawner
from harness_tui.library.library import Library
from harness_tui.models.registry import ModelRegistry
from harness_tui.permissions.approvals import Approvals
from harness_tui.permissions.gate import Gate
from harness_tui.workspace.options import OpenOptions


@record
class ReadParts:
    """What was read from files, before anything starts."""

    loaded: Loaded
    library: Library
    gate: Gate
    models: ModelRegistry


def read_parts(
    project: Project,
    places: Places,
    options: OpenOptions,
    trust: TrustStore,
    approvals: Approvals,
    spawner: ProcessSpawner,
) -> ReadParts:
    """Read configuration, trust, commands and skills. Raises ``UsageError`` for what was asked for and is not there.

    ``spawner`` starts the processes of local models.
    """
    _make_place(places.data, "XDG_DATA_HOME")
    _make_place(places.state, "XDG_STATE_HOME")
    loaded = load(project, places, options.flags, options.environ, trust)
    settings = loaded.settings
    home = Path(options.environ.get("HOME") or Path.home())
    gate = Gate(settings.rules, approvals, root=project.root, cwd=project.start, home=home)
    library = Library(
        project,
        places,
        trusted=loaded.trust.usable,
        environ=options.environ,
        bundled_commands=bundled("commands"),
        bundled_skills=bundled("skills"),
        covers=partial(trust.covers, project),
    )
    library.refresh()
    models = ModelRegistry(
        settings, project_start=project.start, environ=options.environ, places=places, spawner=spawner
    )
    return ReadParts(loaded, library, gate, models)


def _make_place(folder: Path, variable: str) -> None:
    try:
        make_private_folder(folder)
    except OSError as error:
        text = f"the folder cannot be made: {error.strerror or error}"
        raise HarnessError(text, where=str(folder), mend=f"set {variable} to a folder that can be written") from error
