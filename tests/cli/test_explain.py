"""`gnomon explain` prints the docstring that the check carries."""

from collections.abc import Iterator

import pytest

from gnomon.cli.explain import page
from gnomon.doctor.check import Check, registry
from gnomon.report.document import Finding, Measured
from tests.helpers.command import gnomon, sentence


def body(_: object) -> Iterator[Finding | Measured]:
    """Two positions share one vector.

    Why: a model cannot tell them apart, however long it trains, because what it is given is the same at both.

    Fix: draw the rows anew.

    Sources: nobody 2020.
    """
    yield Measured("rows", 0)


def test_a_page_has_title_needs_and_every_paragraph_in_80_columns() -> None:
    text = page(Check("PE203", "duplicated-rows", "warning", ("tables",), body))
    assert text.splitlines()[0] == "PE203 duplicated-rows (warning)"
    assert "Needs: a table of positions or stored frequencies. Codes PE2xx: tensors and tables." in text.replace(
        "\n", " "
    )
    assert [line.split(":")[0] for line in text.split("\n\n")[3:]] == ["Why", "Fix", "Sources"]
    assert max(map(len, text.splitlines())) <= 80


def test_explain_prints_the_page_whatever_the_case_of_the_code() -> None:
    _, check = next(iter(registry))
    outcome = gnomon("explain", check.code.lower())
    assert outcome.code == 0
    assert outcome.stdout == page(check) + "\n"


def test_a_check_is_found_by_its_name_too() -> None:
    assert gnomon("explain", "table-against-formula").stdout == page(registry.get("PE203")) + "\n"


def test_without_a_code_every_check_is_listed_on_one_line() -> None:
    lines = gnomon("explain").stdout.splitlines()
    assert [line.split()[0] for line in lines] == registry.names()


@pytest.mark.parametrize("code", ["PE999", "rotary"])
def test_an_unknown_code_is_a_sentence_with_the_codes(code: str) -> None:
    words = sentence(gnomon("explain", code))
    assert f"{code.upper()!r}" in words
    assert registry.names()[0] in words
