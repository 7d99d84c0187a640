"""A server that reads everything and says nothing."""

import peer

for _ in peer.incoming():
    pass
