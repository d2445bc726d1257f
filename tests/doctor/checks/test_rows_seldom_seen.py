"""PE703: rows that hardly any input reaches."""

from tests.helpers.subjects import claim, holding, noise, value
from tests.helpers.toys import Toy, examine, only_finding


def test_rows_that_one_input_in_two_thousand_reaches_are_noted() -> None:
    result = examine("PE703", Toy(rows=64), lengths=[40] * 1999 + [64])
    finding = only_finding(result)
    assert (result.severity, finding.where) == ("note", "positions.weight")
    assert finding.measured == {"rows reached": 40, "usable rows": 64, "inputs": 2000}
    assert "rows 40 to 63" in finding.message


def test_one_input_in_five_hundred_is_enough() -> None:
    result = examine("PE703", Toy(rows=64), lengths=[40] * 499 + [64])
    assert (result.status, value(result, "rows of positions.weight reached by 1 in 1000 inputs")) == ("passed", 64)


def test_reserved_rows_are_not_counted() -> None:
    from gnomon.doctor import run

    stated = (claim("learned", "pos_emb", padding_offset=2),)
    assert run("PE703", holding({"pos_emb": noise(20, 6)}, claims=stated, lengths=[18] * 9)).status == "passed"


def test_without_lengths_it_is_not_applicable() -> None:
    assert examine("PE703", Toy()).detail == "no lengths"
