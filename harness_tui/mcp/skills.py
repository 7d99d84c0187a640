"""Skills that a server publishes (the extension ``io.modelcontextprotocol/skills``): its entries, read and checked.

Entries only: no file of a skill is fetched before somebody loads it. An entry that breaks a rule is kept with the
reason why it cannot be loaded, so that a person sees it. Imports the SDK: loaded with the first server, in a thread.
"""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final, Literal, cast
from urllib.parse import unquote

from mcp import Client, MCPError
from mcp_types import PaginatedRequestParams, Request, RequestParams, Result

from harness_tui.core.late_pattern import late_pattern
from harness_tui.core.remote_skills import MAX_BYTES, MAX_FILES, RemoteFile, RemoteSkill
from harness_tui.mcp.reasons import CallError, plain_words

EXTENSION: Final = "io.modelcontextprotocol/skills"
MAX_PAGES: Final = 100
MAX_SKILLS: Final = 1_000

_URI_CHARS: Final = 2_048
_DIGEST: Final = late_pattern(r"sha256:[0-9a-f]{64}")
_NAME: Final = late_pattern(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_NAME_CHARS: Final = 64
_ADDRESS: Final = late_pattern(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"<>]+")
_SKILL_FILE: Final = "/SKILL.md"


class ListSkillsRequest(Request[PaginatedRequestParams | None, Literal["skills/list"]]):
    """Asks for a page of entries."""

    method: Literal["skills/list"] = "skills/list"
    params: PaginatedRequestParams | None = None


class GetSkillParams(RequestParams):
    """``uri`` is that of a ``SKILL.md``."""

    uri: str


class GetSkillRequest(Request[GetSkillParams, Literal["skills/get"]]):
    """Asks for one entry."""

    name_param: ClassVar[str | None] = None
    method: Literal["skills/get"] = "skills/get"
    params: GetSkillParams


class ListSkillsResult(Result):
    """A page of entries, looked at one by one: a bad one takes no other down."""

    skills: list[Any]
    next_cursor: str | None = None


class GetSkillResult(Result):
    """One entry."""

    skill: Any = None


def serves_skills(client: Client) -> bool:
    """Tell whether the server declares that it publishes skills."""
    return EXTENSION in (client.server_capabilities.extensions or {})


async def list_skills(client: Client, server: str, left_out: dict[str, str]) -> tuple[RemoteSkill, ...]:
    """Return the entries of ``server``, by label. A server whose skills cannot be listed still has its tools."""
    found: list[Any] = []
    cursor: str | None = None
    try:
        for _ in range(MAX_PAGES):
            params = PaginatedRequestParams(cursor=cursor) if cursor else None
            result = await client.session.send_request(ListSkillsRequest(params=params), ListSkillsResult)
            found += result.skills
            cursor = result.next_cursor
            if not cursor or len(found) >= MAX_SKILLS:
                break
        if cursor:
            left_out["skills/list"] = f"stopped after {len(found[:MAX_SKILLS])} skills"
    except (MCPError, ValueError) as error:
        left_out["skills/list"] = plain_words(error)
    entries: dict[str, RemoteSkill] = {}
    for number, item in enumerate(found[:MAX_SKILLS], 1):
        entry = entry_of(server, item)
        if entry is None:
            left_out[f"skill {number}"] = "its entry has no address"
        else:
            entries.setdefault(entry.uri, entry)
    return labelled(tuple(entries.values()))


async def get_skill(client: Client, server: str, uri: str) -> RemoteSkill:
    """Return the entry at ``uri`` as it is now. Raises ``CallError``, or what the SDK raises."""
    where = f"MCP server {server}"
    if not serves_skills(client):
        raise CallError("it publishes no skills", where=where)
    request = GetSkillRequest(params=GetSkillParams(uri=uri))
    result = await client.session.send_request(request, GetSkillResult)
    entry = entry_of(server, result.skill)
    if entry is None or entry.uri != uri:
        raise CallError(f"its answer is no entry of a skill at {uri}", where=where)
    return entry


async def read_file(client: Client, uri: str) -> bytes:
    """Return the bytes of one resource. Raises ``ValueError`` for an answer that is not exactly that one."""
    result = await client.read_resource(uri)
    if len(result.contents) != 1:
        raise ValueError(f"the answer holds {len(result.contents)} contents, not one")
    content = result.contents[0].model_dump(by_alias=True, exclude_none=True)
    match content:
        case {"uri": str() as other} if other != uri:
            raise ValueError("the answer holds another resource")
        case {"text": str() as text}:
            return text.encode("utf-8", "surrogatepass")
        case {"blob": str() as blob}:
            try:
                return base64.b64decode(blob, validate=True)
            except (binascii.Error, ValueError) as error:
                raise ValueError("its data is not valid base64") from error
        case _:
            raise ValueError("the answer holds neither text nor data")


# --- entries -----------------------------------------------------------------------------------------


def entry_of(server: str, item: Any) -> RemoteSkill | None:
    """Return the entry in ``item``, with what is wrong with it; ``None`` for one without an address."""
    fields = cast(dict[str, Any], item) if isinstance(item, dict) else {}
    uri = fields.get("uri")
    if not isinstance(uri, str) or not uri.isprintable() or not 0 < len(uri) <= _URI_CHARS:
        return None
    shown = fields.get("frontmatter")
    front_matter = cast(dict[str, Any], shown) if isinstance(shown, dict) else {}
    folder = uri.removesuffix(_SKILL_FILE).rpartition("/")[2]
    problem = _problem(uri, folder, front_matter, fields.get("resources"))
    files = () if problem is not None else tuple(map(_file, cast(list[Any], fields["resources"])))
    return RemoteSkill(server, uri, folder or uri, front_matter, files, problem)


def _problem(uri: str, folder: str, front_matter: dict[str, Any], resources: Any) -> str | None:
    """Return why a skill cannot be loaded, as far as its entry tells."""
    name = front_matter.get("name")
    if not uri.endswith(_SKILL_FILE) or not _ADDRESS.fullmatch(uri) or not uri.isprintable():
        return "its address is not that of a SKILL.md"
    if not isinstance(name, str) or not isinstance(front_matter.get("description"), str):
        return "its entry has no name or no description"
    if name != folder or not _NAME.fullmatch(name) or len(name) > _NAME_CHARS:
        return "its name is not that of its folder, or not one that a skill can have"
    if resources == "dynamic":
        return "its content is made anew at each read, so that nothing can be verified"
    if not isinstance(resources, list):
        return "its entry lists no files"
    listed = cast(list[Any], resources)
    if len(listed) > MAX_FILES:
        return f"it has {len(listed)} files, more than {MAX_FILES}"
    root = uri.removesuffix("SKILL.md")
    faults = [fault for item in listed if (fault := _file_fault(item, root)) is not None]
    if faults:
        return faults[0]
    files = [_file(item) for item in listed]
    addresses = Counter(file.uri for file in files)
    if addresses[uri] != 1 or max(addresses.values()) > 1:
        return "its list of files names one twice, or lacks its SKILL.md"
    total = sum(file.size for file in files)
    return f"its files have {total} bytes, more than {MAX_BYTES}" if total > MAX_BYTES else None


def _file_fault(item: Any, root: str) -> str | None:
    match item:
        case {"uri": str() as uri, "digest": str() as digest, "size": int() as size} if not isinstance(size, bool):
            below = unquote(uri.removeprefix(root))
            plain = all(part not in ("", ".", "..") for part in below.split("/")) and "\\" not in below
            if not uri.startswith(root) or not plain or not below.isprintable() or len(uri) > _URI_CHARS:
                return "its list of files names one that lies outside of its folder"
            if not _DIGEST.fullmatch(digest) or size < 0:
                return "its list of files has an entry without a digest or a size"
            return None
        case _:
            return "its list of files has an entry without address, digest or size"


def _file(item: Any) -> RemoteFile:
    return RemoteFile(str(item["uri"]), str(item["digest"]), int(item["size"]))


def labelled(entries: Sequence[RemoteSkill]) -> tuple[RemoteSkill, ...]:
    """Return ``entries`` by label: the name of the folder, for several of one name their whole path, or the address."""
    folders = Counter(map(_folder, entries))
    paths = Counter(map(_path, entries))
    made: list[RemoteSkill] = []
    for entry in entries:
        label = _folder(entry)
        if folders[label] > 1:
            label = _path(entry) if paths[_path(entry)] == 1 else entry.uri
        made.append(replace(entry, label=label))
    return tuple(sorted(made, key=lambda entry: entry.label))


def _folder(entry: RemoteSkill) -> str:
    return entry.root.rpartition("/")[2] or entry.uri


def _path(entry: RemoteSkill) -> str:
    return entry.root.partition("://")[2]
