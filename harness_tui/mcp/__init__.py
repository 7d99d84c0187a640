"""Servers of the Model Context Protocol: started, watched and offered as tools and prompts.

``pool`` is the entry; everything else stands behind it. The SDK costs half a second to import, so only ``connection``
and the transports know it, and they are imported in a thread when the first server starts.
"""
