"""Makes shell texts for some minutes, runs every one that is allowed, and prints what it found: ``make fuzz``.

    python tests/permissions/shell_fuzz.py [MINUTES] [SEED]

Ends with 1 and prints the text when one that was allowed did something that no rule allows.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from shell_grammar import shell_text
from shell_recorders import Ran, Recorders, rule

ALLOWED = (
    "echo *",
    "cat *",
    "printf *",
    "git status *",
    "git diff *",
    "ls *",
    "wc *",
    "true",
    "[ *",
    "test *",
    "cd *",
    "set *",
    "unset *",
    "read *",
    "export *",
    "trap *",
    "touch *",
    "tee *",
    "cp *",
    "mkdir *",
    "find *",
)
"""Patterns of commands that are allowed."""

EDITS = ("out/*",)
"""Patterns of files that may be written."""

RECORDED = ("cat", "git status", "git diff", "ls", "wc", "touch", "tee", "cp", "mkdir")
"""What programs may be recorded with: builtins leave no record."""


def fuzzed_recorders(base: Path) -> Recorders:
    """Return recorders by the rules of this module in the empty folder ``base``."""
    rules = (*map(rule, ALLOWED), *(rule(pattern, "edit") for pattern in EDITS))
    recorders = Recorders(base, rules)
    (recorders.root / ".env").write_text("SECRET=1\n")
    (recorders.root / "link").symlink_to(base.resolve() / "home")
    (base / "a").write_text("")
    (base / "home/x").write_text("")
    recorders.remember_files()
    return recorders


LEAST = 10_000


def breach(ran: Ran) -> str | None:
    """Return what ``ran`` did that no rule allows."""
    for command in ran.commands:
        if not any(command == allowed or command.startswith(f"{allowed} ") for allowed in RECORDED):
            return f"it ran {command!r}"
    written = [name for name in ran.files if not name.startswith("project/out/")]
    if written:
        return f"it wrote {', '.join(written)}"
    return f"it reached {', '.join(ran.outside)}" if ran.outside else None


def main(minutes: float, seed: int) -> int:
    """Fuzz for ``minutes``, and until 10,000 texts were decided; return the exit code."""
    counts: Counter[str] = Counter()
    slowest = 0.0
    started = shown = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        recorders = fuzzed_recorders(Path(folder))
        while time.monotonic() - started < minutes * 60 or counts["texts"] < min(LEAST, minutes * LEAST):
            text = shell_text(random.Random(f"{seed}:{counts['texts']}"))
            before = time.thread_time()
            action = recorders.decide(text).action
            slowest = max(slowest, time.thread_time() - before)
            counts["texts"] += 1
            counts[action] += 1
            if action == "allow":
                ran = recorders.run(text, 2.0)
                counts["programs"] += len(ran.commands)
                counts["ended by force"] += not ran.ended
                if found := breach(ran):
                    print(f"allowed, and {found}: {text!r} (seed {seed}, text {counts['texts'] - 1})")
                    return 1
            if time.monotonic() - shown > 30:
                shown = time.monotonic()
                print(_line(counts, slowest), flush=True)
    print(_line(counts, slowest))
    share = counts["allow"] / max(1, counts["texts"])
    if share < 0.2:
        print(f"only {share:.0%} of the texts were allowed: the grammar proves too little")
        return 1
    return 0


def _line(counts: Counter[str], slowest: float) -> str:
    known = ", ".join(f"{counts[name]:,} {name}" for name in ("texts", "allow", "ask", "programs", "ended by force"))
    return f"{known}; allowed {counts['allow'] / max(1, counts['texts']):.0%}; slowest {slowest * 1000:.0f} ms"


if __name__ == "__main__":
    given = sys.argv[1:]
    sys.exit(main(float(given[0]) if given else 10.0, int(given[1]) if len(given) > 1 else random.randrange(10**6)))
