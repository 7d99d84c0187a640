"""A server that cannot start: it says why on standard error."""

import sys

print("Traceback: something long", file=sys.stderr)
sys.exit("API_TOKEN is not set")
