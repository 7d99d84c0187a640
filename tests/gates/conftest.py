"""What the gates look at: the checkout, its settings, and what is installed."""

from __future__ import annotations

import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]


def closure(requirements: list[str]) -> dict[str, Distribution]:
    """Return the installed distributions that ``requirements`` lead to, by name."""
    found: dict[str, Distribution] = {}
    seen: set[tuple[str, str]] = set()
    todo = [(Requirement(text), "") for text in requirements]
    while todo:
        requirement, extra = todo.pop()
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        for wanted in ("", *sorted(requirement.extras)):
            if (name, wanted) in seen:
                continue
            seen.add((name, wanted))
            try:
                found[name] = distribution(name)
            except PackageNotFoundError:
                pytest.fail(f"{name} is required and not installed: run make setup")
            todo += [(Requirement(text), wanted) for text in found[name].requires or ()]
    return found


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def project() -> dict[str, Any]:
    """``pyproject.toml`` as data."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.fixture(scope="session")
def runtime(project: dict[str, Any]) -> dict[str, Distribution]:
    """What everybody gets who installs the product."""
    return closure(project["project"]["dependencies"])


def is_installed(requirement: str) -> bool:
    """Tell whether the distribution that ``requirement`` names is installed."""
    try:
        distribution(Requirement(requirement).name)
    except PackageNotFoundError:
        return False
    return True


@pytest.fixture(scope="session")
def extras(project: dict[str, Any]) -> dict[str, list[str]]:
    """The requirements of each extra, by its name."""
    return project["project"].get("optional-dependencies", {})


@pytest.fixture(scope="session")
def missing_extras(extras: dict[str, list[str]]) -> list[str]:
    """The names of extras that are not installed here."""
    return [name for name, texts in extras.items() if not all(map(is_installed, texts))]


@pytest.fixture(scope="session")
def everything(project: dict[str, Any], extras: dict[str, list[str]]) -> dict[str, Distribution]:
    """The same with the development group and every extra that is installed here; ``demo`` is one."""
    wanted = [text for name, texts in extras.items() for text in texts if name == "demo" or is_installed(text)]
    return closure([*project["project"]["dependencies"], *wanted, *project["dependency-groups"]["dev"]])
