"""PE118: sizes of buckets of distances."""

from typing import Any

import pytest
import torch

from gnomon.adapters.subject import Subject
from gnomon.doctor import run
from gnomon.report.document import CheckResult

BUCKETS, FURTHEST = "relative_attention_num_buckets", "relative_attention_max_distance"


def judge(buckets: Any, furthest: Any, **config: Any) -> CheckResult:
    return run("PE118", Subject("config", config={BUCKETS: buckets, FURTHEST: furthest, **config}))


@pytest.mark.parametrize(("buckets", "furthest"), [(32, 128), (32, 9), (32, 8), (32, 4), (64, 16), (8, 128)])
@pytest.mark.parametrize("decoder", [True, False])
def test_what_fails_is_what_the_bucket_function_of_transformers_cannot_do(
    buckets: int, furthest: int, decoder: bool
) -> None:
    from transformers.models.t5.modeling_t5 import T5Attention

    distances = torch.arange(-200, 1)
    found = T5Attention._relative_position_bucket(distances, not decoder, buckets, furthest).double()
    grow = bool((found.diff() <= 0).all())  # the further away, the later the bucket
    valid = grow and found.min() >= 0 and found.max() < buckets
    result = judge(buckets, furthest, is_decoder=decoder)
    assert (result.status == "passed") == valid, (found.min(), found.max(), grow)


def test_the_finding_names_both_numbers_and_what_t5_has() -> None:
    [finding] = judge(32, 8).findings
    assert finding.measured == {"buckets": 32, "largest distance": 8}
    assert finding.fix == "state a largest distance above 8; T5 has 128 for 32 buckets"


@pytest.mark.parametrize("buckets", [0, 1, -4, "32", 3.5, True])
def test_a_number_of_buckets_is_a_count(buckets: Any) -> None:
    result = judge(buckets, 128)
    assert (result.status, result.severity) == ("failed", "error")


def test_an_odd_number_is_a_warning() -> None:
    assert judge(33, 128).severity == "warning"


@pytest.mark.parametrize(("buckets", "status"), [(256, "passed"), (-1, "not-applicable"), (0, "not-applicable")])
def test_deberta_has_buckets_or_says_that_it_has_none(buckets: int, status: str) -> None:
    config = {"position_buckets": buckets, "max_relative_positions": -1, "max_position_embeddings": 512}
    assert run("PE118", Subject("config", config=config)).status == status


def test_without_buckets_it_is_not_applicable() -> None:
    assert run("PE118", Subject("config", config={"hidden_size": 8})).status == "not-applicable"
