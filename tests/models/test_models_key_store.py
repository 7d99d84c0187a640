"""Stored keys: where they are, whom they are given to, and keyrings that are missing, locked or silent."""

from __future__ import annotations

import json
import stat
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness_tui.config.places import Places
from harness_tui.core.errors import HarnessError
from harness_tui.core.redaction import redact
from harness_tui.models import keyring_store
from harness_tui.models.key_store import KeyStore, origin
from harness_tui.models.providers import KEY_PROVIDERS, hosted

KEY = "test-key-0123456789"
OPENAI = "https://api.openai.com/v1/"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KeyStore:
    monkeypatch.setattr(keyring_store, "usable", lambda **_: None)
    return KeyStore(Places.from_environment({"HOME": str(tmp_path)}))


class FakeKeyring:
    """A back end of the keyring library."""

    name = "fake"
    priority = 5.0

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.fault: Exception | None = None
        self.forgets = False
        self.silent: threading.Event | None = None

    def get_keyring(self) -> FakeKeyring:
        return self

    def _work(self) -> None:
        if self.silent is not None:
            self.silent.wait(20)
        if self.fault is not None:
            raise self.fault

    def get_password(self, service: str, name: str) -> str | None:
        self._work()
        return self.kept.get((service, name))

    def set_password(self, service: str, name: str, password: str) -> None:
        self._work()
        if not self.forgets:
            self.kept[service, name] = password

    def delete_password(self, service: str, name: str) -> None:
        self._work()
        del self.kept[service, name]


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeKeyring]:
    fake: Any = FakeKeyring()
    monkeypatch.setitem(sys.modules, "keyring", fake)
    monkeypatch.setattr(keyring_store, "installed", lambda: True)
    yield fake
    if fake.silent is not None:
        fake.silent.set()


@pytest.fixture
def ringed(tmp_path: Path, ring: FakeKeyring) -> KeyStore:
    return KeyStore(Places.from_environment({"HOME": str(tmp_path)}))


def text_of(store: KeyStore) -> str:
    return Path(store.path).read_text()


def test_without_a_keyring_the_key_is_in_a_file_of_the_person_alone(store: KeyStore) -> None:
    assert store.all() == {}
    added = store.add("openai", KEY, OPENAI)
    assert (added.provider, added.kept, added.base_url) == ("openai", "file", OPENAI)
    assert stat.S_IMODE(Path(store.path).stat().st_mode) == 0o600
    assert stat.S_IMODE(Path(store.path).parent.stat().st_mode) == 0o700
    assert store.key("openai") == KEY
    assert store.all() == {"openai": added}
    assert KEY not in repr(added)
    assert not store.wide_open()
    assert redact(f"the key {KEY} leaks") == "the key [redacted] leaks"


def test_a_new_key_takes_the_place_of_the_old_one_and_removing_removes(store: KeyStore) -> None:
    store.add("openai", "old-key-00000000", OPENAI)
    store.add("google", "its-key-00000000", "https://g.test/v1")
    store.add("openai", KEY, OPENAI)
    assert "old-key" not in text_of(store)
    assert store.remove("openai") is not None
    assert store.remove("openai") is None
    assert list(store.all()) == ["google"]
    assert KEY not in text_of(store)
    with pytest.raises(HarnessError, match="harness auth add openai"):
        store.key("openai")


def test_many_writers_lose_nothing(store: KeyStore) -> None:
    threads = [
        threading.Thread(target=store.add, args=(f"p{number}", f"key-{number:08}", "http://h/v1"))
        for number in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(store.all()) == sorted(f"p{number}" for number in range(12))


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"version": 2, "keys": {}}', '{"version": 1, "keys": {"a": {"kept": "file"}}}', "[" * 5000]
)
def test_a_damaged_file_is_told_and_never_written_over(store: KeyStore, text: str) -> None:
    store.add("openai", KEY, OPENAI)
    Path(store.path).write_text(text)
    for ask in (store.all, lambda: store.add("openai", KEY, OPENAI), lambda: store.remove("openai")):
        with pytest.raises(HarnessError, match="move it away") as raised:
            ask()
        assert raised.value.where == store.path
    assert text_of(store) == text


