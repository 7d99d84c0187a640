"""Speed and memory as ratios within one run: ``make bench``.

Each row is a figure of Harness beside a floor that is measured in the same run, in turn. Prints figure, floor, ratio,
budget and verdict. Exit code 1 when a budget is missed, or when a screen did not show what was measured.

    python benchmarks/bench.py [--runs N] [--only BENCH] [--json FILE] [--markdown FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import rows_children
import rows_files
import rows_library
import rows_long
import rows_servers
import rows_session
import rows_start
import rows_tools
from table import HEADER, Bench, Row, as_markdown
from watched import ScreenError

BENCHES: dict[str, Bench] = {
    "version": rows_start.version,
    "start": rows_start.start,
    "run": rows_start.run,
    "idle": rows_start.idle,
    "guard": rows_children.guard,
    "long": rows_long.long,
    "stream": rows_session.stream,
    "library": rows_library.library,
    "files": rows_files.files,
    "mcp": rows_servers.mcp,
    "large": rows_servers.large,
    "sizes": rows_servers.sizes,
    "starts": rows_servers.starts,
    "tools": rows_tools.tools,
    "lsp": rows_servers.lsp,
    "session": rows_session.session,
}
"""In the order in which they run; the longest last."""


def main(arguments: Sequence[str] | None = None, benches: Mapping[str, Bench] = BENCHES) -> int:
    """Run the benches and print the table; return the exit code."""
    parser = argparse.ArgumentParser(description="Speed and memory as ratios within one run.")
    parser.add_argument("--runs", type=int, default=7, help="how often a short measure is taken (7)")
    parser.add_argument("--only", action="append", choices=list(benches), help="only this bench; may be repeated")
    parser.add_argument("--json", type=Path, help="write the rows to this file as well")
    parser.add_argument("--markdown", type=Path, help="write the table to this file as well")
    options = parser.parse_args(arguments)
    if options.runs < 1:
        parser.error("--runs must be at least 1")
    print(f"load at start {os.getloadavg()[0]:.1f}; medians of {options.runs} runs, taken in turn")
    print(HEADER)
    rows: list[Row] = []
    broken: dict[str, str] = {}
    for name, bench in benches.items():
        if options.only and name not in options.only:
            continue
        try:
            for row in bench(options.runs):
                rows.append(row)
                print(row, flush=True)
        except (ScreenError, OSError, subprocess.SubprocessError) as error:
            broken[name] = str(error)
            print(f"{name}: not measured: {error}", flush=True)
    if options.json:
        options.json.write_text(json.dumps([row.as_data() for row in rows], indent=2) + "\n")
    if options.markdown:
        options.markdown.write_text(as_markdown(rows))
    missed = [row.budget.name for row in rows if not row.holds]
    print(f"load at end {os.getloadavg()[0]:.1f}; {len(rows) - len(missed)} hold, {len(missed)} missed")
    for title, names in (("missed", missed), ("not measured", list(broken))):
        if names:
            print(f"{title}: {', '.join(names)}")
    return 1 if missed or broken else 0


if __name__ == "__main__":
    sys.exit(main())
