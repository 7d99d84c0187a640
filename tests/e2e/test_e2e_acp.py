"""``harness acp`` with the protocol package's own client, as a real child process."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import acp
import pytest
from acp import schema
from e2e_home import BIN, Home, request_log

pytestmark = pytest.mark.e2e

WAIT_S = 60


class Editor:
    """A client that notes what it is sent, and answers permissions by ``choose``."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.asked: list[tuple[Any, list[Any]]] = []
        self.choose: Any = lambda options: options[0].option_id
        self.seen = asyncio.Event()
        self.unsaved: dict[str, str] = {}

    async def read_text_file(self, session_id: str, path: str, **kwargs: Any) -> schema.ReadTextFileResponse:
        held = self.unsaved.get(path)
        return schema.ReadTextFileResponse(content=Path(path).read_text() if held is None else held)

    def on_connect(self, conn: Any) -> None:
        """The other side is not needed: the test holds it."""

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        self.updates.append(update)
        self.seen.set()

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[Any], **kwargs: Any
    ) -> schema.RequestPermissionResponse:
        self.asked.append((tool_call, options))
        self.seen.set()
        chosen = self.choose(options)
        if asyncio.iscoroutine(chosen):
            chosen = await chosen
        outcome: Any = (
            schema.DeniedOutcome(outcome="cancelled")
            if chosen is None
            else schema.AllowedOutcome(outcome="selected", option_id=chosen)
        )
        return schema.RequestPermissionResponse(outcome=outcome)

    async def until(self, condition: Any) -> None:
        async with asyncio.timeout(WAIT_S):
            while not condition():
                self.seen.clear()
                await self.seen.wait()

    def of(self, kind: str) -> list[Any]:
        return [update for update in self.updates if update.session_update == kind]

    @property
    def text(self) -> str:
        return "".join(update.content.text for update in self.of("agent_message_chunk"))


@contextlib.asynccontextmanager
async def editor_of(home: Home, *arguments: str, files: bool = False) -> AsyncIterator[tuple[Editor, Any, Any]]:
    editor = Editor()
    able = schema.ClientCapabilities(fs=schema.FileSystemCapabilities(read_text_file=files))
    async with acp.spawn_agent_process(
        editor, str(BIN / "harness"), "acp", *arguments, env=home.environ(), cwd=home.project
    ) as (agent, process):
        hello = agent.initialize(protocol_version=acp.PROTOCOL_VERSION, client_capabilities=able)
        ready = await asyncio.wait_for(hello, WAIT_S)
        assert ready.agent_info is not None
        assert (ready.protocol_version, ready.agent_info.name) == (acp.PROTOCOL_VERSION, "harness")
        assert ready.agent_capabilities is not None
        assert ready.agent_capabilities.load_session is True
        yield editor, agent, process


async def said(agent: Any, session: str, text: str) -> Any:
    return await asyncio.wait_for(agent.prompt(session_id=session, prompt=[acp.text_block(text)]), WAIT_S)


def edit_project(home: Home) -> None:
    home.write("notes.txt", "alpha\nbeta\n")
    home.write(
        "play.yaml",
        """
        log: requests.jsonl
        turns:
          - {text: "I look.", reasoning: "hm", tools: [{name: read, arguments: {path: notes.txt}}]}
          - tools: [{name: edit, arguments: {path: notes.txt, old: beta, new: gamma}}]
          - text: Done it.
          - text: Hello again.
        """,
    )


