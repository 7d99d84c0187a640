"""What a command of ``bash`` comes back as: its output within the limits, then notes on how it ended or stands."""

from __future__ import annotations

import shlex
import signal
from typing import Any, Final

from harness_tui.children.processes import command_of
from harness_tui.core.outputs import Limited
from harness_tui.core.seams import ToolResult
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.tools.jobs import Job

_SHOWN: Final = 5
_COMMAND_CHARS: Final = 80
HOW: Final = "bash_output {id} reads what it writes, bash_kill {id} ends it, and it ends with the session"


async def finished_result(job: Job, code: int | None, *, timeout: float | None) -> ToolResult:
    """Return the result of a command that has ended by itself, or whose time was over (``code`` is ``None``)."""
    notes = _of_no_output(job)
    metadata: dict[str, Any] = {
        "exit_code": None if code is None else _shown_code(code),
        "timed_out": code is None,
        "elapsed_ms": round(job.seconds * 1000),
    }
    if code is None:
        notes.append(f"[ended after {timeout:g} s, its time was over; give timeout for more]")
    elif job.left or job.held:
        notes.append(f"[{_what_is_left(job)}; {HOW.format(id=job.id)}]")
        metadata |= {"job": job.id, "left": list(job.left)}
    if code:
        notes.append(_ending(code))
    return await whole_result(job, notes, is_error=code != 0, metadata=metadata)


async def cancelled_result(job: Job) -> ToolResult:
    """Return the result of a command that the person stopped; it and all that it started have ended."""
    note = f"[cancelled by the person after {job.seconds:.1f} s; it was ended with all that it started]"
    metadata: dict[str, Any] = {"exit_code": None, "cancelled": True, "elapsed_ms": round(job.seconds * 1000)}
    return await whole_result(job, [*_of_no_output(job), note], is_error=True, metadata=metadata)


async def whole_result(job: Job, notes: list[str], *, is_error: bool = False, metadata: dict[str, Any]) -> ToolResult:
    """Return all output of a command so far, then ``notes``."""
    cut, job.told = await job.output.part(notes="\n".join(notes))
    if not job.running:
        job.output.close()
    return _result_of(cut, is_error=is_error, metadata=metadata)


async def job_result(job: Job, *, ended: bool = False) -> ToolResult:
    """Return what a job has written since the last time, and how it stands."""
    code = job.child.returncode
    notes = [] if job.output.size > job.told else ["(no new output)"]
    if ended:
        notes.append(f"[{job.id} was ended after {job.seconds:.1f} s]")
    elif job.timed_out:
        notes.append(f"[{job.id} was ended after {job.seconds:.1f} s, its time was over]")
    elif code is None:
        notes.append(f"[{job.id} runs, for {job.seconds:.1f} s so far]")
    else:
        notes.append(
            f"[{job.id} has ended after {job.seconds:.1f} s]" if not job.running else f"[{_what_is_left(job)}]"
        )
        notes.append(_ending(code) if code else "[exit code 0]")
    metadata = {"job": job.id, "running": job.running, "exit_code": None if code is None else _shown_code(code)}
    cut, job.told = await job.output.part(job.told, notes="\n".join(notes))
    return _result_of(cut, metadata=metadata)


def _result_of(cut: Limited, *, is_error: bool = False, metadata: dict[str, Any]) -> ToolResult:
    return ToolResult(
        cut.text,
        is_error=is_error,
        metadata=metadata,
        full_output=cut.path,
        full_bytes=cut.bytes if cut.path is not None else 0,
    )


def _of_no_output(job: Job) -> list[str]:
    return [] if job.output.size else ["(no output)"]


def _what_is_left(job: Job) -> str:
    if not job.left:
        return "the command has ended, something that it started still holds its output"
    shown = [f"{pid} ({cut_end(shlex.join(command_of(pid)) or 'ended', _COMMAND_CHARS)})" for pid in job.left[:_SHOWN]]
    more = f" and {len(job.left) - _SHOWN} more" if len(job.left) > _SHOWN else ""
    return f"the command has ended and left running: {clean_for_display(', '.join(shown), one_line=True)}{more}"


def _shown_code(code: int) -> int:
    return code if code >= 0 else 128 - code


def _ending(code: int) -> str:
    return f"[exit code {code}]" if code > 0 else f"[exit code {128 - code}: ended by {_signal_name(-code)}]"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
