"""PE609: ALiBi slopes of ranks, against the formula of Press et al."""

import pytest
import torch

from gnomon.adapters.subject import Subject
from gnomon.doctor import run
from gnomon.encodings.alibi import reference_slope
from gnomon.report.document import CheckResult


def judge(ranks: object) -> CheckResult:
    return run("PE609", Subject("ranks", slopes=ranks))


@pytest.mark.parametrize(("heads", "world"), [(8, 2), (12, 3), (6, 1)])
@pytest.mark.parametrize("sign", [1, -1])
def test_slices_of_the_whole_pass_rounded_to_bfloat16_too(heads: int, world: int, sign: int) -> None:
    whole = sign * torch.tensor([reference_slope(h, heads) for h in range(heads)])
    assert judge(list(whole.chunk(world))).status == "passed"
    assert judge(list(whole.bfloat16().chunk(world))).status == "passed"


def test_slopes_of_the_local_head_count_are_found_on_every_rank() -> None:
    local = torch.tensor([reference_slope(h, 4) for h in range(4)])
    result = judge([local, local])
    assert [f.where for f in result.findings] == ["rank 0", "rank 1"]
    assert result.findings[1].measured["right"] == pytest.approx([2.0**-h for h in (5, 6, 7, 8)])
    assert "those of a model with 4 heads; of 8 heads it holds 4 to 7" in result.findings[1].message


@pytest.mark.parametrize("given", [None, [], 3])
def test_without_slopes_it_says_what_to_pass(given: object) -> None:
    result = run("PE609", Subject("ranks") if given is None else Subject("ranks", slopes=given))
    assert (result.status, result.detail[:13]) == ("not-applicable", "pass slopes=,")
