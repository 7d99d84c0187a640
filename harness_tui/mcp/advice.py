"""Why a server did not start, in words, and what to do about it.

What a server leaves behind when it fails is an exit code, a last line, a status or silence. People know the reason when
they see it: a package that cannot be fetched, a shell in place of a server, a web page, a missing variable. This is the
list of those reasons; what is in none of them keeps its own words and is told where to look.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import urlsplit

from harness_tui.config.settings import McpServerSettings
from harness_tui.core.late_pattern import late_pattern
from harness_tui.core.record import record
from harness_tui.mcp.budget import RUNNERS
from harness_tui.mcp.reasons import UNSUPPORTED_PROTOCOL, StartError, one_line

_SHELLS: Final = ("sh", "bash", "dash", "zsh", "fish", "ksh")
_LANGUAGE: Final = late_pattern(r"language-?server|langserver|\blsp\b|pylsp|gopls|clangd|rust-analyzer|pyright|^ty$")
_OFFLINE: Final = late_pattern(
    r"ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|ECONNREFUSED|network (?:request|error|is unreachable)|dns error"
    r"|Failed to fetch|Temporary failure in name resolution|Could not (?:connect|resolve)|error sending request"
)
_NO_PACKAGE: Final = late_pattern(
    r"\bE?404\b|not found in the package registry|No matching distribution|pull access denied"
)
_NO_MODULE: Final = late_pattern(r"(?:ModuleNotFoundError: No module named|Cannot find (?:module|package)) '([^']+)'")
_VARIABLE: Final = late_pattern(
    r"\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b[^\n]{0,60}?\b(?:not set|unset|required|missing|must be|undefined|not found|empty)"
    r"|(?:[Mm]issing|[Rr]equired?|[Ss]et|[Pp]rovide|[Nn]o)\b[^\n]{0,60}?\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b"
)
_USAGE: Final = late_pattern(
    r"(?im)^usage:|unrecogni[sz]ed argument|unknown (?:option|flag|command)|unexpected argument"
)
_CERTIFICATE: Final = late_pattern(r"CERTIFICATE_VERIFY_FAILED|certificate verify failed|self.signed", re.IGNORECASE)
_NO_TLS: Final = late_pattern(
    r"WRONG_VERSION_NUMBER|wrong version number|record layer failure|unknown protocol|HTTP_REQUEST"
)
_TLS: Final = late_pattern(r"\bSSL\b|\bTLS\b|\[SSL")


@record
class Clues:
    """What a failed start left behind: the last HTTP status, standard error, the first line that was no message, and
    how its process ended by itself."""

    status: int | None = None
    stderr: str = ""
    junk: str = ""
    returncode: int | None = None


@record
class Advice:
    """``kind`` names the sort of failure for programs, ``words`` say what happened, ``mend`` what to do."""

    kind: str
    words: str
    mend: str


_LSP: Final = Advice(
    "wrong-protocol",
    "this is a language server, which speaks LSP and not MCP",
    "a language server belongs under lsp.servers; `harness lsp list` shows those that are known",
)


def advice(server: McpServerSettings, error: StartError, clues: Clues) -> Advice:
    """Explain why ``server`` did not start. What ``error`` itself says to do goes first."""
    if error.needs_auth:
        login = f"`harness mcp login {server.name}`"
        return Advice("auth", error.what, error.mend or f"{login}, or mend the key in its 'headers'")
    found = _remote(server, error, clues) if server.url else _local(server, error, clues)
    if error.mend and not error.what.startswith("the program "):  # what is missing is known better here
        return Advice(found.kind, found.words, error.mend)
    return found


# --- a server behind a URL -------------------------------------------------------------------------------


def _remote(server: McpServerSettings, error: StartError, clues: Clues) -> Advice:
    what, parts = error.what, urlsplit(server.url or "")
    place = f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
    if clues.status is not None:
        return _status(server, error, clues.status, parts.path)
    if "Unexpected content type: text/html" in what:
        page = "answered with a web page (text/html) and not with MCP"
        return Advice("wrong-protocol", page, f"this address is for browsers; {_other_path(parts.path)}")
    unread = error.rpc == -32700 and "validation error" in what
    if unread or "Unexpected content type" in what or "Expected response header Content-Type" in what:
        mend = "its documentation says at which address it speaks MCP"
        words = "answered with JSON that is no MCP" if unread else f"answered, but not with MCP: {what}"
        return Advice("wrong-protocol", one_line(words), f"{mend}; {_other_path(parts.path)}")
    if "Redirect to " in what:
        target = what.partition("Redirect to ")[2].partition(" ")[0]
        return Advice("redirect", f"sends on to {target}, another server", "if that is the one you mean, write its URL")
    if error.timed_out:
        mend = "is it up, and does a firewall or VPN stand between? mcp.{}.timeout.start sets the limit"
        return Advice("timeout", what, mend.format(server.name))
    if "Connection refused" in what:
        mend = f"nothing listens at {place}: start the server there, or mend the port in 'url'"
        return Advice("refused", what, mend)
    if _CERTIFICATE.search(what):
        mend = "put its authority into this machine's store, or name the file in SSL_CERT_FILE; check the host's name"
        return Advice("tls", f"its certificate is not trusted here: {_tail(what)}", mend)
    if _NO_TLS.search(what):
        return Advice(
            "tls", f"{place} does not speak TLS: {_tail(what)}", "write the URL with http://, or mend the port"
        )
    if _TLS.search(what):
        return Advice("tls", f"no secure connection to {place}: {_tail(what)}", "check the port, and its certificate")
    if " was not found" in what and "cannot be reached" in what:
        return Advice("unknown-host", what, "is the name in 'url' right, and is this machine online?")
    if "disconnected" in what.lower() or "closed" in what:
        mend = (
            f"something at {place} that is no HTTP server took the connection: check the port and http:// or https://"
        )
        return Advice("wrong-protocol", what, mend)
    return Advice("failed", what, f"look at the log of the server at {place}")


def _status(server: McpServerSettings, error: StartError, status: int, path: str) -> Advice:
    words = error.what
    match status:
        case 401 | 403 if server.headers:
            mend = "the key in its 'headers' is not accepted: is its variable set to the right one?"
        case 403 | 421:
            mend = (
                "it refuses the name that it is called by, or the key: call it by the host that it was set up for"
                " (mostly localhost or 127.0.0.1)"
            )
        case 404 | 405:
            older = ", or say 'transport: sse' if it is an older server" if server.transport != "sse" else ""
            mend = f"there is no MCP at this path; {_other_path(path)}{older}"
        case 400 | 406 | 415:
            mend = f"it does not take MCP requests at this path, or wants http:// or https://; {_other_path(path)}"
        case 407:
            mend = "a proxy wants a login: put it into the proxy's URL, or the host into NO_PROXY"
        case 429:
            mend = "it takes no more requests for now: wait, then restart it"
        case _ if status >= 500:
            mend = "the server itself fails: look at its log, and restart it here when it is up"
        case _:
            mend = "its documentation says at which address it speaks MCP"
    return Advice("auth" if status in (401, 407) else "http-status", words, mend)


def _other_path(path: str) -> str:
    if path.rstrip("/").rpartition("/")[2] in ("mcp", "sse"):
        return "its documentation names the right one"
    return "often it ends in /mcp"


def _tail(what: str) -> str:
    return what.removeprefix("cannot be reached: ")


# --- a server that is started here -----------------------------------------------------------------------


def _local(server: McpServerSettings, error: StartError, clues: Clues) -> Advice:
    program = PurePosixPath(server.command[0]).name if server.command else ""
    what, runner = error.what, program in RUNNERS
    if " " in (server.command[0] if server.command else "") and "was not found" in what:
        mend = "write the program alone, and each argument as an item of its own behind it"
        return Advice("missing-program", what, mend)
    if "was not found" in what or "may not be executed" in what or "cannot be executed" in what:
        where = "Node.js brings it" if program in ("npx", "node", "npm") else "uv brings it" if program == "uvx" else ""
        mend = f"install it{f' ({where})' if where else ''}, or name it by its absolute path"
        return Advice("missing-program", what, mend)
    if (other := other_language(server, clues)) is not None:
        return other
    if _LANGUAGE.search(program) and "mcp" not in program:
        return _LSP
    if runner and _OFFLINE.search(clues.stderr):
        words = f"{program} could not fetch the package: {_telling(clues.stderr, _OFFLINE)}"
        return Advice("offline", words, _offline(program))
    if runner and _NO_PACKAGE.search(clues.stderr):
        words = f"{program} knows no such package: {_telling(clues.stderr, _NO_PACKAGE)}"
        return Advice("no-package", words, "check the spelling of the package and its version")
    if error.exited:
        return _exited(server, error, clues)
    if error.timed_out and runner:
        mend = f"run it once by hand, which fetches its package, or give it time in mcp.{server.name}.timeout.start"
        return Advice("timeout", f"{what}; {program} may still have been installing it", mend)
    if error.timed_out:
        mend = f"is it an MCP server over stdio? mcp.{server.name}.timeout.start sets the limit for one that is slow"
        said = f"; its last line was: {one_line(clues.stderr.strip().splitlines()[-1])}" if clues.stderr.strip() else ""
        return Advice("timeout", f"{what}{said}", mend)
    if error.rpc == UNSUPPORTED_PROTOCOL:
        return Advice("wrong-protocol", what, "it knows none of the revisions that are spoken here: update the server")
    if error.rpc is not None:
        mend = "it refuses to begin, as a program does that only repeats its input, or another kind of server"
        return Advice("wrong-protocol", what, f"{mend}: check the command")
    return Advice("failed", what, _log_of(server))


def other_language(server: McpServerSettings, clues: Clues) -> Advice | None:
    """Tell what is no MCP server by what it says, as soon as it has said it; ``None`` while it may be one."""
    program = PurePosixPath(server.command[0]).name if server.command else ""
    junk = clues.junk.lstrip()
    if junk.lower().startswith("content-length:"):
        return _LSP
    if program in _SHELLS and re.search(r"command not found|: not found", clues.stderr):
        words = "this is a shell: it took the first message for a command"
        return Advice("wrong-protocol", words, f"name the server itself in 'command', or {program} -c 'exec SERVER'")
    if junk.startswith(("<!doctype", "<!DOCTYPE", "<html", "<HTML")):
        return Advice(
            "wrong-protocol", "it writes a web page and no messages", "check the command: this is no MCP server"
        )
    if junk.startswith("HTTP/"):
        mend = "it is a server over HTTP: start it yourself, and give its 'url' in place of 'command'"
        return Advice("wrong-protocol", "it answers in HTTP", mend)
    return None


def _exited(server: McpServerSettings, error: StartError, clues: Clues) -> Advice:
    what, stderr = error.what, clues.stderr
    if (module := _NO_MODULE.search(stderr)) is not None:
        mend = (
            f"install {module[1]} where {PurePosixPath(server.command[0]).name} looks for it, or name another program"
        )
        return Advice("exited", what, mend)
    if (variable := _VARIABLE.search(stderr)) is not None:
        name = variable[1] or variable[2]
        mend = f'put it into the entry: mcp.{server.name}.env: {{{name}: "{{env:{name}}}"}}'
        if server.env.get(name):
            mend = f"{name} is given in mcp.{server.name}.env: is its value right?"
        return Advice("missing-variable", what, mend)
    if _USAGE.search(stderr):
        return Advice("exited", what, "its arguments are not those that it takes: run it with --help")
    if clues.returncode == 0 and not stderr.strip():
        words = f"{what} and said nothing" + (f" but: {one_line(clues.junk)}" if clues.junk else "")
        mend = "is it an MCP server? Many programs are one only with an argument such as 'mcp', 'serve' or 'stdio'"
        return Advice("wrong-protocol" if clues.junk else "exited", words, mend)
    return Advice("exited", what, _log_of(server))


def _offline(program: str) -> str:
    keep = {"npx": "npm install -g PACKAGE", "uvx": "uv tool install PACKAGE", "pipx": "pipx install PACKAGE"}
    once = "start it once while this machine is online, and it is kept"
    return f"{once}; or install it (`{keep[program]}`) and name its program" if program in keep else once


def _telling(stderr: str, pattern: re.Pattern[str]) -> str:
    lines = [line for line in stderr.splitlines() if pattern.search(line)]
    return one_line(max(lines, key=len) if lines else stderr.strip().splitlines()[-1])


def _log_of(server: McpServerSettings) -> str:
    return f"its log has the whole of it: `harness mcp logs {server.name}`; run its command by hand to see it fail"
