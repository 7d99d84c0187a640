"""A server that reads nothing more after its listing."""

import time

import peer


def tools(request):
    peer.answer(request, {"tools": [peer.TOOL]})
    time.sleep(60)


peer.serve(lambda request: None, tools=tools)
