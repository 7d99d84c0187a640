"""The verbs ``config`` and ``trust``: exit codes, JSON, and nothing but results on standard output."""

from __future__ import annotations

import json

import jsonschema
import pytest

from harness_tui.cli.app import run_verb

CONFIG = "mcp: {time: {command: [clock], env: {API_KEY: swordfish-1}}}\nproviders: {p: {kind: openai, api_key: sk}}\n"


@pytest.fixture
def harness(world, capsys, monkeypatch):
    """Run a verb in the project; returns exit code, standard output, standard error."""
    monkeypatch.chdir(world.root)
    monkeypatch.delenv("HARNESS_CONFIG", raising=False)
    monkeypatch.delenv("HARNESS_MODEL", raising=False)
    monkeypatch.delenv("HARNESS_AGENT", raising=False)

    def run(*arguments: str) -> tuple[int, str, str]:
        code = run_verb(list(arguments))
        output = capsys.readouterr()
        return code, output.out, output.err

    return run


def test_show_gives_every_value_with_its_source_and_no_secret(world, harness):
    path = world.write_user(CONFIG)
    code, out, err = harness("config", "show", "--json")
    rows = {row["key"]: row for row in json.loads(out)}
    assert (code, err) == (0, "")
    assert rows["agent"] == {"key": "agent", "value": "build", "state": "used", "source": "default"}
    assert rows["mcp.time.command"] == {
        "key": "mcp.time.command", "value": ["clock"], "state": "used", "source": f"{path}:1",
    }  # fmt: skip
    assert rows["mcp.time.env.API_KEY"]["value"] == rows["providers.p.api_key"]["value"] == "[redacted]"
    assert "swordfish" not in harness("config", "show")[1]


def test_show_leaves_out_what_is_secret_in_an_address(world, harness):
    world.write_user('mcp: {docs: {url: "http://h/mcp?project=blue&api_key=swordfish&page=2"}}\n')
    rows = {row["key"]: row["value"] for row in json.loads(harness("config", "show", "--json")[1])}
    assert rows["mcp.docs.url"] == "http://h/mcp?project=blue&api_key=[redacted]&page=2"


def test_check_is_0_for_a_valid_configuration_and_1_with_an_error(world, harness):
    world.write_user(CONFIG)
    assert harness("config", "check", "--json")[:2] == (0, "[]\n")
    path = world.write_user("modle: x\n")
    code, out, _ = harness("config", "check", "--json")
    [row] = json.loads(out)
    assert code == 1
    assert (row["level"], row["code"], row["where"]) == ("error", "unknown-key", f"{path}:1")
    assert set(row) == {"level", "code", "where", "message", "mend"}
    assert f"{path}:1: error: unknown key 'modle'" in harness("config", "check")[1]


def test_a_warning_alone_is_no_failure(world, harness):
    world.write(".harness/config.yaml", "model: a/b\n")
    code, out, _ = harness("config", "check", "--json")
    assert code == 0
    assert [row["code"] for row in json.loads(out)] == ["untrusted"]


def test_check_tells_of_keys_that_cannot_count_with_their_line(world, harness):
    path = world.write_user("tui:\n  keys:\n    help: f12\n    toggle-panel: f12\n    nosuch: f10\n")
    code, out, _ = harness("config", "check", "--json")
    told = {(row["where"], row["message"]) for row in json.loads(out)}
    assert code == 0
    assert told == {
        (f"{path}:4", "tui.keys.toggle-panel: f12 is the key of help already"),
        (f"{path}:5", "tui.keys.nosuch: no such action"),
    }


def test_a_named_file_that_cannot_be_read_is_exit_2(world, harness, monkeypatch):
    monkeypatch.setenv("HARNESS_CONFIG", str(world.root / "gone.yaml"))
    code, out, err = harness("config", "show")
    assert (code, out) == (2, "")
    assert "gone.yaml" in err