def test_a_file_that_others_may_read_is_noticed_and_mended_by_the_next_write(store: KeyStore) -> None:
    store.add("openai", KEY, OPENAI)
    Path(store.path).chmod(0o644)
    assert store.wide_open()
    store.add("google", "its-key-00000000", "https://g.test/v1")
    assert not store.wide_open()


def test_a_key_goes_to_the_address_that_it_was_given_for_and_to_no_other(store: KeyStore) -> None:
    openai = KEY_PROVIDERS[1]
    store.add("openai", KEY, OPENAI)
    found = hosted(openai, {}, store.all())
    assert found is not None
    assert (found.stored, found.api_key, found.key_source) == (True, None, "the stored keys (harness auth)")
    assert hosted(openai, {"OPENAI_BASE_URL": "https://elsewhere.test/v1"}, store.all()) is None
    assert hosted(openai, {"OPENAI_BASE_URL": "https://API.openai.com:443/v2"}, store.all()) is not None
    both = hosted(openai, {"OPENAI_API_KEY": "from-the-environment"}, store.all())
    assert both is not None
    assert (both.api_key, both.stored) == ("from-the-environment", False)


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("https://H.test/v1", "https://h.test:443"),
        ("http://h.test:8080", "http://h.test:8080"),
        ("http://[::1]/v1", "http://::1:80"),
        ("nonsense", ""),
        ("http://h:99999/", ""),
    ],
)
def test_an_origin_is_scheme_host_and_port(url: str, wanted: str) -> None:
    assert origin(url) == wanted


def test_a_keyring_that_works_is_preferred_and_the_file_holds_no_key(ringed: KeyStore, ring: FakeKeyring) -> None:
    assert ringed.add("openai", KEY, OPENAI).kept == "keyring"
    assert ring.kept == {("harness", "openai"): KEY}
    assert KEY not in text_of(ringed)
    assert ringed.key("openai") == KEY
    assert ringed.add("openai", KEY, OPENAI, kept="file").kept == "file"
    assert ring.kept == {}
    ringed.add("openai", KEY, OPENAI, kept="keyring")
    assert KEY not in text_of(ringed)
    assert ringed.remove("openai") is not None
    assert ring.kept == {}


def test_a_keyring_that_keeps_nothing_or_plain_text_is_not_used(ringed: KeyStore, ring: FakeKeyring) -> None:
    ring.forgets = True
    assert ringed.add("openai", KEY, OPENAI).kept == "file"
    ring.forgets, ring.priority = False, 0.5
    assert ringed.add("openai", KEY, OPENAI).kept == "file"
    with pytest.raises(HarnessError, match="no keyring that can be used"):
        ringed.add("openai", KEY, OPENAI, kept="keyring")
    assert ring.kept == {}


def test_a_locked_keyring_is_told_without_the_key(ringed: KeyStore, ring: FakeKeyring) -> None:
    ringed.add("openai", KEY, OPENAI)
    ring.fault = RuntimeError(f"locked, and by the way {KEY}")
    with pytest.raises(HarnessError, match="cannot be used: RuntimeError") as raised:
        ringed.key("openai")
    assert KEY not in str(raised.value)
    assert "unlock it" in str(raised.value)
    with pytest.raises(HarnessError, match="not used any more, but it is still in the keyring"):
        ringed.remove("openai")
    assert ringed.all() == {}
    assert ringed.add("openai", KEY, OPENAI).kept == "file"


def test_a_keyring_that_never_answers_is_given_up(ringed: KeyStore, ring: FakeKeyring) -> None:
    ring.silent = threading.Event()
    with pytest.raises(HarnessError, match=r"did not answer within 0\.05 s"):
        keyring_store.read("openai", wait=0.05)


