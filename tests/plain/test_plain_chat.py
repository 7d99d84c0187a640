"""The chat, line by line: messages, questions, commands, what is typed too early, how it ends."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from harness_tui.core.events import RunFinished
from harness_tui.core.text import clean_for_display
from harness_tui.plain.chat import Chat
from harness_tui.plain.terminal import Interrupted
from harness_tui.tui.run import Options
from harness_tui.workspace.front import create_backend

BASH = "tools: [{name: bash, arguments: {command: 'echo made > out.txt'}}]"


class FakeTerminal:
    """Types ``lines`` one after the other. A callable in their place is waited for, and may give a line."""

    def __init__(self, *lines: str | Callable[[], Awaitable[str | None]] | None, interactive: bool = False) -> None:
        self.interactive = interactive
        self.said: list[str] = []
        self.prompts: list[str] = []
        self._lines = list(lines)
        self._heard = 0

    def write(self, text: str) -> None:
        self.said += clean_for_display(text).split("\n")

    async def read_line(self, prompt: str) -> str | None:
        self.prompts.append(prompt)
        line = self._lines.pop(0) if self._lines else None
        return await line() if callable(line) else line

    async def use(self, backend: object) -> None:
        pass

    def remind(self, prompt: str) -> None:
        pass

    async def lend(self, work: Awaitable[Any]) -> Any:
        return await work

    def heard(self, text: str) -> Callable[[], Awaitable[str | None]]:
        """Return what waits until ``text`` was said and types nothing."""
        return self.after(text, "")

    def after(self, text: str, line: str | None) -> Callable[[], Awaitable[str | None]]:
        """Return what types ``line`` once ``text`` was said, after what was waited for before."""

        async def wait() -> str | None:
            async with asyncio.timeout(10):
                while (place := next((n for n in range(self._heard, len(self.said)) if text in self.said[n]), -1)) < 0:
                    await asyncio.sleep(0.01)
            self._heard = place + 1
            return line

        return wait


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in list(os.environ):
        if variable.startswith(("XDG_", "HARNESS_")):
            monkeypatch.delenv(variable)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    (root / "a.py").write_text("one\n")
    return root


async def chat(project: Path, script: str, terminal: FakeTerminal, **options: Any) -> RunFinished | None:
    (project / "s.yaml").write_text(script)
    backend = create_backend(project, Options(model=f"replay:{project}/s.yaml", **options))
    try:
        async with asyncio.timeout(30):
            return await Chat(backend, terminal, grace=0.0).run()
    finally:
        await backend.close()


async def test_what_is_piped_in_is_worked_off_line_by_line(project: Path) -> None:
    terminal = FakeTerminal("first @a.py", "", "second")
    end = await chat(project, 'turns: [{text: "One\\nand two"}, {text: last}]', terminal)
    said = terminal.said
    assert said[said.index("(attached: a.py)") :][:6] == [
        "(attached: a.py)",
        "One",
        "and two",
        "(done)",
        "last",
        "(done)",
    ]
    assert end is not None
    assert end.reason == "completed"


@pytest.mark.parametrize(("answer", "made"), [("1", True), ("no", False), ("use another file", False)])
async def test_a_call_is_allowed_by_its_number_or_refused_with_a_word(project: Path, answer: str, made: bool) -> None:
    terminal = FakeTerminal("go")

    async def number() -> str:
        (line,) = [line for line in terminal.said if line.endswith(f" {answer}")] or [f"  {answer}"]
        return line.split()[0] if answer == "no" else answer

    terminal._lines.append(number)
    await chat(project, f"turns: [{{text: x, {BASH}}}, {{text: after}}]", terminal)
    assert "permission needed: bash echo made, out.txt" in terminal.said
    assert "  1 allow once" in terminal.said
    assert (project / "out.txt").exists() is made
    assert ("after" in terminal.said) is (answer != "no")  # a no without a word ends the run


async def test_the_end_of_the_input_refuses_what_is_asked(project: Path) -> None:
    terminal = FakeTerminal("go")
    end = await chat(project, f"turns: [{{text: x, {BASH}}}, {{text: after}}]", terminal)
    assert not (project / "out.txt").exists()
    assert end is not None


async def test_a_question_is_answered_by_numbers(project: Path) -> None:
    question = "{id: q, text: Which?, options: [{label: red}, {label: blue}]}"
    script = f"turns: [{{tools: [{{name: question, arguments: {{questions: [{question}]}}}}]}}, {{text: thanks}}]"
    terminal = FakeTerminal("go", "2")
    await chat(project, script, terminal)
    assert "  2 blue" in terminal.said
    assert "thanks" in terminal.said


async def test_what_a_person_types_while_a_run_goes_on_waits_for_its_end(project: Path) -> None:
    flag = project / "go.flag"
    terminal = FakeTerminal(interactive=True)

    async def go() -> str:
        flag.write_text("")
        return ""

    terminal._lines = ["one", "two", terminal.heard("waiting"), go]
    terminal._lines.append(terminal.heard("answer two"))
    await chat(project, "turns: [{text: answer one, wait: go.flag}, {text: answer two}]", terminal)
    said = [line for line in terminal.said if line.startswith(("(1 waiting", "answer", "(now"))]
    assert said == ["(1 waiting, the last: two)", "answer one", "(now: two)", "answer two"]


async def test_ctrl_c_cancels_the_run_and_leaves_a_question(project: Path) -> None:
    terminal = FakeTerminal(interactive=True)

    def interrupted_at(text: str, requests: int = 0) -> Callable[[], Awaitable[str | None]]:
        async def interrupt() -> str | None:
            await terminal.heard(text)()
            async with asyncio.timeout(
                10
            ):  # a run that has asked the model for nothing yet takes no turn of the script
                while requests and (project / "log.jsonl").read_bytes().count(b"\n") < requests:
                    await asyncio.sleep(0.01)
            raise Interrupted

        return interrupt

    terminal._lines = ["go", interrupted_at("or what to do"), terminal.after("(refused)", "again"), "later"]
    terminal._lines += [interrupted_at("(1 waiting", requests=2), terminal.after("1-3, empty", "1")]
    terminal._lines += [terminal.heard("(end of script)"), interrupted_at("(done)")]
    script = f"log: log.jsonl\nturns: [{{text: x, {BASH}}}, {{text: late, wait: never.flag}}]"
    await chat(project, script, terminal)
    assert not (project / "out.txt").exists()
    assert "late" not in terminal.said
    assert any("Ctrl+D" in line for line in terminal.said[3:])


async def test_a_line_that_was_typed_before_the_question_is_no_answer(project: Path) -> None:
    (project / "s.yaml").write_text(f"turns: [{{text: x, {BASH}}}, {{text: after}}]")
    terminal = FakeTerminal(interactive=True)
    terminal._lines = ["go", terminal.after("permission needed", "1"), terminal.heard("came too soon")]
    backend = create_backend(project, Options(model=f"replay:{project}/s.yaml"))
    try:
        await Chat(backend, terminal, grace=60.0).run()
    finally:
        await backend.close()
    assert not (project / "out.txt").exists()


async def test_own_commands_list_with_numbers_and_say_what_needs_the_screen(project: Path) -> None:
    terminal = FakeTerminal(
        "/mode", "9", "2", "/theme", "/quit now", "/agent plan", "/quti", "/help", "/export md", "/quit"
    )
    await chat(project, "turns: []", terminal)
    said = terminal.said
    assert "  2 accept-edits: Edits inside the project are allowed" in said
    assert "there is no 9" in said
    assert "(mode accept-edits)" in said
    assert any("/theme works in the full screen only" in line for line in said)
    assert any("/quit takes nothing behind it" in line for line in said)
    assert any("agent plan" in line for line in said)
    assert any("unknown command /quti; did you mean /quit?" in line for line in said)
    assert any(line.startswith("/undo") for line in said)
    assert len(list(project.glob("harness-*.md"))) == 1


async def test_leaving_does_not_wait_for_another_line(project: Path) -> None:
    terminal = FakeTerminal("/quit", asyncio.Event().wait, interactive=True)  # type: ignore[arg-type]
    await chat(project, "turns: []", terminal)
    assert terminal.prompts[0] == "> "


async def test_a_session_is_gone_on_with(project: Path) -> None:
    await chat(project, "turns: [{text: the first answer}]", FakeTerminal("hello"))
    terminal = FakeTerminal("more", "/resume", "1")
    await chat(project, "turns: [{text: the second}]", terminal, continue_latest=True)
    assert "the first answer" in terminal.said
    assert "the second" in terminal.said
    assert any(line.startswith("  1 hello, ") for line in terminal.said)


async def test_tools_calls_and_the_shell_work_by_hand(project: Path) -> None:
    terminal = FakeTerminal("!seq 1 20", '/call read {"path": "a.py"}', "/call read nonsense")
    await chat(project, "turns: []", terminal)
    assert "(8 lines before, not shown)" in terminal.said
    assert "  20" in terminal.said
    assert "[read] Read a.py" in terminal.said
    assert any("no JSON" in line for line in terminal.said)


async def test_hostile_text_reaches_the_terminal_without_its_escapes(project: Path) -> None:
    terminal = FakeTerminal("go")
    raw: list[str] = []
    write = terminal.write
    terminal.write = lambda text: (raw.append(clean_for_display(text)), write(text))[1]  # type: ignore[method-assign]
    await chat(project, 'turns: [{text: "a\\e[2Jb\\e]52;c;x\\ac\\u202ed"}]', terminal)
    assert "abcd" in terminal.said


async def test_a_folder_is_trusted_by_a_number(project: Path) -> None:
    (project / ".harness").mkdir()
    (project / ".harness/config.yaml").write_text("mcp:\n  x: {command: [nothing-here]}\n")
    terminal = FakeTerminal(interactive=True)
    terminal._lines = [terminal.after("1-2, empty", "2"), "/trust", terminal.after("1-2, empty", "1")]
    terminal._lines += [terminal.heard("(trusted)")]
    await chat(project, "turns: []", terminal)
    assert any("nothing-here" in line for line in terminal.said)
    assert "(trusted)" in terminal.said
