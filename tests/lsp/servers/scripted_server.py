"""A language server by script: ``scripted_server.py SCRIPT.json``. Standard library only.

Its rule is one that a person can check: each ``BAD`` in the text is an error. The script's keys say how it behaves:

``log``            file; every message that it receives is appended as a JSON line
``pids``           file; its process id is appended at the start
``pull``           null, "static", "dynamic" or "late" (registered only after the first didOpen)
``sync``           2: takes parts of texts
``push``           true: publish after each didOpen and didChange
``stamp``          "version", null (no version) or a number (always that one)
``delay``          seconds before each publish or pull answer; ``delay_first``
                   and ``delay_second`` more before the first and the second
``empty_first``    publish an empty set right away, the true one 50 ms later
``skip_equal``     do not publish a set that equals the last one
``items``          raw items in place of those found
``encoding``       positionEncoding to choose
``save``           take didSave
``watch``          glob patterns to register for file events
``ask``            id of a workspace/configuration request to send before the first publish, which waits for its answer
``unknown``        method of a request to send after initialized
``initialize``     "never", "error" or "exit"
``junk``           line to write before the first message
``errors``         bytes to write to standard error at the start
``pieces``         write every message byte by byte
``die_on``         method at which it exits with status 3; ``lives`` says how many of its lives end so, else all
``respell``        how it writes the names of files: "host", "quoted", "small" or "dots"
``deaf``           ignore shutdown, exit, the end of its input and TERM
``child``          start a child that holds the pipes
``cancel``         answer the first N pulls with ServerCancelled
``across``         what a pull says of one file may depend on others: the word BAD is also looked for in every open text
                   whose name is in the text
``tsserver``       offer typescript-language-server's command; fail the first N of its requests (0: none)
``rename``         "words": rename the word at a place in every text of its root, those that are not open as they were
                   at its start; the path of a file with the raw answer; else the raw answer itself
``working``        say that it reads the project from the first didOpen on, for so many seconds; 0: for ever
``prepare``        raw answer to prepareRename
``actions``        raw answer to codeAction
``resolve``        raw answer to codeAction/resolve
``silent``         methods that it never answers
``on``             file that it rewrites, and its text, before it answers a rename or an action: as somebody else would
``apply``          ask for an edit of its own (workspace/applyEdit) before it answers an action
``status``         tell the state of each file as clangd does: "twice" publishes an empty set, then the true one, before
                   it is idle; "once" only the true one; both say nothing for a text that is the same as before;
                   "older" stamps that with the version before; "rests" is idle between the empty set and the true one
"""

import json
import os
import re
import signal
import sys
import threading
import time

with open(sys.argv[1], encoding="utf-8") as script:
    SCRIPT = json.load(script)
OUT = sys.stdout.buffer
LOCK = threading.Lock()
TEXTS = {}
VERSIONS = {}
KNOWN = {}
STATE = {"life": 1, "answers": 0, "asked": False, "configured": threading.Event(), "cancelled": 0, "registered": False}
LAST = {}
SENT = {}