def test_the_schema_accepts_what_is_accepted_and_refuses_the_rest(harness):
    code, out, _ = harness("config", "schema")
    schema = json.loads(out)
    assert code == 0
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    good = {
        "model": "a/b",
        "permission": [{"permission": "bash", "pattern": "x", "action": "allow"}],
        "mcp": {"a": {"command": ["x"], "timeout": {"start": 30}}},
        "lsp": {"wait_ms": 1500, "servers": {"ty": {"command": ["ty", "server"]}}},
        "agents": {"r": {"tools": {"edit": False, "skill": ["review-*"]}}},
    }
    assert list(validator.iter_errors(good)) == []
    for bad in (
        {"modle": 1},
        {"mode": "yolo"},
        {"mcp": {"a": {"command": "x"}}},
        {"permission": [{"action": "allow"}]},
    ):
        assert list(validator.iter_errors(bad)), bad


def test_path_lists_the_files_in_rising_precedence(world, harness):
    world.write_user("")
    code, out, _ = harness("config", "path", "--json")
    rows = [(row["layer"], row["exists"]) for row in json.loads(out)]
    assert code == 0
    assert rows == [("user", True), ("servers", False), ("project", False), ("local", False)]


def test_naming_the_folder_is_the_consent_without_a_terminal(world, harness):
    world.write(".harness/commands/a.md", "Do !`ls`.")
    code, out, _ = harness("trust", str(world.root), "--json")
    data = json.loads(out)
    assert code == 0
    assert (data["path"], data["trusted"]) == (str(world.root), True)
    assert [(row["path"], row["change"]) for row in data["files"]] == [(".harness/commands/a.md", "new")]
    assert world.store.status(world.project).trusted
    assert json.loads(harness("trust", ".", "--json")[1])["files"][0]["change"] == "same"


def test_without_a_terminal_and_without_a_name_nothing_is_trusted(world, harness):
    world.write(".harness/commands/a.md", "Do !`ls`.")
    code, out, err = harness("trust")
    assert (code, out) == (2, "")
    assert "name the folder" in err
    assert not world.store.status(world.project).trusted
    assert harness("trust", "--yes")[0] == 0
    assert world.store.status(world.project).trusted


def test_trust_is_taken_back(world, harness):
    world.write(".harness/commands/a.md", "Do !`ls`.")
    harness("trust", ".")
    code, out, _ = harness("trust", "--revoke", "--json")
    assert code == 0
    assert json.loads(out)["trusted"] is False
    assert not world.store.status(world.project).trusted


@pytest.mark.parametrize(("answer", "expected"), [("y\n", 0), ("n\n", 3), ("\n", 3)])
def test_at_a_terminal_the_list_is_shown_and_asked(world, harness, monkeypatch, answer, expected):
    import io
    import sys

    class FakeTerminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    world.write(".harness/commands/a.md", "Do !`ls`.")
    monkeypatch.setattr(sys, "stdin", FakeTerminal(answer))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda prompt: answer.strip())
    code, out, err = harness("trust")
    assert code == expected
    assert "a.md (new): command runs: ls" in err
    assert world.store.status(world.project).trusted is (expected == 0)
    assert ("trusted" in out) is (expected == 0)


def test_trust_names_the_project_root_when_started_below_it(world, harness):
    (world.root / "sub").mkdir()
    world.write(".harness/commands/a.md", "Do !`ls`.")
    assert json.loads(harness("trust", "sub", "--json")[1])["path"] == str(world.root)


def test_a_folder_that_is_not_there_is_exit_2(harness):
    code, out, err = harness("trust", "gone")
    assert (code, out) == (2, "")
    assert "gone" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("tools", "list", "--no-start"),
        ("mcp", "list", "--no-start"),
        ("mcp", "tools", "--no-start"),
        ("lsp", "list"),
        ("models", "list"),
        ("permissions", "list"),
        ("permissions", "explain", "read", '{"path": "a"}'),
        ("commands", "list"),
        ("skills", "list"),
    ],
)
def test_a_fault_in_the_configuration_is_told_by_every_verb_that_reads_it(world, harness, arguments):
    path = world.write(".harness/config.yaml", "# ours\nmodle: x\n")
    code, out, err = harness(*arguments, "--json")
    assert code == 0
    json.loads(out)
    assert f"{path}:2: error: unknown key 'modle' (did you mean 'mode'?)" in err
