"""A server on the official SDK that publishes skills: honest ones, and as many dishonest ones as DISHONEST names.

It counts each read of a file of a skill in its tool ``reads``; ``rewrite`` changes the skill ``pdf`` and its entry.
"""

import hashlib
import os
from typing import Any

import mcp_types as types
from mcp.server.extension import Extension, MethodBinding
from mcp.shared.exceptions import MCPError
from official import MCPServer
from pydantic import BaseModel

DISHONEST = os.environ.get("DISHONEST", "")
READS: list[str] = []


def text(name: str, about: str, body: str, more: str = "") -> str:
    return f"---\nname: {name}\ndescription: {about}\n{more}---\n\n{body}\n"


PDF = text("pdf", "Fill in forms", "Take `forms/A4.md`, then run scripts/fill.sh.", "allowed-tools: Bash(*)\n")
FILES: dict[str, bytes] = {
    "skill://pdf/SKILL.md": PDF.encode(),
    "skill://pdf/forms/A4.md": b"the form\n",
    "skill://pdf/scripts/fill.sh": b"#!/bin/sh\necho filled\n",
    "skill://pdf/inner/SKILL.md": text("inner", "Nested", "Inner text.").encode(),
    "skill://acme/billing/refunds/SKILL.md": text("refunds", "Billing", "Pay back.").encode(),
    "skill://acme/support/refunds/SKILL.md": text("refunds", "Support", "Say sorry.").encode(),
    "skill://hidden/SKILL.md": text("hidden", "Not listed", "Found by its address.").encode(),
}


def entry(root: str) -> dict[str, Any]:
    uri = f"{root}/SKILL.md"
    lines = FILES[uri].decode().split("---\n")[1].splitlines()
    front_matter = dict(line.split(": ", 1) for line in lines)
    listed = [
        {"uri": name, "digest": f"sha256:{hashlib.sha256(data).hexdigest()}", "size": len(data)}
        for name, data in FILES.items()
        if name.startswith(f"{root}/")
    ]
    return {"uri": uri, "frontmatter": front_matter, "resources": listed}


def dishonest() -> list[Any]:
    whole = entry("skill://pdf")
    many = [{"uri": f"skill://many/{n}", "digest": "sha256:" + "0" * 64, "size": 1} for n in range(513)]
    heavy = [{"uri": "skill://heavy/SKILL.md", "digest": "sha256:" + "0" * 64, "size": 16 * 1024 * 1024 + 1}]
    outside = [{**whole["resources"][0]}, {"uri": "skill://pdf/../x", "digest": "sha256:" + "0" * 64, "size": 1}]
    plain = {"name": "x", "description": "d"}
    return [
        {**whole, "uri": "skill://many/SKILL.md", "frontmatter": {**plain, "name": "many"}, "resources": many},
        {**whole, "uri": "skill://heavy/SKILL.md", "frontmatter": {**plain, "name": "heavy"}, "resources": heavy},
        {"uri": "skill://live/SKILL.md", "frontmatter": {**plain, "name": "live"}, "resources": "dynamic"},
        {"uri": "skill://bare/SKILL.md", "frontmatter": {**plain, "name": "bare"}},
        {"uri": "skill://liar/SKILL.md", "frontmatter": {**plain, "name": "other"}, "resources": []},
        {**whole, "uri": "skill://pdf/SKILL.md", "resources": outside},
        {"frontmatter": plain},
        "nothing",
    ]


class GetParams(types.RequestParams):
    uri: str


async def list_skills(context: Any, params: BaseModel) -> dict[str, Any]:
    roots = ["skill://pdf", "skill://pdf/inner", "skill://acme/billing/refunds", "skill://acme/support/refunds"]
    skills = dishonest() if DISHONEST == "entries" else [entry(root) for root in roots]
    return {"resultType": "complete", "skills": skills, "ttlMs": 0, "cacheScope": "private"}


async def get_skill(context: Any, params: GetParams) -> dict[str, Any]:
    if params.uri not in FILES or not params.uri.endswith("/SKILL.md"):
        raise MCPError(types.INVALID_PARAMS, f"no skill is served at {params.uri}")
    found = entry(params.uri.removesuffix("/SKILL.md"))
    return {"resultType": "complete", "skill": found, "ttlMs": 0, "cacheScope": "private"}


class Skills(Extension):
    identifier = "io.modelcontextprotocol/skills"

    def methods(self) -> list[MethodBinding]:
        return [
            MethodBinding("skills/list", types.PaginatedRequestParams, list_skills),
            MethodBinding("skills/get", GetParams, get_skill),
        ]


server = MCPServer("publishes", log_level="ERROR", extensions=[Skills()])


def serve(uri: str) -> None:
    @server.resource(uri, mime_type="text/markdown")
    def read() -> str:
        READS.append(uri)
        data = FILES[uri].decode()
        match DISHONEST:
            case "digest":
                return data.replace("form", "farm")
            case "size":
                return data + "more"
            case _:
                return data


for address in FILES:
    serve(address)


@server.tool()
def reads() -> str:
    """Say which files of skills were read."""
    return " ".join(READS)


@server.tool()
def rewrite(body: str) -> str:
    """Change the skill pdf."""
    FILES["skill://pdf/SKILL.md"] = text("pdf", "Fill in forms", body).encode()
    return "changed"


if __name__ == "__main__":
    server.run()
