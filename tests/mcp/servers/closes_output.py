"""A server that closes its output at a call and lives on."""

import os
import time

import peer


def on_call(request):
    if "id" in request:
        os.close(1)
        time.sleep(60)


peer.serve(on_call)
