"""Installs the built wheel into an empty environment and lets it work: ``make check-drift-wheel``.

Needs the package index; so it is a gate of its own and no test.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUNDLED = ("commands", "skills", "protocol", "demo")


def run(argv: list[str | Path], **more: object) -> str:
    """Run a command that must succeed, and return what it printed."""
    done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, check=False, **more)  # type: ignore[call-overload]
    if done.returncode:
        sys.exit(f"{argv} ended with {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stdout


def compare_bundled(wheel: Path) -> None:
    """Compare every bundled file of the wheel with the checkout."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        for kind in BUNDLED:
            for name in run(["git", "ls-files", kind], cwd=ROOT).splitlines():
                inside = f"harness_tui/_bundled/{name}"
                if inside not in names:
                    sys.exit(f"{wheel.name} lacks {inside}: run make dist")
                if archive.read(inside) != (ROOT / name).read_bytes():
                    sys.exit(f"{wheel.name} holds another {inside}: run make dist")


def main() -> int:
    """Check the one wheel of the folder that is named."""
    (wheel,) = Path(sys.argv[1]).glob("*.whl")
    compare_bundled(wheel)
    with tempfile.TemporaryDirectory(prefix="harness-wheel-") as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=True)
        python = folder / "venv" / "bin" / "python"
        constraints = ROOT / "constraints.txt"
        quiet = ["install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "-c", constraints]
        run([python, "-m", "pip", *quiet, f"{wheel.resolve()}[demo]"])
        harness = folder / "venv" / "bin" / "harness"
        (folder / "home").mkdir()
        env = {"HOME": str(folder / "home"), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        print(run([harness, "--version"], cwd=folder / "home", env=env).strip())
        print(run([harness, "demo", "--headless"], cwd=folder / "home", env=env).strip())
        listed = run([harness, "commands", "list"], cwd=folder / "home", env=env)
        if "review" not in listed:
            sys.exit("the wheel does not list its own commands")
    print(f"{wheel.name} works in an empty environment")
    return 0


if __name__ == "__main__":
    sys.exit(main())
