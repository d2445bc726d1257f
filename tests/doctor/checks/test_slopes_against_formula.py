"""PE215: slopes in a buffer against the published ones, written out here from the paper."""

import math

import pytest
import torch
from torch import Tensor, nn

from gnomon.doctor import run
from tests.helpers.subjects import claim, holding
from tests.helpers.toys import examine, only_finding


def published(heads: int) -> Tensor:
    """Press et al. 2022, section 3, and the authors' code for numbers of heads that are no power of two."""
    lower = 2 ** math.floor(math.log2(heads))
    first = [2 ** (-8 * h / lower) for h in range(1, lower + 1)]
    between = [2 ** (-8 * h / (2 * lower)) for h in range(1, 2 * lower + 1, 2)]
    return torch.tensor(first + between[: heads - lower])


def series(heads: int, start: int = 1) -> Tensor:
    return torch.tensor([2 ** (-8 * h / heads) for h in range(start, heads + start)])


@pytest.mark.parametrize("heads", [2, 6, 8, 12, 71])
@pytest.mark.parametrize("shape", [(-1,), (1, -1, 1, 1), (-1, 1, 1)])
def test_the_published_slopes_pass(heads: int, shape: tuple[int, ...]) -> None:
    for sign in (1, -1):
        assert run("PE215", holding({"attn.slopes": sign * published(heads).reshape(shape)})).status == "passed"


def test_a_bias_kept_for_all_keys_is_read_by_its_step() -> None:
    bias = published(6)[:, None, None] * torch.arange(-20.0, 0.0)
    assert run("PE215", holding({"alibi": bias})).status == "passed"
    assert run("PE215", holding({"alibi": 2 * bias})).status == "failed"
    assert run("PE215", holding({"alibi": bias.expand(6, 20, 20)})).status == "not-applicable"


def test_half_precision_is_no_fault() -> None:
    assert run("PE215", holding({"slopes": published(12).bfloat16()})).status == "passed"


@pytest.mark.parametrize(
    ("slopes", "says"),
    [
        (series(12), "one geometric series, though 12 is no power of two"),
        (series(8, start=0), "2 times the published ones"),
        (published(12).sort(descending=True).values, "the right numbers in another order"),
        (published(6).flip(0) + 0.3, "the slopes of 6 heads"),
    ],
)
def test_other_slopes_are_a_warning_that_names_the_cause(slopes: Tensor, says: str) -> None:
    result = run("PE215", holding({"model.alibi_slopes": slopes}))
    finding = only_finding(result)
    assert result.severity == "warning"
    assert says in finding.message
    assert f"{published(len(slopes))[0]:.6g}" in finding.fix


def test_with_a_claim_they_are_an_error() -> None:
    subject = holding({"slopes": series(12)}, claims=(claim("alibi", num_heads=12),))
    assert run("PE215", subject).severity == "error"


def test_the_largest_exponent_of_a_claim_counts() -> None:
    claims = (claim("alibi", num_heads=4, alibi_bias_max=4),)
    slopes = torch.tensor([2.0**-h for h in range(1, 5)])
    assert run("PE215", holding({"slopes": slopes}, claims=claims)).status == "passed"
    assert run("PE215", holding({"slopes": slopes})).status == "failed"


def test_learned_slopes_are_not_judged() -> None:
    module = nn.Linear(2, 2)
    module.register_parameter("slopes", nn.Parameter(torch.rand(12)))
    assert examine("PE215", module).status == "not-applicable"
    module.register_buffer("alibi_slopes", series(12))
    assert examine("PE215", module).status == "failed"
