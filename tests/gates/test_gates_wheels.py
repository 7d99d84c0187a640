"""Nothing is built on a person's machine: every dependency is pinned, and installed from a wheel."""

from __future__ import annotations

import json
import re
from importlib.metadata import Distribution
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

PINNED = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^\]]+\])?==([A-Za-z0-9.!+_-]+)(?:\s*;.*)?")


def pins(text: str) -> dict[str, str]:
    """Return name and version of every line. Raises ``ValueError`` for a line that is not an exact pin."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        stripped = line.partition("#")[0].strip()
        if not stripped:
            continue
        match = PINNED.fullmatch(stripped)
        if match is None:
            raise ValueError(f"not an exact pin: {line}")
        found[canonicalize_name(match[1])] = match[2]
    return found


def installs_without_wheels_only(makefile: str) -> list[str]:
    """Return the commands that install something other than the installer itself and may build it."""
    commands = [line.strip() for line in makefile.replace("\\\n", " ").splitlines() if "pip install" in line]
    of_the_installer = re.compile(r"--upgrade '?pip[^ ]*$")
    return [line for line in commands if "--only-binary :all:" not in line and not of_the_installer.search(line)]


def built_here(wheel: str, direct_url: str | None) -> str | None:
    """Say how a distribution's metadata show that it was built on this machine; ``None`` when they do not.

    An index takes no wheel with the bare tag of a Linux machine: such a tag is what a local build leaves.
    """
    tags = re.findall(r"^Tag: (.+)$", wheel, re.MULTILINE)
    if not tags:
        return "no wheel"
    if any(re.search(r"-linux_\w+$", tag) for tag in tags):
        return f"the tag {tags[0]}"
    source = json.loads(direct_url) if direct_url else {}
    if "vcs_info" in source or "dir_info" in source:
        return f"the source {source.get('url')}"
    if str(source.get("url", "x.whl")).endswith(".whl"):
        return None
    return f"the source {source.get('url')}"


def test_the_makefile_installs_wheels_only(root: Path) -> None:
    makefile = (root / "Makefile").read_text()
    assert makefile.count("--only-binary :all:") >= 2
    assert installs_without_wheels_only(makefile) == []


def test_every_dependency_is_pinned_to_the_version_that_is_installed(
    root: Path, everything: dict[str, Distribution]
) -> None:
    pinned = pins((root / "constraints.txt").read_text())
    differing = {
        name: f"installed {one.version}, pinned {pinned.get(name)}"
        for name, one in everything.items()
        if pinned.get(name) != one.version
    }
    assert differing == {}


def test_the_pins_name_no_index(root: Path) -> None:
    text = (root / "constraints.txt").read_text()
    assert not re.search(r"://|^\s*-|\s@\s", text, re.MULTILINE)


def test_no_installed_dependency_was_built_here(everything: dict[str, Distribution]) -> None:
    built = {
        name: how
        for name, one in everything.items()
        if (how := built_here(one.read_text("WHEEL") or "", one.read_text("direct_url.json"))) is not None
    }
    assert built == {}


@pytest.mark.parametrize(
    ("line", "bad"),
    [
        ("\t@pip install --only-binary :all: -c constraints.txt x", False),
        ("\t@pip install --quiet --upgrade 'pip>=25.1'", False),
        ("\t@pip install -c constraints.txt x", True),
        ("\t@pip install \\\n\t  x", True),
    ],
)
def test_a_seeded_install_that_may_build_is_found(line: str, bad: bool) -> None:
    assert bool(installs_without_wheels_only(line)) is bad


@pytest.mark.parametrize("line", ["a>=1", "a", "a==1 --hash=sha256:00", "a @ file:///x.whl", "-r other.txt"])
def test_a_seeded_line_that_is_no_pin_is_refused(line: str) -> None:
    assert pins("a==1.0  # why\n\nB.c==2\n") == {"a": "1.0", "b-c": "2"}
    with pytest.raises(ValueError, match="not an exact pin"):
        pins(line)


@pytest.mark.parametrize(
    ("wheel", "direct_url", "how"),
    [
        ("Tag: py3-none-any\n", None, None),
        ("Tag: cp311-cp311-manylinux_2_17_x86_64\n", None, None),
        ("Tag: cp311-cp311-linux_x86_64\n", None, "the tag cp311-cp311-linux_x86_64"),
        ("", None, "no wheel"),
        ("Tag: py3-none-any\n", '{"url": "file:///x", "dir_info": {}}', "the source file:///x"),
        ("Tag: py3-none-any\n", '{"url": "file:///x.tar.gz", "archive_info": {}}', "the source file:///x.tar.gz"),
        ("Tag: py3-none-any\n", '{"url": "file:///x.whl", "archive_info": {}}', None),
    ],
)
def test_a_seeded_local_build_is_found(wheel: str, direct_url: str | None, how: str | None) -> None:
    assert built_here(wheel, direct_url) == how
