"""Puts ``tests`` on the path, so that doubles are imported as ``fakes.NAME``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
