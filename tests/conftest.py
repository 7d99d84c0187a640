"""Puts ``tests`` on the path, so that doubles are imported as ``fakes.NAME``; and makes thousands of tests cheaper.

Each worker imports every test module, and a checkout that was never tested has none of them compiled: each worker
compiles its share first, else all would compile all of them at the same time. The garbage collector walks the libraries
of every test again and again: what is there after the collection of the tests is left out of its walks.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.assertion import rewrite

from harness_tui.core.redaction import REDACTOR

TESTS = Path(__file__).parent
sys.path.insert(0, str(TESTS))


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()  # until the tests are collected
    worker = getattr(config, "workerinput", None)
    if worker is not None and not sys.dont_write_bytecode:
        number, count = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
        files = [path for path in TESTS.rglob("*.py") if path.name.startswith("test_") or path.name == "conftest.py"]
        compile_tests(config, sorted(files)[number::count])


def compile_tests(config: pytest.Config, paths: list[Path]) -> None:
    """Write the compiled form that pytest imports ``paths`` in, where it is missing or old."""
    state = config.stash[rewrite.assertstate_key]
    for path in paths:
        compiled = rewrite.get_cache_dir(path) / (path.stem + rewrite.PYC_TAIL)
        if rewrite._read_pyc(path, compiled) is None and rewrite.try_makedirs(compiled.parent):
            stat, code = rewrite._rewrite_test(path, config)
            rewrite._write_pyc(state, code, stat, compiled)


def pytest_collection_finish() -> None:
    gc.enable()
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """A secret that a test has made known is covered in that test alone: all of a worker share one redactor."""
    before = set(REDACTOR._values)
    try:
        return (yield)
    finally:
        if before != REDACTOR._values:
            REDACTOR._values.clear()
            REDACTOR._pattern = None
            for value in before:
                REDACTOR.add(value)
