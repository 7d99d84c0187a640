"""Path patterns, and the names that a sweeping allow does not cover."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness_tui.core.seams import Check, GateDecision
from harness_tui.core.values import Rule
from harness_tui.permissions.matching import Matcher
from harness_tui.permissions.protected import names_protected, protected_name

Decide = Callable[..., GateDecision]

ROOT = Path("/work space/project")
MATCHER = Matcher(ROOT, Path("/home/ada"), fold_case=False)


@pytest.mark.parametrize(
    ("pattern", "value", "fits"),
    [
        ("src/*", "src/a.py", True),
        ("src/*", "src/deep/a.py", True),
        ("src/*", "src", False),
        ("src/*", "lib/src/a.py", False),
        ("*.py", "src/a.py", True),
        ("a.py", "src/a.py", True),
        ("a.py", "src/a.pyc", False),
        ("a?.py", "src/ab.py", True),
        ("src/a.py", "deep/src/a.py", False),
        ("/work space/project/src/*", "src/a.py", True),
        ("/work space/project", ".", True),
        ("/work space/project/*", "/work space/project-2/a.py", False),
        ("~/notes/*", "/home/ada/notes/a.md", True),
        ("~/notes/*", "/home/adam/notes/a.md", False),
        ("~/*", "src/a.py", False),
        ("~", "/home/ada", True),
        ("a~/b", "a~/b", True),
        ("/etc/*", "/etc/hosts", True),
        ("etc/*", "/etc/hosts", False),
        ("hosts", "/etc/hosts", True),
        ("*", "/etc/hosts", True),
        ("src/*", "/work space/project/src/a.py", True),
        ("[ab].py", "a.py", False),
        ("", "a.py", False),
    ],
)
def test_a_path_pattern_is_relative_absolute_or_a_bare_name(pattern: str, value: str, fits: bool) -> None:
    assert MATCHER.fits(Rule("read", pattern, "allow"), Check("read", value)) is fits


def test_a_rule_speaks_of_its_own_permission_only() -> None:
    assert not MATCHER.fits(Rule("edit", "*", "deny"), Check("read", "a.py"))


def test_a_deny_also_counts_through_a_link_and_an_allow_does_not(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "project"
    vault = tmp_path.resolve() / "vault"
    root.mkdir()
    vault.mkdir()
    (root / "secrets").symlink_to(vault)
    matcher = Matcher(root, tmp_path)
    inside = Check("read", f"{vault}/key.txt")
    assert matcher.fits(Rule("read", "secrets/*", "deny"), inside)
    assert matcher.fits(Rule("read", f"{root}/secrets/*", "ask"), inside)
    assert not matcher.fits(Rule("read", "secrets/*", "allow"), inside)
    assert not matcher.fits(Rule("read", "secrets/*", "deny"), Check("read", f"{tmp_path}/other/key.txt"))


def test_a_deny_ignores_case_where_the_file_system_does() -> None:
    folding = Matcher(ROOT, Path("/home/ada"), fold_case=True)
    check = Check("read", "Secrets/KEY.txt")
    assert folding.fits(Rule("read", "secrets/*", "deny"), check)
    assert not folding.fits(Rule("read", "secrets/*", "allow"), check)
    assert not MATCHER.fits(Rule("read", "secrets/*", "deny"), check)


@pytest.mark.parametrize(
    ("permission", "value", "name"),
    [
        ("read", ".env", ".env"),
        ("read", "deep/.ENV", ".ENV"),
        ("read", "deep/server.key", ".key"),
        ("read", ".git/config", None),
        ("read", "a.envy", None),
        ("edit", ".git/hooks/pre-commit", ".git"),
        ("edit", "vendor/lib/.git/config", ".git"),
        ("edit", ".gitignore", None),
        ("edit", ".github/workflows/ci.yml", None),
        ("edit", ".harness/config.yaml", ".harness"),
        ("edit", ".mcp.json", ".mcp.json"),
        ("edit", "/home/ada/.bashrc", ".bashrc"),
        ("edit", "/home/ada/.ssh/config", ".ssh"),
        ("edit", "/home/ada/.config/harness/config.yaml", ".config/harness"),
        ("edit", ".claude/settings.json", ".claude"),
        ("edit", ".envrc", ".env"),
        ("edit", "keys/tls.pem", ".pem"),
        ("edit", "id_rsa.pub", "id_"),
        ("edit", "src/a.py", None),
        ("edit", ".", None),
        ("bash", ".env", None),
    ],
)
def test_protected_names(permission: str, value: str, name: str | None) -> None:
    assert protected_name(MATCHER, Check(permission, value)) == name


def test_the_folders_above_the_project_do_not_make_everything_protected() -> None:
    matcher = Matcher(Path("/home/ada/.claude/project"), Path("/home/ada"))
    assert protected_name(matcher, Check("edit", "src/a.py")) is None


@pytest.mark.parametrize(
    ("pattern", "value", "counts"),
    [
        ("*", ".env", False),
        ("**", ".env", False),
        ("*.*", ".env", False),
        (".*", ".env", False),
        ("*e*", ".env", False),
        (".e*", ".env", False),
        (".env", ".env", True),
        (".env*", "deep/.env.local", True),
        ("deep/.env*", "deep/.env", True),
        ("deep/*", "deep/.env", False),
        ("my.env-files/*", "my.env-files/.env", False),
        ("/work space/project/.env", ".env", True),
        ("*.pem", "tls/server.pem", True),
        ("tls/*", "tls/server.pem", False),
        ("server.*", "tls/server.pem", False),
        ("id_*", "id_rsa", True),
    ],
)
def test_an_allow_on_a_protected_name_counts_only_when_the_pattern_names_it(
    pattern: str, value: str, counts: bool
) -> None:
    assert names_protected(MATCHER, Rule("read", pattern, "allow"), Check("read", value)) is counts


@pytest.mark.parametrize(
    ("pattern", "action"),
    [("*", "ask"), ("**", "ask"), ("*.*", "ask"), (".git/*", "allow"), (".git/**", "allow"), (".gi*", "ask")],
)
def test_a_sweeping_allow_leaves_protected_names_at_ask(decide: Decide, pattern: str, action: str) -> None:
    assert decide("edit", ".git/config", (f"edit {pattern} allow",)).action == action


def test_two_protected_parts_must_both_be_named(decide: Decide) -> None:
    assert decide("edit", ".git/.env", ("edit .git/* allow",)).action == "ask"
    assert decide("edit", ".git/.env", ("edit .git/.env allow",)).action == "allow"


def test_an_earlier_rule_that_names_the_part_is_not_hidden_by_a_later_sweeping_one(decide: Decide) -> None:
    assert decide("edit", ".env", ("edit .env allow", "edit * allow")).action == "allow"
    assert decide("read", ".env", ("read * allow",)).reason == ".env is a protected name"
