"""PE204: the stated length and the rows."""

import pytest

from gnomon.doctor import run
from tests.helpers.subjects import claim, holding, noise, value

TABLE = "position_embeddings.weight"


def test_a_table_shorter_than_stated_is_found() -> None:
    result = run("PE204", holding({TABLE: noise(30, 8)}, claims=(claim("learned", TABLE, max_length=32),)))
    [finding] = result.findings
    assert (result.severity, finding.where) == ("error", TABLE)
    assert finding.message == "32 positions are stated but 30 rows serve 30"
    assert finding.fix == "give the table 32 rows, or state 30 positions"
    assert value(result, f"usable rows of {TABLE}") == 30


def test_reserved_rows_are_counted_off() -> None:
    options = {"max_length": 32, "padding_offset": 2}
    result = run("PE204", holding({TABLE: noise(32, 8)}, claims=(claim("learned", TABLE, **options),)))
    assert result.findings[0].message == "32 positions are stated but 32 rows serve 30 (2 are reserved)"
    assert result.findings[0].fix == "give the table 34 rows, or state 30 positions"
    assert run("PE204", holding({TABLE: noise(34, 8)}, claims=(claim("learned", TABLE, **options),))).status == "passed"


@pytest.mark.parametrize(("rows", "status", "severity"), [(31, "failed", "error"), (32, "passed", "error")])
def test_one_row_too_few_is_an_error(rows: int, status: str, severity: str) -> None:
    result = run("PE204", holding({TABLE: noise(rows, 8)}, claims=(claim("learned", TABLE, max_length=32),)))
    assert (result.status, result.severity) == (status, severity)


def test_rows_that_nothing_uses_are_a_warning() -> None:
    result = run("PE204", holding({TABLE: noise(33, 8)}, claims=(claim("learned", TABLE, max_length=32),)))
    assert (result.status, result.severity) == ("failed", "warning")
    assert result.findings[0].message == "33 rows are usable but only 32 positions are stated"


def test_each_table_is_held_against_its_own_claim() -> None:
    tables = {"encoder.embed_positions.weight": noise(23, 8), "decoder.embed_positions.weight": noise(18, 8)}
    claims = tuple(claim("learned", name, max_length=length) for name, length in zip(tables, (23, 19), strict=True))
    assert [f.where for f in run("PE204", holding(tables, claims=claims)).findings] == [
        "decoder.embed_positions.weight"
    ]


def test_the_only_claim_serves_a_table_of_another_name() -> None:
    result = run("PE204", holding({"wpe.weight": noise(30, 8)}, claims=(claim("learned", max_length=32),)))
    assert result.status == "failed"


@pytest.mark.parametrize("claims", [(), (claim("learned", TABLE),), (claim("alibi", num_heads=2),)])
def test_a_config_without_a_length_is_not_applicable(claims: tuple[object, ...]) -> None:
    result = run("PE204", holding({TABLE: noise(30, 8)}, claims=claims))
    assert (result.status, result.detail) == ("not-applicable", "the config states no length for a table")


def test_without_a_table_it_is_not_applicable() -> None:
    assert run("PE204", holding({}, claims=(claim("learned", TABLE, max_length=32),))).detail == (
        "no table of positions among the tensors"
    )
