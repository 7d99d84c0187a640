"""``bash``: a command in a shell of its own, whose end is the end of the process and not of its pipes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Final

from harness_tui.children.lookup import find_shell
from harness_tui.children.unattended import UNATTENDED
from harness_tui.core.errors import HarnessError, ToolError
from harness_tui.core.event_parts import CommandPart, CommandPreview
from harness_tui.core.limits import BASH_TIMEOUT_S
from harness_tui.core.record import record
from harness_tui.core.seams import CallCancelled, Check, PreparedCall, ProcessSpawner, ToolContext, ToolResult
from harness_tui.tools.arguments import fail
from harness_tui.tools.builtin import BuiltinTool, title_of
from harness_tui.tools.job_results import HOW, cancelled_result, finished_result, whole_result
from harness_tui.tools.jobs import BLOCK, Job, Jobs
from harness_tui.tools.shell_output import CommandOutput, ProgressPieces
from harness_tui.tools.targets import find_target

_MAX_TIMEOUT_S: Final = 3_600.0
_AT_ONCE_S: Final = 0.3

INHERITED: Final = (
    "SSH_AUTH_SOCK",
    "JAVA_HOME",
    "GOPATH",
    "GOROOT",
    "GOBIN",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "NVM_DIR",
    "VOLTA_HOME",
    "PNPM_HOME",
    "BUN_INSTALL",
    "PYENV_ROOT",
    "CONDA_PREFIX",
    "CONDA_DEFAULT_ENV",
    "ANDROID_HOME",
    "GRADLE_USER_HOME",
    "DOCKER_HOST",
    "LD_LIBRARY_PATH",
    "PKG_CONFIG_PATH",
    "CC",
    "CXX",
)
"""Where tool chains are; none of them is a secret."""


def _is_text(command: str) -> bool:
    return "\0" not in command and not any("\ud800" <= character <= "\udfff" for character in command)


@record
class _Command:
    text: str
    workdir: Path
    timeout: float | None
    background: bool


class BashTool(BuiltinTool):
    """Runs a shell command without a terminal and without input."""

    name = "bash"
    description = (
        "Run a command with bash in the working folder. There is no input and no terminal; standard error is merged "
        "into the output. With background it goes on while you work: bash_output reads what it writes, bash_kill ends "
        "it. What a command leaves running can be read and ended in the same way, and ends with the session. For files "
        "use read, edit, write, list, glob and grep."
    )
    properties = {  # noqa: RUF012
        "command": {"type": "string", "description": "The command"},
        "timeout": {
            "type": "number",
            "description": "Seconds until it is ended, 120 by default (none in the background), 3600 at most",
        },
        "workdir": {"type": "string", "description": "Folder to run in, by default the working folder"},
        "description": {"type": "string", "description": "What it does, in a few words"},
        "background": {"type": "boolean", "description": "Do not wait for its end: for servers and watchers"},
    }
    required = ("command",)

    def __init__(self, spawner: ProcessSpawner, jobs: Jobs) -> None:
        super().__init__()
        self._spawner = spawner
        self._jobs = jobs

    async def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Check the command and its folder. Raises ``ToolError``."""
        checked = self.checked(arguments)
        command: str = checked["command"]
        if not command.strip() or not _is_text(command):
            raise fail(self.name, "the command is empty, or holds a NUL byte or half of a character")
        background: bool = checked.get("background", False)
        timeout: float | None = checked.get("timeout", None if background else BASH_TIMEOUT_S)
        if timeout is not None and not 0 < timeout <= _MAX_TIMEOUT_S:
            raise fail(self.name, f"timeout must be over 0 and at most {_MAX_TIMEOUT_S:.0f} seconds, got {timeout:g}")
        folder = find_target(self.name, checked.get("workdir", "."), context)
        if not folder.path.is_dir():
            raise ToolError("workdir is no folder", where=f"bash: {folder.name}", mend="name a folder that exists")
        checks = [Check("bash", command, folder=folder.path.as_posix())]
        if not folder.inside:
            checks.append(Check("external_directory", folder.path.as_posix()))
        return PreparedCall(
            title=title_of("Start" if background else "Run", command),
            checks=tuple(checks),
            preview=CommandPreview(command, (CommandPart(command, "ask"),), str(folder.path)),
            state=_Command(command, folder.path, timeout, background),
        )

    async def run(self, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        """Run it. Raises ``CallCancelled`` with what was written until then, when everything it started has ended."""
        command: _Command = prepared.state
        self._jobs.check_room(context.session)
        job = await self._start(command, context)
        if command.background:
            return await self._send_off(job, command, context)
        try:
            code = await job.exit_code(command.timeout)
            if not job.timed_out:
                await job.drain()
        except asyncio.CancelledError:
            await job.stop()
            raise CallCancelled(await cancelled_result(job)) from None
        finally:
            job.end_pieces()
        if not job.timed_out and (job.held or job.left):
            self._jobs.keep(context.session, job)
        return await finished_result(job, code, timeout=command.timeout)

    async def _start(self, command: _Command, context: ToolContext) -> Job:
        shell = find_shell(context.root)
        try:
            child = await self._spawner.spawn(
                [str(shell), "-c", command.text],
                owner="bash",
                cwd=command.workdir,
                env=UNATTENDED,
                inherit=INHERITED,
                stderr="stdout",
                stdout_limit=BLOCK,
                keep_left=True,
            )
        except HarnessError as error:
            raise ToolError(error.what, where=error.where, mend=error.mend, code=error.code) from error
        output = CommandOutput(context.session_dir / "outputs", context.call)
        return Job(command.text, child, output, ProgressPieces(context.call, context.emit))

    async def _send_off(self, job: Job, command: _Command, context: ToolContext) -> ToolResult:
        """Leave a command to itself; one that ends at once, because it cannot start, is told as finished."""
        self._jobs.keep(context.session, job)
        try:
            code = await asyncio.wait_for(job.child.wait(), _AT_ONCE_S)
            await job.drain()
        except TimeoutError:
            job.end_pieces()
            if command.timeout is not None:
                self._jobs.follow(job.exit_code(max(0.0, command.timeout - job.seconds)))
            note = f"[started in the background as {job.id}, process {job.child.pid}; {HOW.format(id=job.id)}]"
            return await whole_result(job, [note], metadata={"job": job.id, "pid": job.child.pid, "running": True})
        except asyncio.CancelledError:
            await job.stop()
            raise CallCancelled(await cancelled_result(job)) from None
        job.end_pieces()
        return await finished_result(job, code, timeout=command.timeout)
