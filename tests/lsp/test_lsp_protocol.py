"""What we send fits the protocol's own types, and what servers answer is read as they mean it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lsprotocol import converters, types

from harness_tui.lsp.built_in import BUILT_IN
from harness_tui.lsp.protocol import configuration, initialize_params, read_abilities
from harness_tui.lsp.refactoring import Refactoring
from harness_tui.lsp.watching import CREATED, wanted

METHODS = {
    "initialize": types.InitializeRequest,
    "initialized": types.InitializedNotification,
    "shutdown": types.ShutdownRequest,
    "exit": types.ExitNotification,
    "textDocument/didOpen": types.DidOpenTextDocumentNotification,
    "textDocument/didChange": types.DidChangeTextDocumentNotification,
    "textDocument/didSave": types.DidSaveTextDocumentNotification,
    "textDocument/didClose": types.DidCloseTextDocumentNotification,
    "textDocument/diagnostic": types.DocumentDiagnosticRequest,
    "textDocument/prepareRename": types.PrepareRenameRequest,
    "textDocument/rename": types.RenameRequest,
    "textDocument/codeAction": types.CodeActionRequest,
    "codeAction/resolve": types.CodeActionResolveRequest,
    "workspace/didChangeWatchedFiles": types.DidChangeWatchedFilesNotification,
    "workspace/didChangeConfiguration": types.DidChangeConfigurationNotification,
    "$/cancelRequest": types.CancelNotification,
}


def test_initialize_survives_the_protocol_s_own_types_without_loss():
    converter = converters.get_converter()
    params = initialize_params(BUILT_IN[0], Path("/a b"))
    back = converter.unstructure(converter.structure(params, types.InitializeParams))

    def kept(ours, theirs, where):
        if isinstance(ours, dict) and ours:
            for key, value in ours.items():
                assert key in theirs, f"{where}.{key} is no field of the protocol"
                kept(value, theirs[key], f"{where}.{key}")
        else:
            assert ours == theirs, where

    kept(params, back, "initialize")
    assert params["rootUri"] == "file:///a%20b"


async def test_every_message_of_a_session_fits_the_protocol_s_own_types(bench, scripted):
    span = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}}
    edit = {"changes": {(bench.project / "a.txt").as_uri(): [{"range": span, "newText": "GOOD"}]}}
    actions = {"actions": [{"title": "Mend", "data": 1}], "resolve": {"title": "Mend", "edit": edit}}
    server = scripted(save=True, pull="late", push=True, rename="words", prepare={"defaultBehavior": True}, **actions)
    file = bench.project / "a.txt"
    file.write_text("BAD\n")
    pool = bench.pool(server)
    await pool.diagnostics(file)
    await Refactoring(pool).rename(file, "BAD", None, "GOOD")
    await Refactoring(pool).fix(file, "1", None, 5.0)
    file.write_text("BAD BAD\n")
    await pool.diagnostics(file)
    file.unlink()
    await pool.diagnostics(file)
    await pool.close()

    converter = converters.get_converter()
    sent = [message for message in server.received() if "method" in message]
    for message in sent:
        converter.structure(json.loads(json.dumps(message)), METHODS[message["method"]])
    assert {message["method"] for message in sent} >= set(METHODS) - {"$/cancelRequest"}


@pytest.mark.parametrize(
    ("item", "value"),
    [
        ({"section": "a"}, {"b": 1, "c": None}),
        ({"section": "a.b"}, 1),
        ({"section": "a.c"}, None),
        ({"section": "a.x"}, None),
        ({"section": "a.b.c"}, None),
        ({"section": "d.e"}, 2),
        ({"section": ""}, {"a": {"b": 1, "c": None}, "d.e": 2}),
        ({"scopeUri": ""}, {"a": {"b": 1, "c": None}, "d.e": 2}),
        (None, {"a": {"b": 1, "c": None}, "d.e": 2}),
    ],
)
def test_a_section_of_the_configuration_is_found_by_its_dotted_name(item, value):
    assert configuration({"a": {"b": 1, "c": None}, "d.e": 2}, {"items": [item, item]}) == [value, value]


def test_a_configuration_request_without_items_gets_an_empty_list():
    assert configuration({}, None) == []


@pytest.mark.parametrize(
    ("capabilities", "encoding", "saves", "identifiers"),
    [
        ({}, "utf-16", False, ()),
        ({"positionEncoding": "utf-8"}, "utf-8", False, ()),
        ({"positionEncoding": "klingon"}, "utf-16", False, ()),
        ({"textDocumentSync": 1}, "utf-16", False, ()),
        ({"textDocumentSync": {"save": True}}, "utf-16", True, ()),
        ({"textDocumentSync": {"save": {"includeText": False}}}, "utf-16", True, ()),
        ({"textDocumentSync": {"save": False}}, "utf-16", False, ()),
        ({"diagnosticProvider": {"identifier": "x"}}, "utf-16", False, ("x",)),
        ({"diagnosticProvider": {}}, "utf-16", False, (None,)),
        ({"diagnosticProvider": None}, "utf-16", False, ()),
    ],
)
def test_abilities_are_read_from_the_answer(capabilities, encoding, saves, identifiers):
    abilities = read_abilities({"capabilities": capabilities})
    assert (abilities.encoding, abilities.saves, abilities.identifiers) == (encoding, saves, identifiers)


@pytest.mark.parametrize("result", [None, [], {"capabilities": None}, {"capabilities": 3}])
def test_an_answer_of_no_known_shape_is_a_server_without_abilities(result):
    assert read_abilities(result).identifiers == ()


def test_registrations_come_and_go():
    abilities = read_abilities({})
    abilities.register(
        {
            "registrations": [
                {"id": "1", "method": "textDocument/diagnostic", "registerOptions": {"identifier": "a"}},
                {"id": "2", "method": "textDocument/diagnostic"},
                {"id": "3", "method": "textDocument/didSave"},
                {"id": "4", "method": "workspace/symbol"},
                "nonsense",
            ]
        }
    )
    assert (abilities.identifiers, abilities.saves) == (("a", None), True)
    abilities.unregister({"unregisterations": [{"id": "1", "method": "textDocument/diagnostic"}]})
    assert abilities.identifiers == (None,)


def test_a_second_set_of_watchers_under_the_same_id_comes_to_the_first(tmp_path):
    abilities = read_abilities({})
    for pattern in ("*.py", "*.toml", "*.py"):
        options = {"watchers": [{"globPattern": pattern}]}
        entry = {"id": "FILES", "method": "workspace/didChangeWatchedFiles", "registerOptions": options}
        abilities.register({"registrations": [entry]})
    assert len(abilities.all_watchers) == 2
    assert wanted(abilities.all_watchers, tmp_path / "a.py", CREATED, tmp_path)
    abilities.unregister({"unregisterations": [{"id": "FILES"}]})
    assert abilities.all_watchers == []
