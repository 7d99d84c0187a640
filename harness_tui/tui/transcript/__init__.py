"""The transcript: a plain model of blocks, their drawing as styled lines, and one widget that shows them."""
