"""Where Harness keeps its files: the XDG rule, on Linux and macOS alike.

Nothing is created here: who writes creates its folder with mode 0700 (``core.paths.make_private_folder``).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from harness_tui.core.errors import UsageError
from harness_tui.core.record import record

_NAME = "harness"


@record
class Places:
    """The four base folders, each with ``harness`` as its last part.

    ``home`` is where other tools keep the person's files; without it none of them are looked for.
    """

    config: Path
    data: Path
    state: Path
    cache: Path
    home: Path | None = None

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None) -> Places:
        """Return the places that ``environ`` (default: the process's) names.

        A relative ``XDG_*`` value counts as unset, as the XDG base directory specification says. Raises
        ``UsageError`` when there is no home folder to fall back on.
        """
        environ = os.environ if environ is None else environ
        home = environ.get("HOME") or os.path.expanduser("~")
        if not Path(home).is_absolute():
            raise UsageError("there is no home folder", where="HOME", mend="set HOME to an absolute path")

        def base(variable: str, *default: str) -> Path:
            value = environ.get(variable, "").strip()
            folder = Path(value) if value.startswith("/") else Path(home, *default)
            return folder / _NAME

        return cls(
            config=base("XDG_CONFIG_HOME", ".config"),
            data=base("XDG_DATA_HOME", ".local", "share"),
            state=base("XDG_STATE_HOME", ".local", "state"),
            cache=base("XDG_CACHE_HOME", ".cache"),
            home=Path(home),
        )

    @property
    def config_file(self) -> Path:
        """The person's own configuration."""
        return self.config / "config.yaml"

    @property
    def database(self) -> Path:
        """Every session's record."""
        return self.data / "harness.db"

    @property
    def sessions(self) -> Path:
        """One folder per session: large outputs, images, plans."""
        return self.data / "sessions"

    @property
    def blobs(self) -> Path:
        """Contents of files before and after a change, once each by their hash."""
        return self.data / "blobs"

    def session_dir(self, session: str) -> Path:
        """Return the folder of one session."""
        return self.sessions / session

    @property
    def approvals_file(self) -> Path:
        """Kept approvals of project and user scope."""
        return self.state / "approvals.json"

    @property
    def keys_file(self) -> Path:
        """Keys of model providers, or where they are kept; the person's alone."""
        return self.state / "keys.json"

    @property
    def audit_file(self) -> Path:
        """What was called, decided, blocked and authorised."""
        return self.state / "audit.jsonl"

    @property
    def logins_file(self) -> Path:
        """Logins of MCP servers; the person's alone."""
        return self.state / "mcp-logins.json"

    @property
    def favourites_file(self) -> Path:
        """The models that the person likes best."""
        return self.state / "favourites.json"

    @property
    def prompt_history_file(self) -> Path:
        """What was typed into prompts."""
        return self.state / "prompts.jsonl"

    @property
    def trust_file(self) -> Path:
        """Which folders are trusted, with what in them."""
        return self.state / "trust.json"

    @property
    def logs(self) -> Path:
        """Log files of the shell and of its servers."""
        return self.state / "logs"

    @property
    def ledger(self) -> Path:
        """Records of running child processes."""
        return self.state / "processes"

    @property
    def search_index(self) -> Path:
        """What ``sessions search`` reads; made anew when it is missing."""
        return self.cache / "search.db"

    @property
    def start_file(self) -> Path:
        """What the first frame needs before configuration is read."""
        return self.cache / "start.json"

    @property
    def manifests(self) -> Path:
        """What MCP servers offered when they last ran."""
        return self.cache / "mcp"

    @property
    def chosen_models(self) -> Path:
        """The best model of each provider, as its list was last seen."""
        return self.cache / "models.json"

    @property
    def validated(self) -> Path:
        """Validated configuration, one file per project."""
        return self.cache / "config"
