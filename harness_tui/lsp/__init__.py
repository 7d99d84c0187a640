"""Language servers: what they say of a file, and how well it is known.

The entry is :class:`harness_tui.lsp.pool.LspPool`. Outgoing messages are plain dicts, incoming ones are read by hand
and tolerantly: one odd item of a server must never cost the others.
"""
