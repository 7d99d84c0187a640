"""A server that ignores the end of its input and TERM, and has a child that does the same. PIDS names its pid file."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import peer

signal.signal(signal.SIGTERM, signal.SIG_IGN)
sleeper = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(120)"
child = subprocess.Popen([sys.executable, "-c", sleeper])
Path(os.environ["PIDS"]).write_text(f"{os.getpid()} {child.pid}")
peer.serve(lambda request: peer.answer(request, peer.text("worked")))
time.sleep(120)
