"""The program that holds one local model: loads a GGUF file and serves it on loopback. Run by its path, in a child.

Standard library and xllamacpp only, nothing of ours: it runs as ``python -I``. One line of JSON comes in on standard
input (``path``, ``context``, ``threads``, ``key``), one goes out on standard output (``address``, or ``error``). It
ends when its standard input does, that is with the shell at the latest.
"""

from __future__ import annotations

import importlib
import json
import os
import sys


def main() -> None:
    """Serve until standard input ends."""
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever the library prints is no answer of ours
    wanted = json.loads(sys.stdin.buffer.readline())
    try:
        address, server = load(wanted)
    except Exception as error:  # noqa: BLE001 - the library raises what it likes
        answer.write(json.dumps({"error": f"{type(error).__name__}: {error}"}) + "\n")
        answer.flush()
        os._exit(1)
    answer.write(json.dumps({"address": address}) + "\n")
    answer.flush()
    sys.stdin.buffer.read()
    del server
    os._exit(0)  # without the library's own clean-up, which may wait for an answer that is still being made


def load(wanted: dict[str, object]) -> tuple[str, object]:
    """Return where the model is served, and the server; it serves as long as somebody holds it."""
    xllamacpp = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(wanted["path"])
    params.n_ctx = int(str(wanted["context"]))
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(str(wanted["threads"]))
    params.cpuparams.poll = params.cpuparams_batch.poll = 0  # threads that spin starve each other on a busy machine
    params.port = 0
    params.api_keys = [str(wanted["key"])]  # other people of this machine are not served
    params.cache_ram_mib = 0  # prompts of before are not kept: memory is what a local model has least of
    params.warmup = False
    params.verbosity = -1
    params.ui = params.endpoint_slots = False
    server = xllamacpp.Server(params)
    return str(server.listening_address), server


if __name__ == "__main__":
    main()
