"""Servers of other people, as `make test-servers` installs them: what each one really does after an edit.

Without an installation every test is skipped with the command that would make one, or with the one that failed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from servers.installed import COLD_S, WARM_S, checked, environment, errors, pool_of, strategies

from harness_tui.core.events import DiagnosticsReported

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("counted")]


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, str]]:
    """Return an environment with the named installations, which is also that of the test; skip without them."""

    def environ(*kinds: str) -> dict[str, str]:
        found = environment(*kinds)
        monkeypatch.setenv("PATH", found["PATH"])
        return found

    return environ


@pytest.mark.parametrize(
    ("kind", "name", "strategy"),
    [("ts5", "typescript-language-server", "tsserver"), ("ts7", "typescript", "pull")],
)
async def test_typescript_is_exact_after_every_edit_and_never_times_out(bench, servers, kind, name, strategy):
    environ = servers(kind)
    (bench.project / "tsconfig.json").write_text('{"compilerOptions": {"strict": true}}')
    file = bench.project / "a.ts"
    pool = pool_of(bench, environ, "typescript", "typescript-language-server")
    first = await checked(pool, file, 'const s = "😀é漢"; export const x: number = "t";\n')
    assert (first.verdict, strategies(first)) == ("fresh", [(name, strategy)])
    assert [(item.line, item.column, item.code) for item in first.items if item.severity == "error"] == [
        (1, 31, "2322")
    ]
    for number in range(10):  # from clean to clean: nothing is pushed for these
        verdict = await checked(pool, file, f"export const x: number = {number};\n")
        assert (verdict.verdict, errors(verdict)) == ("fresh", [])
    broken = await checked(pool, file, "export const x: number = ;\n")
    assert (broken.verdict, errors(broken)) == ("fresh", [1])

    other = bench.project / "b.ts"
    user = await checked(pool, other, 'import {x} from "./a";\nexport const y: string = x;\n')
    assert errors(user) == [2]
    await checked(pool, file, 'export const x: string = "t";\n')
    mended = await bench.sink.wait_for(
        DiagnosticsReported, lambda event: event.path == "b.ts" and not event.items, timeout=30.0
    )
    assert mended.late
    assert errors(await pool.diagnostics(other)) == []
    file.unlink()
    await pool.touch(file)
    assert errors(await pool.diagnostics(other)) == [1]


async def test_the_typescript_that_a_server_cannot_use_is_named(bench, servers):
    environ = servers("ts7", "ts5")  # tsc of version 7 comes first on PATH
    pool = pool_of(bench, environ, "typescript", "typescript-language-server")
    states = {entry.name: (entry.state, entry.reason) for entry in pool.status()}
    assert states["typescript"][0] == "stopped"
    assert states["typescript-language-server"][0] == "absent"
    assert "it works with TypeScript older than 7" in str(states["typescript-language-server"][1])


async def test_clangd_tells_what_a_changed_header_breaks_and_what_mends_it(bench, servers):
    pool = pool_of(bench, servers("clangd"), "clangd")
    header, file = bench.project / "b.h", bench.project / "a.c"
    header.write_text("int f(int);\n")
    text = '#include "b.h"\nint main(void) { return f(1); }\n'
    first = await checked(pool, file, text)
    assert (first.verdict, errors(first), strategies(first)) == ("fresh", [], [("clangd", "push until idle")])
    same = await checked(pool, file, text)
    assert (same.verdict, errors(same)) == ("unchanged", [])
    for number in range(6):
        broken = number % 2 == 0
        if number > 2:
            await pool.diagnostics(header)  # open as well from now on
        await checked(pool, header, f"int f(int{', int' if broken else ''});\n")
        verdict = await pool.diagnostics(file)
        assert (verdict.verdict, errors(verdict)) == ("fresh", [2] if broken else [])


@pytest.mark.parametrize(
    ("kinds", "name", "file", "bad", "good", "strategy"),
    [
        (("web",), "json", "a.json", '{"a": 1,}\n', '{"a": 1}\n', "pull"),
        (("web",), "css", "a.css", "a { color: ; }\n", "a { color: red; }\n", "pull"),
        (("yaml",), "yaml", "a.yaml", "a: [1\n", "a: [1]\n", "push"),
        (("bash", "shellcheck"), "bash", "a.sh", "#!/bin/sh\nif true; then\n", '#!/bin/sh\necho "$1"\n', "push"),
        (("pyright",), "pyright", "a.py", 'x: int = "t"\n', "x: int = 3\n", "pull"),
        (("pyrefly",), "pyrefly", "a.py", 'x: int = "t"\n', "x: int = 3\n", "push"),
    ],
)
async def test_an_error_comes_and_goes_with_the_text(bench, servers, kinds, name, file, bad, good, strategy):
    pool = pool_of(bench, servers(*kinds), name)
    path = bench.project / file
    for text, wrong in ((bad, True), (good, False), (bad, True), (bad + "\n", True), (good, False)):
        verdict = await checked(pool, path, text)
        assert (verdict.verdict, bool(errors(verdict))) == ("fresh", wrong)
        assert strategies(verdict) == [(name, strategy)]
    assert (await pool.diagnostics(path)).verdict == "unchanged"


async def test_a_shell_script_without_the_checker_is_skipped_and_not_called_clean(bench, servers):
    environ = servers("bash")
    (bench.project / "a.sh").write_text("if true; then\n")
    pool = pool_of(bench, environ | {"PATH": environ["PATH"].split(os.pathsep)[0]}, "bash")
    verdict = await pool.diagnostics(Path("a.sh"))
    assert verdict.verdict == "skipped"
    assert "shellcheck, which finds the errors, was not found" in str(verdict.reason)


@pytest.mark.parametrize(
    ("kind", "names", "suffix", "text"),
    [
        ("ts5", ("typescript-language-server",), ".ts", "export const x: number = 't';\n"),
        ("ts7", ("typescript",), ".ts", "export const x: number = 't';\n"),
        ("clangd", ("clangd",), ".c", "int x = ;\n"),
        ("pyrefly", ("pyrefly",), ".py", "x: int = 't'\n"),
        ("web", ("json",), ".json", '{"a": 1,}\n'),
    ],
)
async def test_odd_names_belong_to_the_file_that_was_asked_about(bench, servers, tmp_path, kind, names, suffix, text):
    environ = servers(kind)
    link = tmp_path / "li nk"
    link.symlink_to(bench.project)
    file = f"a é漢 # %41 +@[x]{suffix}"
    (bench.project / file).write_text(text)
    pool = bench.pool(built_in=names, environ=environ, wait=WARM_S, cold_wait=COLD_S, root=link)
    verdict = await pool.diagnostics(Path(file))
    assert (verdict.path, verdict.verdict, errors(verdict)) == (file, "fresh", [1])


async def test_all_of_them_end_with_the_pool(bench, servers):
    environ = servers("ts5", "clangd", "web", "yaml", "pyright")
    names = ("typescript-language-server", "clangd", "json", "css", "html", "yaml", "pyright")
    pool = pool_of(bench, environ, *names)
    for file, text in (("a.ts", "let a = 1;\n"), ("a.c", "int a;\n"), ("a.json", "{}\n"), ("a.css", "\n")):
        (bench.project / file).write_text(text)
    for file, text in (("a.html", "<p>\n"), ("a.yaml", "a: 1\n"), ("a.py", "a = 1\n")):
        (bench.project / file).write_text(text)
    for file in sorted(bench.project.iterdir()):
        await pool.touch(file)
    for file in ("a.ts", "a.c"):
        assert (await pool.diagnostics(Path(file))).verdict == "fresh"
    pids = [entry.pid for entry in pool.status() if entry.pid is not None]
    assert len(pids) >= 2
    await pool.close()
    assert [pid for pid in pids if psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie"] == []
