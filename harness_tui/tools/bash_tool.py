"""``bash``: a command in a shell of its own, whose end is the end of the process and not of its pipes."""

from __future__ import annotations

import asyncio
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from harness_tui.children.lookup import find_binary
from harness_tui.core.errors import HarnessError, ToolError
from harness_tui.core.events import CommandPart, CommandPreview
from harness_tui.core.limits import BASH_DRAIN_S, BASH_TIMEOUT_S
from harness_tui.core.seams import Check, Child, PreparedCall, ProcessSpawner, ToolContext, ToolResult
from harness_tui.tools.arguments import fail
from harness_tui.tools.builtin import BuiltinTool, title_of
from harness_tui.tools.outputs import limited_result
from harness_tui.tools.shell_output import KeptOutput, ProgressPieces
from harness_tui.tools.targets import find_target

_BLOCK: Final = 64 * 1024
_MAX_TIMEOUT_S: Final = 3_600.0
_AFTER_STOP_S: Final = 0.5
_FLOOD_PAUSE_S: Final = 0.001

QUIET: Final = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "MANPAGER": "cat",
    "GIT_PAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "GH_PAGER": "cat",
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_MERGE_AUTOEDIT": "no",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "SUDO_ASKPASS": "",
    "GCM_INTERACTIVE": "never",
    "GH_PROMPT_DISABLED": "1",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
}
"""Nobody is there to page, to edit or to type a password: programs that would wait for one go on or fail at once."""

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


@dataclass(frozen=True, slots=True)
class _Command:
    text: str
    workdir: Path
    timeout: float


@dataclass(frozen=True, slots=True)
class _Ended:
    """How a command ended: ``code`` is ``None`` when its time was over; ``held``: something kept the output open."""

    code: int | None
    held: bool
    seconds: float


class BashTool(BuiltinTool):
    """Runs a shell command without a terminal and without input."""

    name = "bash"
    description = (
        "Run a command with bash in the working folder. There is no input and no terminal; standard error is merged "
        "into the output. Processes that are left in the background are ended with the command. For files use read, "
        "edit, write, list, glob and grep."
    )
    properties = {  # noqa: RUF012
        "command": {"type": "string", "description": "The command"},
        "timeout": {"type": "number", "description": "Seconds until it is ended, 120 by default, 3600 at most"},
        "workdir": {"type": "string", "description": "Folder to run in, by default the working folder"},
        "description": {"type": "string", "description": "What it does, in a few words"},
    }
    required = ("command",)

    def __init__(self, spawner: ProcessSpawner) -> None:
        super().__init__()
        self._spawner = spawner

    async def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Check the command and its folder. Raises ``ToolError``."""
        checked = self.checked(arguments)
        command: str = checked["command"]
        if not command.strip() or "\0" in command:
            raise fail(self.name, "the command is empty or holds a NUL byte")
        timeout = float(checked.get("timeout", BASH_TIMEOUT_S))
        if not 0 < timeout <= _MAX_TIMEOUT_S:
            raise fail(self.name, f"timeout must be over 0 and at most {_MAX_TIMEOUT_S:.0f} seconds, got {timeout:g}")
        folder = find_target(self.name, checked.get("workdir", "."), context)
        if not folder.path.is_dir():
            raise ToolError("workdir is no folder", where=f"bash: {folder.name}", mend="name a folder that exists")
        checks = [Check("bash", command)]
        if not folder.inside:
            checks.append(Check("external_directory", folder.path.as_posix()))
        return PreparedCall(
            title=title_of("Run", command),
            checks=tuple(checks),
            preview=CommandPreview(command, (CommandPart(command, "ask"),), str(folder.path)),
            state=_Command(command, folder.path, timeout),
        )

    async def run(self, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        """Run it. A cancel ends everything that it started; what was written until then was told as progress."""
        command: _Command = prepared.state
        shell = find_binary("bash") or find_binary("sh") or Path("/bin/sh")
        started = time.monotonic()
        try:
            child = await self._spawner.spawn(
                [str(shell), "-c", command.text],
                owner="bash",
                cwd=command.workdir,
                env=QUIET,
                inherit=INHERITED,
                stderr="stdout",
                stdout_limit=_BLOCK,
            )
        except HarnessError as error:
            raise ToolError(error.what, where=error.where, mend=error.mend, code=error.code) from error
        output, pieces = KeptOutput(), ProgressPieces(context.call, context.emit)
        reader = asyncio.create_task(_read(child, output, pieces), name=f"output of {context.call}")
        try:
            code = await _exit_code(child, command.timeout)
            held = await _drain(child, reader)
        except asyncio.CancelledError:
            await child.stop()
            await asyncio.wait({reader}, timeout=_AFTER_STOP_S)  # what was still in the pipe is told as well
            raise
        finally:
            reader.cancel()
            await asyncio.wait({reader})
            pieces.flush()
        return await _result(command, output, _Ended(code, held, time.monotonic() - started), context)


async def _read(child: Child, output: KeptOutput, pieces: ProgressPieces) -> None:
    assert child.stdout is not None
    while data := await child.stdout.read(_BLOCK):
        output.add(data)
        pieces.add(data)
        if output.dropped:  # a flood that nobody will see whole leaves the loop some air
            await asyncio.sleep(_FLOOD_PAUSE_S)


async def _exit_code(child: Child, timeout: float) -> int | None:
    try:
        async with asyncio.timeout(timeout):
            return await child.wait()
    except TimeoutError:
        await child.stop()
        return None


async def _drain(child: Child, reader: asyncio.Task[None]) -> bool:
    """Wait for the rest of the output, for a moment; tell whether something still held it open."""
    done, _ = await asyncio.wait({reader}, timeout=BASH_DRAIN_S)
    if done:
        return False
    await child.stop()
    await asyncio.wait({reader}, timeout=_AFTER_STOP_S)
    return True


async def _result(command: _Command, output: KeptOutput, ended: _Ended, context: ToolContext) -> ToolResult:
    text = output.text()
    notes: list[str] = []
    if not text:
        notes.append("(no output)")
    if ended.held:
        notes.append("[the command left processes behind that held its output; they were ended]")
    code = ended.code
    if code is None:
        notes.append(f"[ended after {command.timeout:g} s, its time was over; give timeout for more]")
    elif code < 0:
        notes.append(f"[exit code {128 - code}: ended by {_signal_name(-code)}]")
    elif code:
        notes.append(f"[exit code {code}]")
    metadata: dict[str, Any] = {
        "exit_code": None if code is None else code if code >= 0 else 128 - code,
        "timed_out": code is None,
        "elapsed_ms": round(ended.seconds * 1000),
    }
    return await limited_result(text, context, notes="\n".join(notes), is_error=code != 0, metadata=metadata)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
