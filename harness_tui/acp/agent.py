"""The agent's side of the protocol: each request of an editor, on sessions of ours."""

from __future__ import annotations

import asyncio
import contextlib
import os
from dataclasses import replace
from typing import Any, cast

import acp
from acp import schema

from harness_tui._version import __version__
from harness_tui.acp.buffers import EditorBuffers
from harness_tui.acp.session import EditorSession, folder_of
from harness_tui.acp.transport import StdioTransport
from harness_tui.config.loader import Flags
from harness_tui.config.rules import MODES
from harness_tui.config.settings import McpServerSettings
from harness_tui.core.errors import HarnessError
from harness_tui.models.offline import NAME as OFFLINE
from harness_tui.workspace.workspace import OpenOptions, Workspace

_ABOUT = {
    "ask": ("Ask", "Edits and commands are asked for"),
    "accept-edits": ("Accept edits", "Edits inside the project are allowed"),
    "plan": ("Plan", "Nothing is edited; a plan is made"),
}
_SETTLE_S = 0.05


class HarnessAgent:
    """Satisfies the stable part of ``acp.Agent``.

    Each session has a workspace of its own: editors give each its folder and its servers.
    """

    def __init__(self, flags: Flags) -> None:
        self._flags = flags
        self._client: Any = None
        self._sessions: dict[str, EditorSession] = {}
        self._telling: set[asyncio.Task[None]] = set()
        self._reads_buffers = False

    def on_connect(self, conn: Any) -> None:
        """Take the other side."""
        self._client = conn

    async def close(self) -> None:
        """End every session."""
        for task in self._telling:
            task.cancel()
        for session in tuple(self._sessions.values()):
            await session.close()
        self._sessions.clear()

    # --- requests ------------------------------------------------------------------------------------

    async def initialize(
        self, protocol_version: int, client_capabilities: Any = None, client_info: Any = None, **kwargs: Any
    ) -> schema.InitializeResponse:
        """Say what this agent can do."""
        files = getattr(client_capabilities, "fs", None)
        self._reads_buffers = bool(getattr(files, "read_text_file", False))
        return schema.InitializeResponse(
            protocol_version=min(protocol_version, acp.PROTOCOL_VERSION) or acp.PROTOCOL_VERSION,
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                prompt_capabilities=schema.PromptCapabilities(image=True, audio=False, embedded_context=True),
                mcp_capabilities=schema.McpCapabilities(http=True, sse=False),
                session_capabilities=schema.SessionCapabilities(list=schema.SessionListCapabilities()),
            ),
            agent_info=schema.Implementation(name="harness", title="Harness", version=__version__),
        )

    async def authenticate(self, method_id: str, **kwargs: Any) -> None:
        """Nothing has to be authenticated here: keys of models are the person's configuration."""
        return

    async def new_session(
        self, cwd: str, additional_directories: Any = None, mcp_servers: Any = None, **kwargs: Any
    ) -> schema.NewSessionResponse:
        """Open a project and a new session in it."""
        session = await self._open(cwd, mcp_servers or [], None)
        return schema.NewSessionResponse(session_id=session.id, modes=_modes(session))

    async def load_session(
        self, cwd: str, session_id: str, mcp_servers: Any = None, additional_directories: Any = None, **kwargs: Any
    ) -> schema.LoadSessionResponse:
        """Open a recorded session and send what it holds."""
        present = self._sessions.pop(session_id, None)
        if present is not None:
            await present.close()
        session = await self._open(cwd, mcp_servers or [], session_id)
        return schema.LoadSessionResponse(modes=_modes(session))

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **kwargs: Any
    ) -> schema.ListSessionsResponse:
        """List recorded sessions, those of a folder's project or all."""
        from harness_tui.acp.listing import recorded

        return schema.ListSessionsResponse(sessions=await asyncio.to_thread(recorded, cwd))

    async def prompt(self, session_id: str, prompt: list[Any], **kwargs: Any) -> schema.PromptResponse:
        """Work on a message."""
        return await self._session(session_id).prompt(prompt)

    async def cancel(self, session_id: str, **kwargs: Any) -> None:
        """Cancel what goes on; an unknown session has nothing going on."""
        session = self._sessions.get(session_id)
        if session is not None:
            await session.cancel()

    async def set_session_mode(self, session_id: str, mode_id: str, **kwargs: Any) -> schema.SetSessionModeResponse:
        """Change what is asked."""
        if mode_id not in MODES:
            raise acp.RequestError.invalid_params({"message": f"there is no mode {mode_id!r}; {', '.join(MODES)}"})
        await self._session(session_id).set_mode(mode_id)
        return schema.SetSessionModeResponse()

    async def close_session(self, session_id: str, **kwargs: Any) -> schema.CloseSessionResponse:
        """End a session."""
        session = self._sessions.pop(session_id, None)
        if session is not None:
            await session.close()
        return schema.CloseSessionResponse()

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """There are no methods beside the protocol's."""
        raise acp.RequestError.method_not_found(method)

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """Let it go."""

    # --- parts ---------------------------------------------------------------------------------------

    def _session(self, session_id: str) -> EditorSession:
        session = self._sessions.get(session_id)
        if session is None:
            raise acp.RequestError.invalid_params({"message": f"the session {session_id!r} is not open"})
        return session

    async def _open(self, cwd: str, servers: list[Any], session_id: str | None) -> EditorSession:
        folder = folder_of(cwd)
        options = OpenOptions(flags=self._flags, policy="person", headless=False, mcp=_servers(servers))
        try:
            workspace = await Workspace.open(folder, options)
        except HarnessError as error:
            raise _request_error(error) from error
        try:
            if await workspace.choose_model() is None:
                workspace.use_model(OFFLINE)
            buffers = self._buffers(workspace)
            live = await (workspace.new_session() if session_id is None else workspace.resume(session_id))
            session = EditorSession(self._client, workspace, live)
            if buffers is not None:
                buffers.session = session.id
            await session.begin()
            if session_id is not None:
                await session.replay()
        except HarnessError as error:
            await workspace.close()
            raise _request_error(error) from error
        except BaseException:
            await workspace.close()
            raise
        self._sessions[session.id] = session
        # Editors know a session only once they have read the answer to their request.
        task = asyncio.create_task(self._tell_commands(session), name="acp commands")
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)
        return session

    def _buffers(self, workspace: Workspace) -> EditorBuffers | None:
        """Let the tools of files look at what the editor has not saved, where it can say so."""
        if not self._reads_buffers:
            return None
        parts = workspace.parts
        files = next(source for source in parts.sources if any(tool.spec.name == "read" for tool in source.tools()))
        buffers = EditorBuffers(self._client, files)
        workspace.use_parts(replace(parts, sources=(buffers, *parts.sources)))
        return buffers

    async def _tell_commands(self, session: EditorSession) -> None:
        await asyncio.sleep(_SETTLE_S)
        library = session.workspace.library
        commands = [
            schema.AvailableCommand(
                name=command.name,
                description=command.description or command.name,
                input=schema.AvailableCommandInput(root=schema.UnstructuredCommandInput(hint=command.argument_hint))
                if command.argument_hint
                else None,
            )
            for command in library.commands()
            if command.trusted and not command.hidden
        ]
        update = schema.AvailableCommandsUpdate(session_update="available_commands_update", available_commands=commands)
        with contextlib.suppress(ConnectionError, OSError, RuntimeError):
            await self._client.session_update(session_id=session.id, update=update)