async def test_a_prompt_streams_text_and_calls_and_asks_with_the_diff(home: Home) -> None:
    edit_project(home)
    async with editor_of(home, "--model", "replay:play.yaml") as (editor, agent, _):
        opened = await agent.new_session(cwd=str(home.project), mcp_servers=[])
        assert [mode.id for mode in opened.modes.available_modes] == ["ask", "accept-edits", "plan"]
        end = await said(agent, opened.session_id, "swap it")
        assert end.stop_reason == "end_turn"
        assert editor.text == "I look.Done it."
        assert "".join(update.content.text for update in editor.of("agent_thought_chunk")).startswith("hm")
        read, edited = editor.of("tool_call")
        assert (read.kind, edited.kind, edited.status) == ("read", "edit", "pending")
        assert read.locations[0].path == str(home.project / "notes.txt")
        ((asked, options),) = editor.asked
        assert asked.tool_call_id == edited.tool_call_id
        assert [option.kind for option in options][0 :: len(options) - 1] == ["allow_once", "reject_once"]
        (shown,) = asked.content
        assert (shown.type, shown.path) == ("diff", str(home.project / "notes.txt"))
        assert (shown.old_text, shown.new_text) == ("alpha\nbeta\n", "alpha\ngamma\n")
        last = editor.of("tool_call_update")[-1]
        assert (last.tool_call_id, last.status) == (edited.tool_call_id, "completed")
        assert (last.content[0].old_text, last.content[0].new_text) == ("alpha\nbeta\n", "alpha\ngamma\n")
        assert (home.project / "notes.txt").read_text() == "alpha\ngamma\n"
        await editor.until(lambda: editor.of("available_commands_update"))
    home.assert_nothing_left()


@pytest.mark.parametrize("answer", ["deny", None])
async def test_a_no_leaves_the_file_and_ends_the_turn(home: Home, answer: str | None) -> None:
    edit_project(home)
    async with editor_of(home, "--model", "replay:play.yaml") as (editor, agent, _):
        editor.choose = lambda options: answer
        opened = await agent.new_session(cwd=str(home.project), mcp_servers=[])
        end = await said(agent, opened.session_id, "swap it")
        assert end.stop_reason == "end_turn"
        assert editor.of("tool_call_update")[-1].status == "failed"
        assert (home.project / "notes.txt").read_text() == "alpha\nbeta\n"


async def test_an_offer_that_is_taken_is_not_asked_again(home: Home) -> None:
    home.write("a.txt", "1\n")
    home.write(
        "play.yaml",
        """
        turns:
          - {tools: [{name: write, arguments: {path: b.txt, content: "1"}}]}
          - {tools: [{name: edit, arguments: {path: b.txt, old: "1", new: "2"}}]}
          - {text: Done.}
        """,
    )
    async with editor_of(home, "--model", "replay:play.yaml") as (editor, agent, _):
        editor.choose = lambda options: next(option.option_id for option in options if option.kind == "allow_always")
        opened = await agent.new_session(cwd=str(home.project), mcp_servers=[])
        assert (await said(agent, opened.session_id, "go")).stop_reason == "end_turn"
        assert len(editor.asked) == 1
        ((asked, _),) = editor.asked
        assert (asked.content[0].old_text, asked.content[0].new_text) == (None, "1\n")
        assert (home.project / "b.txt").read_text() == "2"


async def test_what_a_subagent_asks_is_asked_in_the_editor_under_a_call_of_its_own(home: Home) -> None:
    home.user_config("agents: {worker: {description: w, mode: subagent}}\n")
    home.write(
        "play.yaml",
        """
        turns:
          - {tools: [{name: task, arguments: {agent: worker, prompt: do it}}]}
          - {text: Done.}
        agents:
          worker: [{tools: [{name: bash, arguments: {command: touch made.txt}}]}, {text: made}]
        """,
    )
    async with editor_of(home, "--model", "replay:play.yaml") as (editor, agent, _):
        opened = await agent.new_session(cwd=str(home.project), mcp_servers=[])
        assert (await said(agent, opened.session_id, "go")).stop_reason == "end_turn"
        ((asked, _),) = editor.asked
        (started,) = editor.of("tool_call")
        assert (started.tool_call_id, asked.title) == ("c1", "Run touch made.txt")
        assert asked.tool_call_id.endswith("/c1")  # the subagent counts its calls from one too
        steps = [
            update.content[0].content.text
            for update in editor.of("tool_call_update")
            if update.tool_call_id == "c1" and update.status == "in_progress" and update.content
        ]
        assert steps == ["… Run touch made.txt", "✓ Run touch made.txt"]
        assert (home.project / "made.txt").exists()


