"""Every check has a file, a page and a test."""

import re
from collections import Counter
from pathlib import Path

import pytest

from gnomon.doctor.check import EVIDENCE, GROUPS, Check, registry

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "src" / "gnomon" / "doctor" / "checks"
FILES = [path.stem for path in sorted(FOLDER.glob("*.py")) if path.stem != "__init__"]
CHECKS = [check for _, check in registry]
SECTIONS = ("Why", "Fix", "Sources")
#: evidence that a config, its neighbours and what the caller has written down give
FILES_ALONE = {"config", "claims", "family", "tokenizer", "reference_config", "device_map"}
RUNNING = {"module", "example"}  #: evidence that needs a model to run


def file_of(check: Check) -> str:
    return check.body.__module__.rsplit(".", 1)[-1]


def test_there_are_at_least_twenty_checks() -> None:
    assert len(CHECKS) >= 20


@pytest.mark.parametrize("name", FILES)
def test_every_file_registers_a_check_and_has_a_test(name: str) -> None:
    assert name in {file_of(check) for check in CHECKS}
    assert (ROOT / "tests" / "doctor" / "checks" / f"test_{name}.py").is_file()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.code)
def test_every_page_says_what_why_how_to_fix_and_sources(check: Check) -> None:
    title, *rest = check.doc.split("\n\n")
    assert re.fullmatch(r"[A-Z].*\.", check.title)
    assert not re.match(r"(Why|Fix|Sources):", title)
    headings = [match.group(1) for text in rest if (match := re.match(r"(\w+): ", text))]
    assert [heading for heading in headings if heading in SECTIONS] == list(SECTIONS)
    assert all(len(check.section(heading)) > 10 for heading in SECTIONS)


def test_codes_and_names_are_used_once() -> None:
    assert [code for code, count in Counter(check.code for check in CHECKS).items() if count > 1] == []
    assert [name for name, count in Counter(check.name for check in CHECKS).items() if count > 1] == []


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.code)
def test_the_group_of_a_code_fits_what_the_check_needs(check: Check) -> None:
    assert check.code[:3] in GROUPS
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", check.name)
    if check.code.startswith("PE1"):
        assert set(check.needs) <= FILES_ALONE
    if check.code.startswith(("PE1", "PE2")):
        assert not set(check.needs) & RUNNING


def test_each_kind_of_evidence_has_a_readers_words_and_no_others_have() -> None:
    assert {need for check in CHECKS for need in check.needs} == set(EVIDENCE)