def _modes(session: EditorSession) -> schema.SessionModeState:
    modes = [schema.SessionMode(id=mode, name=_ABOUT[mode][0], description=_ABOUT[mode][1]) for mode in MODES]
    return schema.SessionModeState(current_mode_id=session.live.choice.mode, available_modes=modes)


def _servers(servers: list[Any]) -> dict[str, McpServerSettings]:
    """Return the MCP servers that an editor gives along; they are the person's, who set them up there."""
    found: dict[str, McpServerSettings] = {}
    for server in servers:
        name = "".join(char if char.isalnum() or char in "_-" else "_" for char in str(server.name))[:64] or "server"
        command = getattr(server, "command", None)
        if command is not None:
            env = {item.name: item.value for item in server.env or ()}
            argv = (str(command), *(str(word) for word in server.args or ()))
            found[name] = McpServerSettings(name, command=argv, env=env, source="the editor", lazy=False)
        elif getattr(server, "type", None) == "http":
            headers = {item.name: item.value for item in server.headers or ()}
            found[name] = McpServerSettings(
                name, url=server.url, transport="http", headers=headers, source="the editor", lazy=False
            )
    return found


def _request_error(error: HarnessError) -> acp.RequestError:
    return acp.RequestError(-32602, error.placed, {"code": error.code, "mend": error.mend})


async def serve(flags: Flags) -> int:
    """Serve one editor on standard input and output, until the input ends."""
    agent = HarnessAgent(flags)
    try:
        await acp.run_agent(cast(acp.Agent, agent), StdioTransport())
    finally:
        await agent.close()
    return os.EX_OK