async def test_text_that_is_not_saved_is_read_and_its_file_is_left_alone(home: Home) -> None:
    path = home.write("notes.txt", "alpha\n")
    home.write(
        "play.yaml",
        """
        log: requests.jsonl
        turns:
          - {tools: [{name: read, arguments: {path: notes.txt}}]}
          - {tools: [{name: edit, arguments: {path: notes.txt, old: alpha, new: gamma}}]}
          - {text: Wait.}
          - {tools: [{name: read, arguments: {path: notes.txt}}]}
          - {tools: [{name: edit, arguments: {path: notes.txt, old: beta, new: gamma}}]}
          - {text: Done.}
        """,
    )
    async with editor_of(home, "--model", "replay:play.yaml", files=True) as (editor, agent, _):
        opened = await agent.new_session(cwd=str(home.project), mcp_servers=[])
        editor.unsaved[str(path)] = "alpha\nbeta\n"
        await said(agent, opened.session_id, "look")
        assert (path.read_text(), editor.asked) == ("alpha\n", [])
        path.write_text("alpha\nbeta\n")  # the person saves it
        await said(agent, opened.session_id, "now")
        assert path.read_text() == "alpha\ngamma\n"
    results = [entry["messages"][-1] for entry in request_log(home.project / "requests.jsonl")]
    read, edited = results[1]["text"], results[2]
    assert read.splitlines()[:2] == ["     1\talpha", "     2\tbeta"]
    assert "not saved" in read
    assert edited["is_error"] is True
    assert "ask the person to save it" in edited["text"]


async def test_a_cancel_ends_the_turn_while_it_streams_and_while_it_asks(home: Home) -> None:
    home.write(
        "play.yaml",
        """
        turns:
          - {text: half an answer, wait: never.flag}
          - {tools: [{name: bash, arguments: {command: "touch made"}}]}
          - {text: Later.}
        """,
    )
    async with editor_of(home, "--model", "replay:play.yaml") as (editor, agent, _):
        session = (await agent.new_session(cwd=str(home.project), mcp_servers=[])).session_id
        first = asyncio.create_task(said(agent, session, "one"))
        await asyncio.sleep(0.2)
        await agent.cancel(session_id=session)
        while not first.done():  # a cancel before the run has begun has nothing to cancel
            await agent.cancel(session_id=session)
            await asyncio.wait([first], timeout=0.5)
        assert (await first).stop_reason == "cancelled"
        never = asyncio.Event()
        editor.choose = lambda options: never.wait()
        second = asyncio.create_task(said(agent, session, "two"))
        await editor.until(lambda: editor.asked)
        with pytest.raises(acp.RequestError, match="Invalid request"):
            await said(agent, session, "three")
        await agent.cancel(session_id=session)
        assert (await asyncio.wait_for(second, WAIT_S)).stop_reason == "cancelled"
        assert not (home.project / "made").exists()
        assert (await said(agent, session, "four")).stop_reason == "end_turn"


async def test_a_session_is_listed_and_loaded_with_what_was_said(home: Home) -> None:
    edit_project(home)
    async with editor_of(home, "--model", "replay:play.yaml") as (editor, agent, _):
        session = (await agent.new_session(cwd=str(home.project), mcp_servers=[])).session_id
        await said(agent, session, "swap it")
    async with editor_of(home, "--model", "replay:play.yaml") as (editor, agent, _):
        (listed,) = (await agent.list_sessions(cwd=str(home.project))).sessions
        assert (listed.session_id, listed.title, listed.cwd) == (session, "swap it", str(home.project))
        await agent.load_session(cwd=str(home.project), session_id=session, mcp_servers=[])
        assert [update.content.text for update in editor.of("user_message_chunk")] == ["swap it"]
        assert editor.text == "I look.Done it."
        assert [call.kind for call in editor.of("tool_call")] == ["read", "edit"]
        assert editor.of("tool_call_update")[-1].content[0].new_text == "alpha\ngamma\n"
        await agent.set_session_mode(session_id=session, mode_id="plan")
        await editor.until(lambda: editor.of("current_mode_update"))
        assert (await said(agent, session, "and now")).stop_reason == "end_turn"
    sent = request_log(home.project / "requests.jsonl")[3]["messages"]
    assert [message["role"] for message in sent][-2:] == ["assistant", "user"]
    assert [message["text"] for message in sent if message["role"] == "user"] == ["swap it", "and now"]


