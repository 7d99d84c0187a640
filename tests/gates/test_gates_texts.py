"""The repository speaks of the product alone: no path of one machine, no address of a package index."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

# Written in pieces, so that this file is not its own finding.
FORBIDDEN = re.compile(
    "|".join(
        [
            r"(?<![\w.])/wo" + r"rk/(?:main|shared)",
            r"/tmp/br" + r"ief",
            r"(?<![\w.])/ho" + r"me/(?!adam?\b|user\b|you\b|me\b)[a-z][\w.-]*/",
            r"/Us" + r"ers/[A-Za-z]",
            r"py" + r"pi\.org",
            r"python" + r"hosted\.org",
            r"npm" + r"js\.(?:org|com)",
            r"artif" + r"actory|nexus\.[a-z]",
            r"index" + r"-url",
        ]
    ),
    re.IGNORECASE,
)


def texts(root: Path) -> list[Path]:
    done = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root, capture_output=True, timeout=60, check=False
    )
    if done.returncode:
        pytest.skip("not a checkout")
    return [root / name for name in done.stdout.decode().split("\0") if name]


def findings(text: str) -> list[str]:
    return [match.group() for match in FORBIDDEN.finditer(text)]


def test_no_file_names_a_machine_or_an_index(root: Path) -> None:
    found: dict[str, list[str]] = {}
    for path in texts(root):
        if not path.is_file():
            continue
        data = path.read_bytes()
        if b"\0" in data:
            continue
        if hits := findings(data.decode("utf-8", "replace")):
            found[path.relative_to(root).as_posix()] = hits
    assert found == {}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see /wo" + "rk/main/docs", True),
        ("/ho" + "me/someone/project", True),
        ("/home/ada/notes", False),
        ("https://py" + "pi.org/simple", True),
        ("--index" + "-url x", True),
        ("work/main and homework/maine", False),
    ],
)
def test_a_seeded_mention_is_found(text: str, found: bool) -> None:
    assert bool(findings(text)) is found


def test_every_relative_link_of_the_documents_leads_somewhere(root: Path) -> None:
    broken: list[str] = []
    for path in [*root.glob("*.md"), *(root / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text()):
            if "://" not in target and not target.startswith("mailto:") and not (path.parent / target).exists():
                broken.append(f"{path.relative_to(root)}: {target}")
    assert broken == []
