"""Makes the home fixture known, and its module importable by the tests beside it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from e2e_home import home  # noqa: F401
