"""Claims 9, 22 and 30, from made-up perplexities."""

import pytest

from gnomon.lab.claims import OfSuite, all_claims
from gnomon.lab.claims.base import Reading
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import Result, Run, Series


def read(number: int, variant: str, *seeds: tuple[float, ...]) -> Reading | None:
    """Perplexities at 64, 128, 256 and 512, of each seed."""
    [claim] = all_claims([number])
    assert isinstance(claim, OfSuite)
    results = [
        Result(
            Run("train", "stdlib", variant, seed),
            {variant: {name: Series((64, 128, 256, 512), values) for name in ("perplexity", "last_k_perplexity")}},
            seconds=1.0,
        )
        for seed, values in enumerate(seeds)
    ]
    return claim.read(Evidence(results), "quick")


def test_growth_is_the_ratio_to_the_trained_length_seed_by_seed() -> None:
    reading = read(9, "sinusoidal", (4.0, 8.0, 12.0, 20.0), (5.0, 15.0, 15.0, 25.0))
    assert reading is not None
    assert reading.numbers["stdlib, last_k_perplexity at 2 times"].mean == pytest.approx((2 + 3) / 2)
    assert reading.numbers["stdlib, perplexity at 8 times"].high == 5.0
    assert reading.said.verdict == "fails"


def test_an_encoding_that_keeps_its_perplexity_holds() -> None:
    reading = read(22, "rotary", (4.0, 4.0, 4.2, 5.0), (4.0, 3.9, 4.0, 4.0))
    assert reading is not None
    assert reading.said.verdict == "holds"


def test_seeds_on_both_sides_of_the_bound_depend() -> None:
    reading = read(30, "alibi", (4.0, 4.0, 5.1, 40.0), (4.0, 4.0, 4.0, 40.0))
    assert reading is not None
    assert reading.said.verdict == "depends"
    assert "8 times" not in reading.said.seen  # the article speaks of four times


def test_nothing_is_read_from_nothing() -> None:
    assert read(9, "sinusoidal") is None
