"""A server that cannot start, so that the tour shows how Harness tells of it."""

import sys

sys.stderr.write("printer: no receipt printer at /dev/ttyS9\n")
sys.exit(1)
