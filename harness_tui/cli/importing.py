"""What ``harness config import`` tells: what went where, what stays, what is not carried over, what is left to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness_tui.cli.common import print_line
from harness_tui.core.paths import short
from harness_tui.core.redaction import redact

if TYPE_CHECKING:
    from harness_tui.config.migration.findings import Left
    from harness_tui.config.migration.importing import FileImport, Report


def report_json(report: Report, *, written: bool, stored: list[str]) -> dict[str, Any]:
    """Return the report as one object; ``written`` is false for a dry run, ``stored`` are keys that were kept."""
    return {
        "tool": report.tool,
        "written": written,
        "read": [str(path) for path in report.read],
        "files": [_file_json(file, written) for file in report.files if file.changed or file.merge.conflicts],
        "left": [_left_json(item) for item in report.left],
        "notes": [_left_json(item) for item in report.notes],
        "secrets": [{"variable": item.variable, "where": item.where, "what": item.what} for item in report.secrets],
        "stored_keys": stored,
        "needs_trust": report.needs_trust,
    }


def _file_json(file: FileImport, written: bool) -> dict[str, Any]:
    return {
        "path": str(file.path),
        "imported": [
            {"where": item.where, "what": redact(item.what), "as": redact(item.why)} for item in file.merge.taken
        ],
        "already_there": file.merge.same,
        "conflicts": [_left_json(item) for item in file.merge.conflicts],
        "agents": [str(agent.path) for agent in file.agents],
        "diff": file.diff,
        "backup": str(file.backup) if file.backup is not None and written else None,
    }


def _left_json(item: Left) -> dict[str, Any]:
    return {"where": item.where, "what": redact(item.what), "why": item.why}


def print_report(report: Report, *, written: bool, stored: list[str]) -> None:
    """Print the report for a person."""
    if not report.read:
        print_line(f"There are no settings of {report.tool} here.")
        return
    for file in report.files:
        _print_file(file, written)
    if not report.changed:
        print_line("There is nothing new to import.")
    _print_items("Not carried over:", report.left)
    _print_items("Good to know:", report.notes)
    if report.secrets:
        print_line("\nThese stood there in clear text and were not copied. Set the variables in your environment:")
        for item in report.secrets:
            print_line(f"  {item.variable}  ({item.what}, {_place(item.where)})")
    for name in stored:
        print_line(f"The key of {name} is kept now: harness auth list")
    if report.needs_trust and written:
        print_line("\nWhat is the project's counts once the folder is trusted: harness trust")


def _print_file(file: FileImport, written: bool) -> None:
    if not file.changed and not file.merge.conflicts:
        return
    print_line(f"\n{short(file.path)}" if written else f"\n{short(file.path)} (not written)")
    for item in file.merge.taken:
        print_line(f"  + {redact(item.why)}  ({redact(item.what)}, {_place(item.where)})")
    if file.merge.same:
        print_line(f"  {file.merge.same} already there")
    for item in file.merge.conflicts:
        print_line(f"  ! {redact(item.what)}: {item.why}  ({_place(item.where)})")
    if file.backup is not None and written:
        print_line(f"  as it was: {short(file.backup)}")
    if not written and file.diff:
        print_line(f"\n{file.diff.rstrip()}")


def _print_items(title: str, items: list[Left]) -> None:
    if items:
        print_line(f"\n{title}")
        for item in items:
            print_line(f"  {_place(item.where)}: {redact(item.what)}: {item.why}")


def _place(where: str) -> str:
    return short(where)