async def test_wrong_requests_are_answered_with_errors_and_the_agent_lives_on(home: Home) -> None:
    home.write("play.yaml", "log: requests.jsonl\nturns: [{text: Fine.}]\n")
    async with editor_of(home, "--model", "replay:play.yaml") as (_, agent, _):
        with pytest.raises(acp.RequestError):
            await agent.new_session(cwd="relative", mcp_servers=[])
        with pytest.raises(acp.RequestError):
            await agent.load_session(cwd=str(home.project), session_id="ses_unknown", mcp_servers=[])
        with pytest.raises(acp.RequestError):
            await said(agent, "ses_unknown", "x")
        await agent.cancel(session_id="ses_unknown")
        session = (await agent.new_session(cwd=str(home.project), mcp_servers=[])).session_id
        with pytest.raises(acp.RequestError):
            await agent.set_session_mode(session_id=session, mode_id="yolo")
        with pytest.raises(acp.RequestError):
            await said(agent, session, "  ")
        with pytest.raises(acp.RequestError, match="refused"):
            await said(agent, session, "/nosuchcommand")
        embedded = acp.resource_block(acp.embedded_text_resource("file:///tmp/a%20b.txt", "inside", mime_type="text/x"))
        link = acp.resource_link_block("notes", "file:///tmp/notes.txt")
        image = acp.image_block("iVBORw0KGgo=", "image/png")
        await agent.prompt(session_id=session, prompt=[acp.text_block("see"), link, embedded, image])
    (request,) = request_log(home.project / "requests.jsonl")
    (message,) = request["messages"]
    assert message["text"].startswith("see\n[notes](/tmp/notes.txt)")
    assert [(item["kind"], item["mime"]) for item in message["attachments"]] == [
        ("text", "text/x"),
        ("image", "image/png"),
    ]


async def test_servers_that_the_editor_names_are_used(home: Home) -> None:
    home.write(
        "play.yaml",
        """
        turns:
          - tools: [{name: time_get_current_time, arguments: {timezone: UTC}}]
          - text: There.
        """,
    )
    server = schema.McpServerStdio(
        name="time", command=str(Path(sys.executable).parent / "mcp-server-time"), args=[], env=[]
    )
    async with editor_of(home, "--model", "replay:play.yaml") as (editor, agent, _):
        session = (await agent.new_session(cwd=str(home.project), mcp_servers=[server])).session_id
        assert (await said(agent, session, "time?")).stop_reason == "end_turn"
        last = editor.of("tool_call_update")[-1]
        assert last.status == "completed"
        assert '"timezone": "UTC"' in last.content[0].content.text
    home.assert_nothing_left()


def test_garbage_on_standard_input_does_not_end_the_agent(home: Home) -> None:
    first = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}
    process = home.popen("acp", stdin=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    odd = [
        "not json",
        "[]",
        "{}",
        "7",
        '{"method": 7}',
        '{"id": 9, "result": {}}',
        '{"jsonrpc": "2.0", "id": 2, "method": "x"}',
    ]
    process.stdin.write("\n".join(odd) + "\n" + json.dumps(first) + "\n")
    process.stdin.flush()
    answers = [json.loads(process.stdout.readline()) for _ in range(2)]
    assert {answer["id"]: sorted(answer) for answer in answers} == {
        1: ["id", "jsonrpc", "result"],
        2: ["error", "id", "jsonrpc"],
    }
    _, error = process.communicate(timeout=60)
    assert process.returncode == 0, error
