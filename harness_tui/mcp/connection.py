"""One connection to one server: the only place that drives the SDK's client.

The client must be entered and left in the same task, so one task owns it and works off a queue of commands; calls run
in the tasks of their callers. Imports the SDK: ``sdk.load`` gets it in a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast

import httpx2
from mcp import Client, MCPError
from mcp.client.session import ClientRequestContext
from mcp.client.subscriptions import SubscriptionLost
from mcp_types import (
    INVALID_REQUEST,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestParams,
    ElicitRequestURLParams,
    ElicitResult,
    ErrorData,
    Implementation,
    ListRootsResult,
    PromptListChangedNotification,
    ResourceListChangedNotification,
    ResourceUpdatedNotification,
    Root,
    ToolListChangedNotification,
)
from mcp_types.methods import validate_server_result

from harness_tui._version import __version__
from harness_tui.config.settings import McpServerSettings
from harness_tui.core.errors import HarnessError
from harness_tui.mcp import sampling
from harness_tui.mcp.deadlines import OnProgress
from harness_tui.mcp.discovery import discover
from harness_tui.mcp.exchange import Exchange, without_surrogates
from harness_tui.mcp.listing import CallOutcome, Listing
from harness_tui.mcp.means import Means
from harness_tui.mcp.reasons import (
    CONNECTION_CLOSED,
    StartError,
    exit_words,
    last_line,
    leaves,
    one_line,
    plain_words,
    rpc_error,
)
from harness_tui.mcp.repair import MODERN_FROM, Repairs
from harness_tui.mcp.task_records import open_call
from harness_tui.mcp.tasks import Tasks
from harness_tui.mcp.transport import StdioTransport
from harness_tui.mcp.watched import Watched
from harness_tui.mcp.watching import keep_watching

if TYPE_CHECKING:
    from harness_tui.mcp.streamable import HttpTransport

_STDERR_S: Final = 0.1
_SETTLE_S: Final = 1.0
_LOST_S: Final = 0.5
_SESSION_GONE: Final = "Session terminated"
_RELIST_S: Final = 0.2
_RELISTEN_S: Final = 5.0

OnListing: TypeAlias = Callable[[Listing], None]
OnResource: TypeAlias = Callable[[str], None]
T = TypeVar("T")


class _Command(Enum):
    REFRESH = auto()
    STOP = auto()
    LOST = auto()


class Connection:
    """Connects when :meth:`start` is called and stays until :meth:`stop`, or until the server is lost.

    ``opened`` gives the server's listing, or the :class:`StartError` that explains why there is none; it never raises.
    ``task`` ends when the client was left and the process is gone.
    """

    def __init__(
        self,
        server: McpServerSettings,
        *,
        mode: str,
        means: Means,
        on_listing: OnListing,
        on_resource: OnResource,
        watched: Watched,
    ) -> None:
        self._server = server
        self._people = means.people
        self._mode = mode
        self._root = means.root
        self._on_listing = on_listing
        self._on_resource = on_resource
        self._watched = watched
        self._repairs = Repairs(validate_server_result, enabled=server.repair)
        self.exchange = Exchange(self._repairs)
        self.transport: StdioTransport | HttpTransport = (
            _over_http(server, self.exchange, means)
            if server.url
            else StdioTransport(server, spawner=means.spawner, root=means.root, exchange=self.exchange)
        )
        self._commands: asyncio.Queue[_Command] = asyncio.Queue()
        self._refreshing = False
        self._companions: set[asyncio.Task[None]] = set()
        self._client: Client | None = None
        self.opened: asyncio.Future[Listing | StartError] = asyncio.get_running_loop().create_future()
        self.task: asyncio.Task[None] | None = None

    @property
    def alive(self) -> bool:
        """Whether calls can be made."""
        return self._client is not None and not self.transport.lost.is_set()

    def start(self) -> None:
        """Begin to connect, in a task of its own."""
        self.task = asyncio.create_task(self._own(), name=f"mcp:{self._server.name}")

    def stop(self) -> None:
        """Ask the owner task to leave; wait for ``task`` to see it done."""
        if self.task is None:
            return
        if self.opened.done():
            self._commands.put_nowait(_Command.STOP)
        else:
            self.task.cancel()

    # --- the owner task --------------------------------------------------------------------------

    async def _own(self) -> None:
        self._accompany(self._watch())
        try:
            async with self._new_client() as client:
                self._repairs.protocol = client.protocol_version
                listing = await discover(client, self._repairs, self._server.name)
                self._client = client
                self._settle(listing)
                if self._may_subscribe(client):
                    self._accompany(self._listen(client))
                self._accompany(keep_watching(client, self._watched))
                await self._attend(client)
        except asyncio.CancelledError:
            self._settle(StartError("was stopped while it started", where=self._server.name))
        except Exception as error:  # noqa: BLE001 - whatever transport, server and validation raise, told in ``opened``
            self._settle(await self._start_error(error))
        finally:
            self._client = None
            companions = tuple(self._companions)
            for task in companions:
                task.cancel()
            await asyncio.gather(*companions, return_exceptions=True)

    def _new_client(self) -> Client:
        return Client(
            self.transport,
            mode=self._mode,
            list_roots_callback=self._list_roots,
            elicitation_callback=self._elicit if self._people.present else None,
            sampling_callback=self._sample if self._people.present else None,
            message_handler=self._on_message,
            client_info=Implementation(name="harness", version=__version__),
            extensions=[Tasks(self._server.name)],
            cache=None,
        )

    def _settle(self, outcome: Listing | StartError) -> None:
        if not self.opened.done():
            self.opened.set_result(outcome)

    async def _attend(self, client: Client) -> None:
        while True:
            match await self._commands.get():
                case _Command.STOP | _Command.LOST:
                    return
                case _Command.REFRESH:
                    self._accompany(self._refresh(client))

    def _accompany(self, coroutine: Any) -> None:
        task: asyncio.Task[None] = asyncio.create_task(coroutine, name=f"mcp-companion:{self._server.name}")
        self._companions.add(task)
        task.add_done_callback(self._companions.discard)

    async def _watch(self) -> None:
        await self.transport.lost.wait()
        self._commands.put_nowait(_Command.LOST)

    # --- how it ended ----------------------------------------------------------------------------

    async def ended_by(self, error: BaseException) -> bool:
        """Tell whether a request failed because the connection is no more, and see to it that it ends then."""
        found = rpc_error(error)
        if found is None:
            return False
        if found[1] == _SESSION_GONE and self.transport.kind == "http":
            self.transport.lost.set()  # the server has forgotten us: every further request would fail as well
            return True
        if found[0] != CONNECTION_CLOSED:
            return False
        try:
            async with asyncio.timeout(_LOST_S):
                await self.transport.lost.wait()
        except TimeoutError:
            return False  # the server's own answer, by chance with the same code
        return True

    async def loss_words(self) -> str:
        """Say how the server went away, once that is known."""
        try:
            async with asyncio.timeout(_SETTLE_S):
                await self.transport.settled.wait()
                await asyncio.sleep(_STDERR_S)  # its last words may still be in the pipe
        except TimeoutError:
            return "closed its connection"
        return self.end_words()

    def end_words(self) -> str:
        """Say how the server went away, as far as that is known now."""
        if self.transport.settled.is_set() and not self.transport.went_away:
            return "was stopped"
        words = exit_words(self.transport.own_returncode)
        said = last_line(self.transport.stderr_tail()) if self.transport.own_returncode else ""
        return f"{words}: {said}" if said else words

    async def _start_error(self, error: Exception) -> StartError:
        name, found = self._server.name, rpc_error(error)
        code = found[0] if found else None
        status = None
        if self.transport.kind == "http":
            from harness_tui.mcp.authorisation import login_failure  # loaded already

            status = cast("HttpTransport", self.transport).status
            if (unauthorised := login_failure(self._server, error, status)) is not None:
                return unauthorised
        if status is not None:
            return StartError(f"answered with HTTP status {status}", where=name, rpc=code)
        if code == CONNECTION_CLOSED and self.transport.went_away:
            said = last_line(self.transport.stderr_tail())
            words = f"{exit_words(self.transport.own_returncode)} before answering"
            return StartError(f"{words}: {said}" if said else words, where=name, exited=True)
        first = leaves(error)[0]
        if isinstance(first, httpx2.TransportError):
            return StartError(f"cannot be reached: {one_line(str(first)) or type(first).__name__}", where=name)
        mend = first.mend if isinstance(first, HarnessError) else None
        return StartError(plain_words(error), where=name, mend=mend, rpc=code)

    # --- what the server asks and tells ----------------------------------------------------------

    async def _list_roots(self, context: ClientRequestContext) -> ListRootsResult:
        return ListRootsResult(roots=[Root.model_validate({"uri": self._root.as_uri(), "name": self._root.name})])

    async def _elicit(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        name = self._server.name
        if isinstance(params, ElicitRequestURLParams):
            reply = await self._people.page(name, params.message, params.url)
        else:
            reply = await self._people.form(name, params.message, params.requested_schema)
        if reply.nobody:
            return ErrorData(code=INVALID_REQUEST, message="nobody can be asked here")
        form = reply.action == "accept" and not isinstance(params, ElicitRequestURLParams)
        return ElicitResult(action=reply.action, content=reply.content if form else None)

    async def _sample(
        self, context: ClientRequestContext, params: CreateMessageRequestParams
    ) -> CreateMessageResult | ErrorData:
        try:
            request = sampling.request_of(params)
        except sampling.UnfitError as error:
            return sampling.refusal(error)
        return sampling.result_of(await self._people.sample(self._server.name, request))

    async def _on_message(self, message: object) -> None:
        match message:
            case ToolListChangedNotification() | PromptListChangedNotification() | ResourceListChangedNotification():
                self._want_refresh()
            case ResourceUpdatedNotification(params=params):
                self._on_resource(params.uri)
            case _:
                pass  # progress goes to its call; the rest is not asked for

    def _want_refresh(self) -> None:
        if not self._refreshing and self.opened.done():
            self._refreshing = True
            self._commands.put_nowait(_Command.REFRESH)

    async def _refresh(self, client: Client) -> None:
        try:
            await asyncio.sleep(_RELIST_S)  # changes come in bursts
            self._refreshing = False
            async with asyncio.timeout(self._server.timeout.start):
                self._on_listing(await discover(client, self._repairs, self._server.name))
        except (MCPError, ValueError, TimeoutError) as error:
            self.exchange.remark(f"its changed list could not be read: {plain_words(error)}")
        finally:
            self._refreshing = False

    def _may_subscribe(self, client: Client) -> bool:
        capabilities = client.server_capabilities
        changes = (capabilities.tools, capabilities.prompts, capabilities.resources)
        return client.protocol_version >= MODERN_FROM and any(part and part.list_changed for part in changes)

    async def _listen(self, client: Client) -> None:
        """Keep a subscription to list changes open; events arrive at the message handler, too."""
        while True:
            try:
                lists = client.listen(tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True)
                async with lists as changes:
                    async for _ in changes:
                        self._want_refresh()
            except (SubscriptionLost, TimeoutError):
                pass  # opened again below; what was missed is read then
            except (MCPError, RuntimeError):
                return  # it does not serve subscriptions
            await asyncio.sleep(_RELISTEN_S)
            self._want_refresh()

    # --- calls -----------------------------------------------------------------------------------

    def _connected(self) -> Client:
        if self._client is None:
            raise MCPError(code=CONNECTION_CLOSED, message="Connection closed")
        return self._client

    async def call_tool(self, tool: str, arguments: dict[str, Any], on_progress: OnProgress) -> CallOutcome:
        """Call ``tool``. Raises what the SDK raises; cancelling tells the server."""

        if (call := open_call()) is not None:
            call.report = on_progress

        async def progressed(progress: float, total: float | None, message: str | None) -> None:
            on_progress(progress, total, message)

        sent = cast(dict[str, Any], without_surrogates(arguments))
        with self._people.calling(self._server.name):
            result = await self._connected().call_tool(tool, sent, progress_callback=progressed)
        content = tuple(block.model_dump(by_alias=True, exclude_none=True) for block in result.content)
        return CallOutcome(content, result.structured_content, result.is_error)

    async def ask(self, operation: Callable[[Client], Awaitable[T]]) -> T:
        """Make the requests of ``operation``. Raises what the SDK raises; cancelling tells the server."""
        with self._people.calling(self._server.name):
            return await operation(self._connected())


def _over_http(server: McpServerSettings, exchange: Exchange, means: Means) -> HttpTransport:
    # ``sdk.load`` has got both in a thread: logins need cryptography, nine megabytes that servers of pipes do without.
    from harness_tui.mcp.authorisation import login_of
    from harness_tui.mcp.streamable import HttpTransport

    return HttpTransport(server, exchange=exchange, egress=means.egress, auth=login_of(server, means))
