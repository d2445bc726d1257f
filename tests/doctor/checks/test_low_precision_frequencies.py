"""PE209: frequencies in half precision."""

import math

import pytest
import torch
from torch import Tensor

from gnomon.doctor import run
from tests.helpers.subjects import holding, noise, rotary_claim, value

NAME = "model.rotary_emb.inv_freq"


def frequencies(pairs: int) -> Tensor:
    return torch.tensor([10_000.0 ** (-i / pairs) for i in range(pairs)], dtype=torch.float64)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_found_with_the_error_it_makes(dtype: torch.dtype) -> None:
    stored = frequencies(64).to(dtype)
    result = run("PE209", holding({NAME: stored}, claims=(rotary_claim(128),)))
    [finding] = result.findings
    expected = max(abs(4096 * float(number) - 4096 * 10_000.0 ** (-i / 64)) for i, number in enumerate(stored.double()))
    assert (result.severity, finding.where) == ("error", NAME)
    assert finding.measured["phase error"] == pytest.approx(expected, rel=1e-9)
    name = str(dtype).removeprefix("torch.")
    assert finding.message == f"frequencies are {name}: angles are off by up to {expected:.2g} rad at position 4096"
    assert finding.fix.startswith("recompute them in float32")
    assert value(result, f"dtype of {NAME}") == name


def test_the_page_states_the_error_that_is_measured_here() -> None:
    error = (frequencies(64).bfloat16().double() - frequencies(64)).abs().max()
    assert float(512 * error) == pytest.approx(0.63, abs=0.005)
    assert float(4096 * error) == pytest.approx(5.0, abs=0.05)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_without_a_config_the_error_is_bounded_by_the_rounding(dtype: torch.dtype) -> None:
    stored = frequencies(64).to(dtype)
    true = float((4096 * (stored.double() - frequencies(64))).abs().max())
    bound = run("PE209", holding({NAME: stored})).findings[0].measured["phase error"]
    assert bound == 4096 * math.pow(2, -8 if dtype == torch.bfloat16 else -11)
    assert true <= bound < 8 * true


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_float32_and_better_pass(dtype: torch.dtype) -> None:
    assert run("PE209", holding({NAME: frequencies(8).to(dtype)})).status == "passed"


def test_a_finished_table_may_be_half_precision() -> None:
    result = run("PE209", holding({"pos_embed": noise(30, 8).half()}))
    assert (result.status, result.detail) == ("not-applicable", "no stored frequencies")


def test_without_tensors_it_is_not_applicable() -> None:
    assert run("PE209", holding({})).detail == "no table of positions among the tensors"