def test_a_key_that_left_the_keyring_is_told(ringed: KeyStore, ring: FakeKeyring) -> None:
    ringed.add("openai", KEY, OPENAI)
    ring.kept.clear()
    with pytest.raises(HarnessError, match="harness auth add openai"):
        ringed.key("openai")


def test_the_file_is_json_that_says_where_each_key_is(ringed: KeyStore, ring: FakeKeyring) -> None:
    ringed.add("openai", KEY, OPENAI)
    entry = json.loads(text_of(ringed))["keys"]["openai"]
    assert (entry["kept"], entry["base_url"], sorted(entry)) == ("keyring", OPENAI, ["added", "base_url", "kept"])


# --- the keyring library itself -------------------------------------------------------------------------------------


@pytest.fixture
def real_ring() -> Iterator[Any]:
    """The library with its own choice of a back end put back afterwards."""
    library = pytest.importorskip("keyring")
    before = library.get_keyring()
    yield library
    library.set_keyring(before)


def file_ring(path: Path) -> Any:
    """A back end of the library that keeps what it is given in a file, as others do in a daemon."""
    from keyring.backend import KeyringBackend

    class FileRing(KeyringBackend):
        priority = 6  # pyright: ignore[reportAssignmentType]

        def _all(self) -> dict[str, str]:
            return json.loads(path.read_text()) if path.exists() else {}

        def get_password(self, service: str, username: str) -> str | None:
            return self._all().get(f"{service}/{username}")

        def set_password(self, service: str, username: str, password: str) -> None:
            path.write_text(json.dumps({**self._all(), f"{service}/{username}": password}))

        def delete_password(self, service: str, username: str) -> None:
            rest = self._all()
            del rest[f"{service}/{username}"]
            path.write_text(json.dumps(rest))

    return FileRing()


def test_a_keyring_of_the_library_keeps_gives_and_forgets_a_key(real_ring: Any, tmp_path: Path) -> None:
    kept = tmp_path / "ring.json"
    real_ring.set_keyring(file_ring(kept))
    store = KeyStore(Places.from_environment({"HOME": str(tmp_path)}))
    assert store.add("openai", "tok-ring-0123456789", "https://api.openai.com/v1/").kept == "keyring"
    assert json.loads(kept.read_text()) == {"harness/openai": "tok-ring-0123456789"}
    assert "tok-ring" not in Path(store.path).read_text()
    assert store.key("openai") == "tok-ring-0123456789"
    assert store.add("openai", "tok-next-0123456789", "https://api.openai.com/v1/", kept="file").kept == "file"
    assert json.loads(kept.read_text()) == {}  # nothing of before is left behind
    assert store.key("openai") == "tok-next-0123456789"
    store.add("openai", "tok-ring-0123456789", "https://api.openai.com/v1/", kept="keyring")
    kept.unlink()  # somebody cleared it with another program
    with pytest.raises(HarnessError, match="holds no key of openai any more"):
        store.key("openai")
    removed = store.remove("openai")
    assert removed is not None
    assert store.all() == {}


@pytest.mark.parametrize("name", ["keyring.backends.fail", "keyring.backends.null", "keyring.backends.chainer"])
def test_back_ends_of_the_library_that_keep_nothing_are_none(real_ring: Any, tmp_path: Path, name: str) -> None:
    import importlib

    ring: Any = importlib.import_module(name)
    back_end = ring.Keyring() if hasattr(ring, "Keyring") else ring.ChainerBackend()
    real_ring.set_keyring(back_end)
    store = KeyStore(Places.from_environment({"HOME": str(tmp_path)}))
    assert store.add("openai", "tok-file-0123456789", "https://api.openai.com/v1/").kept == "file"
    assert store.key("openai") == "tok-file-0123456789"
