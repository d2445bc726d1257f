"""What a check is, and how its page is read."""

import importlib
from collections.abc import Iterator

import pytest

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import GROUPS, Check, check, registry
from gnomon.doctor.evidence.base import evidence
from gnomon.errors import GnomonError
from gnomon.registry import Registry
from gnomon.report.document import Finding, Measured


@pytest.fixture
def empty_registry(monkeypatch: pytest.MonkeyPatch) -> "Registry[Check]":
    fresh: Registry[Check] = Registry("check", package=None)
    # By import_module: as an attribute of gnomon.doctor the name `check` is the decorator.
    monkeypatch.setattr(importlib.import_module("gnomon.doctor.check"), "registry", fresh)
    return fresh


@evidence
def shadow(subject: Subject) -> float:
    """How long it is."""
    return 2.0


def body(subject: Subject) -> Iterator[Finding | Measured]:
    """A shadow is too long
    for its stick.

    Why: the sun stands low,
    as it does in the evening.

    Fix: wait. Sources: here is no heading, only a word with a colon.

    Sources: none.
    """
    yield Measured("shadow", shadow(subject))


def test_a_check_is_registered_under_its_code_with_the_names_of_its_evidence(empty_registry: "Registry[Check]") -> None:
    returned = check("PE299", "long-shadow", severity="note", needs=("tensors", shadow))(body)
    added = empty_registry.get("PE299")
    assert returned is body
    assert (added.code, added.name, added.severity, added.needs) == (
        "PE299",
        "long-shadow",
        "note",
        ("tensors", "shadow"),
    )


def test_a_code_is_never_used_twice(empty_registry: "Registry[Check]") -> None:
    add = check("PE299", "long-shadow", severity="note", needs=())
    add(body)
    with pytest.raises(GnomonError, match="'PE299' is taken"):
        add(body)


@pytest.mark.parametrize("code", ["PE001", "PE801", "PE20", "PE2001", "XX201", "pe201", " PE201", "PE201\n", ""])
def test_a_code_of_another_form_is_refused(code: str, empty_registry: "Registry[Check]") -> None:
    with pytest.raises(GnomonError, match="PE, a group digit 1-7 and two digits") as caught:
        check(code, "x", severity="note", needs=())
    assert repr(code) in str(caught.value)
    assert not len(empty_registry)


def test_the_page_is_read_by_its_headings() -> None:
    page = Check("PE299", "long-shadow", "note", (), body)
    assert page.title == "A shadow is too long for its stick."
    assert page.section("Why") == "the sun stands low, as it does in the evening."
    assert page.section("Fix") == "wait. Sources: here is no heading, only a word with a colon."
    assert page.section("Sources") == "none."
    assert page.section("History") == ""


def test_a_check_without_a_docstring_has_an_empty_page() -> None:
    page = Check("PE299", "x", "note", (), lambda _: iter(()))
    assert (page.doc, page.title, page.section("Why")) == ("", "", "")


@pytest.mark.parametrize("code", registry.names())
def test_each_check_has_a_whole_page_in_a_known_group(code: str) -> None:
    page = registry.get(code)
    assert code[:3] in GROUPS
    assert page.title.endswith(".")
    assert all(page.section(heading) for heading in ("Why", "Fix", "Sources"))
    assert page.needs
