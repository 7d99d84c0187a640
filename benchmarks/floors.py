"""The loopback model that feeds the product and its floors, and the floor programs of a session."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from measure import HERE
from watched import ScreenError


@dataclass
class Model:
    """A running model server. ``log`` tells when it wrote which answer, on the clock of ``time.perf_counter``."""

    url: str
    log: Path
    _seen: dict[tuple[str, str], float] = field(default_factory=dict)
    _at: int = 0

    @property
    def configuration(self) -> str:
        """The product's configuration for it."""
        return self.as_provider("openai-compatible")

    def as_provider(self, kind: str) -> str:
        """The product's configuration for it as a provider of another ``kind``."""
        return (
            "model: bench/scripted\n"
            f'providers:\n  bench: {{kind: {kind}, base_url: "{self.url}", models: {{scripted: {{}}}}}}\n'
        )

    def floor(self, view: str) -> list[str]:
        """The floor program that shows its answers; ``view`` is ``lines`` or ``static``."""
        return [sys.executable, str(HERE / "floor_session.py"), self.url, view]

    def when(self, event: str, mark: str) -> float | None:
        """Return when ``first`` or ``last`` of the answer ``mark`` was written, ``None`` before that."""
        if (event, mark) not in self._seen and self.log.exists():
            with self.log.open() as lines:
                lines.seek(self._at)
                while (line := lines.readline()).endswith("\n"):
                    self._at = lines.tell()
                    row = json.loads(line)
                    self._seen[row["event"], row["mark"]] = row["at"]
        return self._seen.get((event, mark))


@contextmanager
def model_server(folder: Path) -> Iterator[Model]:
    """Run the model server, in a process of its own, for the block."""
    log = folder / "model.jsonl"
    argv = [sys.executable, str(HERE / "model_server.py"), str(log)]
    server = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().strip() if server.stdout is not None else ""
        if not url:
            raise ScreenError("the model server of the bench did not start")
        yield Model(url, log)
    finally:
        server.terminate()
        server.communicate(timeout=5)


def wait_for(model: Model, event: str, mark: str, timeout: float) -> float:
    """Sleep until the model has written it. Raises ``ScreenError`` when it was not asked."""
    end = time.perf_counter() + timeout
    while (at := model.when(event, mark)) is None:
        if time.perf_counter() > end:
            raise ScreenError(f"the model did not come to {event} of {mark} within {timeout:g} s")
        time.sleep(0.01)
    return at
