"""A handshake-era server that gives up at a method which it does not know."""

import sys

import peer


def incoming():
    for message in original():
        if message.get("method") == "server/discover":
            sys.exit("unknown method server/discover")
        yield message


original, peer.incoming = peer.incoming, incoming
peer.serve(lambda request: peer.answer(request, peer.text("worked")))
