"""The environment of commands that nobody watches: what would page, edit or ask for a password ends at once.

Most programs notice that there is no terminal. These are the variables for those that do not, or that would do more.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

VIM_START: Final = Path(__file__).with_name("unattended.vim")
"""What Vim reads first. Only a script of its own ends a Vim that waits for a key which nobody can press."""

UNATTENDED: Final = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "MANPAGER": "cat",
    "GIT_PAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "GH_PAGER": "cat",
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_MERGE_AUTOEDIT": "no",
    "VIMINIT": "source " + re.sub(r"([ \t\\|\"%#<*?\[{`$'])", r"\\\1", str(VIM_START)),
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "SUDO_ASKPASS": "",
    "GCM_INTERACTIVE": "never",
    "GH_PROMPT_DISABLED": "1",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
}
"""Set for the shell tool, for ``!command`` and for shell parts of templates."""
