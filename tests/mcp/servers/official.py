"""The official SDK for servers, imported with the garbage collector held: a quarter of a start goes into its walks."""

import gc

gc.disable()

from mcp.server.mcpserver import Context, Image, MCPServer  # noqa: E402
from mcp.server.mcpserver.exceptions import ToolError  # noqa: E402
from mcp_types import ToolAnnotations  # noqa: E402

gc.freeze()
gc.enable()

__all__ = ["Context", "Image", "MCPServer", "ToolAnnotations", "ToolError"]