def write(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    data = b"content-length:%d\r\n\r\n" % len(body) + body
    with LOCK:
        for part in [data[i : i + 1] for i in range(len(data))] if SCRIPT.get("pieces") else [data]:
            OUT.write(part)
            OUT.flush()


def units(text):
    return len(text.encode("utf-8")) if SCRIPT.get("encoding") == "utf-8" else len(text.encode("utf-16-le")) // 2


def find(text):
    if "items" in SCRIPT:
        return SCRIPT["items"]
    items = []
    for number, line in enumerate(text.split("\n")):
        at = line.find("BAD")
        while at >= 0:
            start, end = units(line[:at]), units(line[: at + 3])
            items.append(
                {
                    "range": {
                        "start": {"line": number, "character": start},
                        "end": {"line": number, "character": end},
                    },
                    "severity": 1,
                    "source": "scripted",
                    "message": line.strip(),
                }
            )
            at = line.find("BAD", at + 3)
    return items


def rest():
    STATE["answers"] += 1
    more = {1: "delay_first", 2: "delay_second"}.get(STATE["answers"], "")
    time.sleep(SCRIPT.get("delay", 0) + SCRIPT.get(more, 0))


def respelled(uri):
    if "respell" not in SCRIPT:
        return uri
    import urllib.parse

    path = urllib.parse.unquote(uri.removeprefix("file://"))
    match SCRIPT["respell"]:
        case "host":
            return "file://localhost" + urllib.parse.quote(path)
        case "quoted":
            return "file://" + "".join(
                letter if letter == "/" else "".join(f"%{b:02X}" for b in letter.encode()) for letter in path
            )
        case "small":
            return re.sub("%[0-9A-F]{2}", lambda match: match.group().lower(), uri)
        case "dots":
            return "FILE://" + urllib.parse.quote(
                os.path.dirname(path) + "/./x/../" + os.path.basename(path), safe="/+@"
            )
        case _:
            return uri


def publish(uri, version, text):
    def send(items):
        if SCRIPT.get("skip_equal") and LAST.get(uri, []) == items:
            return
        LAST[uri] = items
        params = {"uri": respelled(uri), "diagnostics": items}
        stamp = SCRIPT.get("stamp", "version")
        if stamp is not None:
            params["version"] = version if stamp == "version" else stamp
        write({"method": "textDocument/publishDiagnostics", "params": params})

    def work():
        if "ask" in SCRIPT:
            STATE["configured"].wait(20)
        rest()
        if SCRIPT.get("empty_first"):
            send([])
            time.sleep(0.05)
        send(find(text))

    threading.Thread(target=work, daemon=True).start()


def tell(uri, state):
    write({"method": "textDocument/clangd.fileStatus", "params": {"uri": uri, "state": state}})


def publish_with_status(uri, version, text):
    def send(items, stamp):
        params = {"uri": uri, "diagnostics": items, "version": stamp}
        write({"method": "textDocument/publishDiagnostics", "params": params})

    def work():
        how, same = SCRIPT["status"], SENT.get(uri) == text
        SENT[uri] = text
        tell(uri, "file is queued")
        rest()
        tell(uri, "parsing main file")
        if how in ("twice", "rests"):
            send([], version)
            if how == "rests":
                tell(uri, "idle")
            time.sleep(0.05)
        if not same:
            send(find(text), version)
        elif how == "older":
            send(find(text), version - 1)
        tell(uri, "idle")

    threading.Thread(target=work, daemon=True).start()


def execute(number, params):
    command, where = params["arguments"]
    if params["command"] != "typescript.tsserverRequest" or STATE["cancelled"] < SCRIPT["tsserver"]:
        STATE["cancelled"] += 1
        write({"id": number, "error": {"code": -32603, "message": "No Project."}})
        return
    text = next((text for uri, text in TEXTS.items() if uri.endswith(os.path.basename(where["file"]))), "")
    body = []
    for item in find(text) if command == "semanticDiagnosticsSync" else []:
        start, end = item["range"]["start"], item["range"]["end"]
        body.append(
            {
                "start": {"line": start["line"] + 1, "offset": start["character"] + 1},
                "end": {"line": end["line"] + 1, "offset": end["character"] + 1},
                "text": item["message"],
                "code": 2322,
                "category": "error",
            }
        )
    write({"id": number, "result": {"type": "response", "success": True, "body": body}})


def pull(number, params):
    def work():
        rest()
        if STATE["cancelled"] < SCRIPT.get("cancel", 0):
            STATE["cancelled"] += 1
            write({"id": number, "error": {"code": -32802, "message": "again", "data": {"retriggerRequest": True}}})
            return
        text = TEXTS.get(params["textDocument"]["uri"], "")
        items = find(text)
        if SCRIPT.get("across"):
            items += [
                item | {"message": f"in {os.path.basename(uri)}"}
                for uri, other in TEXTS.items()
                if os.path.basename(uri) in text
                for item in find(other)
            ]
        write({"id": number, "result": {"kind": "full", "items": items}})

    threading.Thread(target=work, daemon=True).start()


def words(params):
    uri, place = params["textDocument"]["uri"], params["position"]
    line = TEXTS[uri].split("\n")[place["line"]]
    at = next(n for n in range(len(line) + 1) if units(line[:n]) == place["character"])
    word = next(match.group() for match in re.finditer(r"\w+", line) if match.start() <= at <= match.end())
    changes = []
    for uri, text in {**KNOWN, **TEXTS}.items():
        edits = []
        for number, line in enumerate(text.split("\n")):
            for match in re.finditer(rf"\b{word}\b", line):
                start, end = units(line[: match.start()]), units(line[: match.end()])
                span = {"start": {"line": number, "character": start}, "end": {"line": number, "character": end}}
                edits.append({"range": span, "newText": params["newName"]})
        if edits:
            changes.append({"textDocument": {"uri": uri, "version": VERSIONS.get(uri)}, "edits": edits})
    return {"documentChanges": changes}


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def propose(number, method, params):
    """Answer a question about changes."""
    if method in ("textDocument/rename", "textDocument/codeAction") and SCRIPT.get("on"):
        path, text = SCRIPT.pop("on")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    if method == "textDocument/codeAction" and SCRIPT.get("apply"):
        write({"id": "apply", "method": "workspace/applyEdit", "params": {"edit": SCRIPT["apply"]}})
    if method == "textDocument/rename" and isinstance(SCRIPT["rename"], str):
        result = words(params) if SCRIPT["rename"] == "words" else read_json(SCRIPT["rename"])
        write({"id": number, "result": result})
        return
    key = {"rename": "rename", "prepareRename": "prepare", "codeAction": "actions", "resolve": "resolve"}
    write({"id": number, "result": SCRIPT[key[method.rpartition("/")[2]]]})


def work(seconds):
    def say(**value):
        write({"method": "$/progress", "params": {"token": "w", "value": value}})

    say(kind="begin", title="Reading")
    if seconds:
        threading.Timer(seconds, say, kwargs={"kind": "end"}).start()


def register(method, options):
    write(
        {
            "id": f"register {method}",
            "method": "client/registerCapability",
            "params": {"registrations": [{"id": method, "method": method, "registerOptions": options}]},
        }
    )


def capabilities_of(params):
    capabilities = {
        "textDocumentSync": {"openClose": True, "change": SCRIPT.get("sync", 1), "save": bool(SCRIPT.get("save"))}
    }
    if SCRIPT.get("encoding"):
        capabilities["positionEncoding"] = SCRIPT["encoding"]
    if SCRIPT.get("pull") == "static":
        across = bool(SCRIPT.get("across"))
        capabilities["diagnosticProvider"] = {"interFileDependencies": across, "workspaceDiagnostics": False}
    if "tsserver" in SCRIPT:
        capabilities["executeCommandProvider"] = {"commands": ["typescript.tsserverRequest", 7]}
    if "rename" in SCRIPT:
        capabilities["renameProvider"] = {"prepareProvider": "prepare" in SCRIPT}
        import glob
        import pathlib

        for path in glob.glob(os.path.join(glob.escape(params["rootPath"]), "*.txt")):
            with open(path, encoding="utf-8-sig", newline="") as file:
                KNOWN[pathlib.Path(path).as_uri()] = file.read().replace("\r\n", "\n")
    if "actions" in SCRIPT:
        capabilities["codeActionProvider"] = {"resolveProvider": "resolve" in SCRIPT}
    return capabilities


def initialize(number, params):
    how = SCRIPT.get("initialize")
    if how == "error":
        write({"id": number, "error": {"code": -32603, "message": "no compiler found"}})
    elif how != "never":
        write({"id": number, "result": {"capabilities": capabilities_of(params)}})


def on_request(message):
    method, number = message["method"], message["id"]
    if method in SCRIPT.get("silent", ()):
        return
    if method == "initialize":
        initialize(number, message["params"])
    elif method.rpartition("/")[2] in ("rename", "prepareRename", "codeAction", "resolve"):
        propose(number, method, message["params"])
    elif method == "shutdown":
        if not SCRIPT.get("deaf"):
            write({"id": number, "result": None})
    elif method == "textDocument/diagnostic" and SCRIPT.get("pull"):
        pull(number, message["params"])
    elif method == "workspace/executeCommand" and "tsserver" in SCRIPT:
        execute(number, message["params"])
    else:
        write({"id": number, "error": {"code": -32601, "message": "unknown method"}})


def changed(uri, change):
    """The text after a change; of a part of it whole lines, the only ones that a client of ours sends here."""
    if "range" not in change:
        return change["text"]
    lines, (start, end) = TEXTS[uri].split("\n"), (change["range"][name] for name in ("start", "end"))
    before = "".join(f"{line}\n" for line in lines[: start["line"]]) + lines[start["line"]][: start["character"]]
    return before + change["text"] + "\n".join([lines[end["line"]][end["character"] :], *lines[end["line"] + 1 :]])


def on_notification(method, params):
    if method == "initialized":
        if SCRIPT.get("pull") == "dynamic":
            register("textDocument/diagnostic", {"identifier": "scripted"})
        if SCRIPT.get("watch"):
            register("workspace/didChangeWatchedFiles", {"watchers": [{"globPattern": g} for g in SCRIPT["watch"]]})
        if "ask" in SCRIPT:
            items = [{"section": "scripted"}, {"section": "other.deep"}, {"scopeUri": ""}]
            write({"id": SCRIPT["ask"], "method": "workspace/configuration", "params": {"items": items}})
        if "unknown" in SCRIPT:
            write({"id": "u1", "method": SCRIPT["unknown"], "params": None})
    elif method in ("textDocument/didOpen", "textDocument/didChange"):
        document = params["textDocument"]
        text = document["text"] if method.endswith("Open") else changed(document["uri"], params["contentChanges"][0])
        TEXTS[document["uri"]] = text
        VERSIONS[document["uri"]] = document["version"]
        if SCRIPT.get("status"):
            publish_with_status(document["uri"], document["version"], text)
        elif SCRIPT.get("push", True):
            publish(document["uri"], document["version"], text)
        if "working" in SCRIPT and method.endswith("Open"):
            work(SCRIPT.pop("working"))
        if SCRIPT.get("pull") == "late" and not STATE["registered"]:
            STATE["registered"] = True
            threading.Timer(0.1, register, ("textDocument/diagnostic", {})).start()
    elif method == "exit" and not SCRIPT.get("deaf"):
        os._exit(0)


def log(message):
    if SCRIPT.get("log"):
        with open(SCRIPT["log"], "a", encoding="utf-8") as file:
            file.write(json.dumps(message) + "\n")


def messages():
    source = sys.stdin.buffer
    while line := source.readline():
        length = int(line.split(b":")[1])
        source.readline()
        yield json.loads(source.read(length))


def begin():
    if SCRIPT.get("pids"):
        with open(SCRIPT["pids"], "a", encoding="utf-8") as file:
            file.write(f"{os.getpid()}\n")
        with open(SCRIPT["pids"], encoding="utf-8") as file:
            STATE["life"] = len(file.readlines())
    if SCRIPT.get("initialize") == "exit":
        print("cannot load the compiler", file=sys.stderr)
        sys.exit(7)
    if SCRIPT.get("deaf"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if SCRIPT.get("child"):
        import subprocess  # what only few scripts need is not imported for all of them

        with open(SCRIPT["child"], "w", encoding="utf-8") as file:
            file.write(str(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"]).pid))
    if SCRIPT.get("junk"):
        OUT.write(SCRIPT["junk"].encode() + b"\n")
        OUT.flush()
    for _ in range(SCRIPT.get("errors", 0) // 100_000):
        sys.stderr.write(("x" * 999 + "\n") * 100)


def main():
    begin()
    for message in messages():
        log(message)
        if message.get("method") == SCRIPT.get("die_on", "") and STATE["life"] <= SCRIPT.get("lives", 10**9):
            print(f"fell over {message['method']}", file=sys.stderr, flush=True)
            os._exit(3)
        if "method" not in message:
            if message.get("id") == SCRIPT.get("ask"):
                STATE["configured"].set()
        elif "id" in message:
            on_request(message)
        else:
            on_notification(message["method"], message.get("params"))
    while SCRIPT.get("deaf"):
        time.sleep(1)


main()
