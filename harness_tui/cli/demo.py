"""The tour: a scratch project in a temporary folder, trusted, with its own configuration and sessions.

Everything in it is real but the model, which plays a script.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from harness_tui.config.bundled import bundled
from harness_tui.core.record import record

MESSAGE = "/round-total apples 2"

_CONFIG = """\
# The warehouse is a small MCP server; the printer is broken on purpose.
mcp:
  warehouse: {{command: [{python}, {server}]}}
  printer: {{command: [{python}, {broken}]}}
"""


@record
class Scene:
    """The scratch project and the script that its model plays."""

    project: Path
    script: Path


@contextmanager
def scene(*, answers: bool, within: Path | None = None) -> Generator[Scene]:
    """Lay out the scratch project, and take it away at the end.

    This process's XDG folders point into the scratch folder meanwhile, so that the tour leaves no trace in the person's
    own configuration, trust and sessions. Without ``answers`` the script leaves approvals to the person. ``within`` is
    the folder that the scratch folder is made in, the system's own for such things without it.
    """
    with tempfile.TemporaryDirectory(prefix="harness-demo-", dir=within) as name:
        folder = Path(name).resolve()
        kept = {key: os.environ.get(key) for key in _XDG}
        os.environ.update({key: str(folder / part) for key, part in _XDG.items()})
        try:
            yield _lay_out(folder, answers=answers)
        finally:
            for key, value in kept.items():
                if value is None:
                    os.environ.pop(key, None)
                else:
                    os.environ[key] = value


_XDG = {
    "XDG_CONFIG_HOME": "config",
    "XDG_DATA_HOME": "data",
    "XDG_STATE_HOME": "state",
    "XDG_CACHE_HOME": "cache",
}


def _lay_out(folder: Path, *, answers: bool) -> Scene:
    import json

    source = bundled("demo")
    project = folder / "corner-shop"
    shutil.copytree(source / "project", project)
    values = {
        "python": json.dumps(sys.executable),
        "server": json.dumps(str(source / "server.py")),
        "broken": json.dumps(str(source / "broken_server.py")),
    }
    (project / ".harness" / "config.yaml").write_text(_CONFIG.format(**values), encoding="utf-8")
    script = folder / "script.yaml"
    text = (source / "script.yaml").read_text(encoding="utf-8")
    script.write_text(text if answers else text.partition("\nanswers:")[0] + "\n", encoding="utf-8")
    _trust(project)
    return Scene(project, script)


def _trust(project: Path) -> None:
    from harness_tui.config.places import Places
    from harness_tui.config.project import find_project
    from harness_tui.config.trust import TrustStore

    TrustStore(Places.from_environment()).grant(find_project(project))
