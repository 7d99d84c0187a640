"""A server on the official SDK that greets on the wire: a banner, bytes that are no UTF-8, then the protocol."""

import sys

from official import MCPServer

server = MCPServer("banner", log_level="ERROR")


@server.tool()
def work() -> str:
    """Work."""
    return "worked"


if __name__ == "__main__":
    sys.stdout.buffer.write(b'Welcome to the server!\n\xff\xfe\n{"half": \n')
    sys.stdout.flush()
    server.run()
