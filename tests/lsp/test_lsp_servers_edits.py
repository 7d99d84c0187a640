"""Servers of other people, as `make test-servers` installs them: many edits, files that come and go, renames, fixes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from servers.installed import VERDICTS, checked, environment, errors, pool_of, strategies, summary

from harness_tui.core.errors import ToolError
from harness_tui.core.events import DiagnosticsReported
from harness_tui.tools.toolset import BuiltinTools

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("counted")]

BAD_TS, GOOD_TS = 'export const x: number = "t";\n', "export const x: number = 1;\n"
BAD_PY, GOOD_PY = 'x: int = "t"\n', "x: int = 1\n"
ALL = [
    (("ts5",), "typescript-language-server", "a.ts", BAD_TS, GOOD_TS),
    (("ts7",), "typescript", "a.ts", BAD_TS, GOOD_TS),
    (("clangd",), "clangd", "a.c", "int x = y;\n", "int x = 1;\n"),
    (("web",), "json", "a.json", '{"a": 1,}\n', '{"a": 1}\n'),
    (("yaml",), "yaml", "a.yaml", "a: [1\n", "a: [1]\n"),
    (("pyright",), "pyright", "a.py", BAD_PY, GOOD_PY),
    (("pyrefly",), "pyrefly", "a.py", BAD_PY, GOOD_PY),
    ((), "ty", "a.py", BAD_PY, GOOD_PY),
    (("any",), "basedpyright", "a.py", BAD_PY, GOOD_PY),
]
MODULES = [(("pyright",), "pyright"), (("pyrefly",), "pyrefly"), ((), "ty"), (("any",), "basedpyright")]


def name_of(value: Any) -> str | None:
    return value if isinstance(value, str) and "\n" not in value else "" if isinstance(value, tuple) else None


@pytest.mark.parametrize(("kinds", "name", "file", "bad", "good"), ALL, ids=name_of)
async def test_of_five_quick_edits_the_verdict_is_that_of_the_last(bench, kinds, name, file, bad, good):
    pool = pool_of(bench, environment(*kinds), name)
    path = bench.project / file
    await checked(pool, path, good)
    for turn in range(4):
        for number in range(5):
            path.write_text((bad if (number + turn) % 2 else good) + "\n" * number)
            await pool.touch(path)
        verdict = await pool.diagnostics(path)
        assert (verdict.verdict, bool(errors(verdict))) == ("fresh", turn % 2 == 1)


@pytest.mark.parametrize(("kinds", "name", "file", "bad", "good"), ALL, ids=name_of)
async def test_what_a_command_rewrites_counts_with_the_next_question(bench, kinds, name, file, bad, good):
    pool = pool_of(bench, environment(*kinds), name)
    path, other = bench.project / file, bench.project / f"other{Path(file).suffix}"
    assert errors(await checked(pool, path, good)) == []
    assert errors(await checked(pool, other, good)) == []
    (bench.project / "bad").write_text(bad)
    subprocess.run(["sh", "-c", 'cat bad > "$0"', path.name], cwd=bench.project, check=True)
    await pool.touch(other)  # of the file that the command wrote nobody tells us
    verdict = await pool.diagnostics(path)
    assert (verdict.verdict, bool(errors(verdict))) == ("fresh", True)


@pytest.mark.parametrize(("kinds", "name"), MODULES, ids=name_of)
async def test_a_module_comes_changes_its_name_and_goes(bench, kinds, name):
    pool = pool_of(bench, environment(*kinds), name)
    file, module, renamed = (bench.project / f"{word}.py" for word in ("a", "newmod", "othermod"))
    assert errors(await checked(pool, file, "import newmod\n\nprint(newmod.value)\n")) == [1]
    assert errors(await checked(pool, module, "value = 1\n")) == []
    assert errors(await pool.diagnostics(file)) == []
    module.rename(renamed)
    await pool.touch(module)
    await pool.touch(renamed)
    assert errors(await pool.diagnostics(file)) == [1]
    gone = await pool.diagnostics(module)
    assert (gone.verdict, gone.items, gone.reason) == ("skipped", (), "the file is not there")
    assert errors(await checked(pool, file, "import othermod\n\nprint(othermod.value)\n")) == []
    assert module not in pool.open_paths()


async def test_ruff_and_pyright_say_one_thing_together(bench):
    pool = pool_of(bench, environment("pyright"), "pyright", "ruff")
    verdict = await checked(pool, bench.project / "a.py", f"import os\n\n{BAD_PY}")
    assert verdict.verdict == "fresh"
    assert {server.name for server in verdict.servers} == {"pyright", "ruff"}
    assert [(item.line, item.source) for item in verdict.items if item.severity in ("error", "warning")] == [
        (1, "Ruff"),
        (3, "Pyright"),
    ]
    assert len(set(verdict.items)) == len(verdict.items)


async def test_an_error_that_an_edit_makes_elsewhere_is_told_with_the_next_result(bench):
    pool = pool_of(bench, environment("ts7"), "typescript")
    await checked(pool, bench.project / "a.ts", GOOD_TS)
    await checked(pool, bench.project / "b.ts", 'import { x } from "./a";\nexport const y: number = x;\n')
    await checked(pool, bench.project / "a.ts", 'export const x: string = "t";\n')
    await bench.sink.wait_for(DiagnosticsReported, lambda event: event.path == "b.ts", timeout=30.0)
    assert [(late.path, errors(late)) for late in pool.take_late()] == [("b.ts", [2])]


# --- renames and fixes ---------------------------------------------------------------------------


@pytest.fixture
async def call(bench, context):
    """Return a function that calls one of the tools that change files over a pool."""
    made: list[BuiltinTools] = []

    async def run(pool: Any, name: str, **arguments: Any) -> str:
        if len(pool.tools()) == 2:
            made.append(BuiltinTools(bench.registry, pool))
            pool.offer_edits(made[-1].joint)
        (tool,) = [tool for tool in pool.tools() if tool.spec.name == name]
        return (await tool.run(await tool.prepare(arguments, context), context)).output

    yield run
    for one in made:
        await one.close()


TS = ("export function total(): number {\r\n  return 1;\r\n}\r\n", 'const s = "😀é total"; console.log(total());\n')
PY = ("def total() -> int:\r\n    return 1\r\n", 's = "😀é total"; print(total())\n')
C = ("int total(void);\r\n", 'const char *s = "😀é total"; int y(void) { return total(); }\n')
COMMANDS = [{"file": file, "arguments": ["cc", "-c", file]} for file in ("two.c", "three.c")]


@pytest.mark.parametrize(
    ("kinds", "name", "suffix", "texts", "head"),
    [
        (("ts5",), "typescript-language-server", ".ts", TS, 'import { total } from "./one";\n'),
        (("ts7",), "typescript", ".ts", TS, 'import { total } from "./one";\n'),
        (("pyright",), "pyright", ".py", PY, "from one import total\n"),
        (("pyrefly",), "pyrefly", ".py", PY, "from one import total\n"),
        (("any",), "ty", ".py", PY, "from one import total\n"),
        (("any",), "basedpyright", ".py", PY, "from one import total\n"),
        (("clangd",), "clangd", ".c", C, '#include "one.h"\n'),
    ],
    ids=name_of,
)
async def test_a_rename_holds_in_every_file_and_touches_no_other_byte(bench, call, kinds, name, suffix, texts, head):
    one, two = bench.project / f"one{'.h' if suffix == '.c' else suffix}", bench.project / f"two{suffix}"
    third = bench.project / "three.c"
    if suffix == ".c":  # nobody opens this one: it is known from the server's own index
        third.write_text('#include "one.h"\nint total(void) { return 1; }\n')
        (bench.project / "compile_commands.json").write_text(
            json.dumps([{"directory": str(bench.project)} | command for command in COMMANDS])
        )
    if suffix == ".ts":
        (bench.project / "tsconfig.json").write_text('{"compilerOptions": {"strict": true, "lib": ["es2022", "dom"]}}')
    one.write_bytes(texts[0].encode())
    two.write_bytes(f"\ufeff{head}{texts[1]}".encode())
    pool = pool_of(bench, environment(*kinds), name)
    assert errors(await pool.diagnostics(two)) == []
    said = await call(
        pool, "rename", symbol="total", to="amount", path=two.name, line="return total" if suffix == ".c" else "total()"
    )
    assert one.read_bytes().decode() == texts[0].replace("total", "amount")
    expected = f"\ufeff{head}{texts[1]}".replace("total", "amount").replace("😀é amount", "😀é total")
    assert two.read_bytes().decode() == expected
    if suffix == ".c":
        assert third.read_text() == '#include "one.h"\nint amount(void) { return 1; }\n'
    assert said.startswith(f"Changed {3 if suffix == '.c' else 2} files")
    verdict = await pool.diagnostics(two)
    assert (verdict.verdict in ("fresh", "unchanged"), errors(verdict)) == (True, [])
    assert strategies(verdict)[0][0] == name


@pytest.mark.parametrize(
    ("kinds", "name", "file", "text", "line", "title", "mended"),
    [
        (
            ("ts5",),
            "typescript-language-server",
            "a.ts",
            "class A {\r\n  total = 1;\r\n}\r\nexport const x = new A().totl;\r\n",
            4,
            None,
            "class A {\r\n  total = 1;\r\n}\r\nexport const x = new A().total;\r\n",
        ),
        (
            ("clangd",),
            "clangd",
            "a.c",
            "int f(void) {\r\n  return 1\r\n}\r\n",
            3,
            "';'",
            "int f(void) {\r\n  return 1;\r\n}\r\n",
        ),
        (("any",), "ruff", "a.py", "import os\r\nx = 1\r\n", 1, "Remove unused", "x = 1\r\n"),
        (
            ("any",),  # it looks through every package that is installed
            "ty",
            "a.py",
            "\r\nprint(Path())\r\n",
            2,
            "import pathlib.Path",
            "from pathlib import Path\r\n\r\nprint(Path())\r\n",
        ),
    ],
    ids=name_of,
)
async def test_a_quick_fix_mends_what_was_said(bench, call, kinds, name, file, text, line, title, mended):
    path = bench.project / file
    path.write_bytes(text.encode())
    pool = pool_of(bench, environment(*kinds), name)
    arguments = {"path": file, "line": line} | ({} if title is None else {"title": title})
    await call(pool, "quick_fix", **arguments)
    assert path.read_bytes().decode() == mended
    assert errors(await pool.diagnostics(path)) == []
    with pytest.raises(ToolError, match=r"no diagnostic|no server offers"):
        await call(pool, "quick_fix", **arguments)


def test_nearly_every_verdict_of_a_warm_server_is_known():
    if not VERDICTS:
        pytest.skip("no verdict of a warm server was counted in this process")
    assert VERDICTS["fresh"] + VERDICTS["unchanged"] >= 0.95 * VERDICTS.total(), summary()
