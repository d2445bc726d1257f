"""PE208: fast first, slow last."""

import math

import pytest
import torch
from torch import Tensor

from gnomon.doctor import run
from tests.helpers.sinusoids import table, tensor2tensor, vaswani
from tests.helpers.subjects import holding, noise, value

NAME, TABLE = "rotary_emb.inv_freq", "pos_embed"


def frequencies(pairs: int) -> Tensor:
    return torch.tensor([10_000.0 ** (-i / pairs) for i in range(pairs)])


def rising(name: str) -> str:
    return f"places where the frequencies of {name} rise"


def test_wavelengths_in_place_of_frequencies_are_named() -> None:
    result = run("PE208", holding({NAME: 1 / frequencies(8)}))
    first, second = result.findings
    assert (result.severity, first.where) == ("error", NAME)
    assert first.message == "frequencies rise at 7 of 7 places (first 1)"
    assert first.fix == "these are wavelengths: take the reciprocal"
    assert second.message.startswith("the fastest frequency is 3162 radians a position, above pi")
    assert value(result, rising(NAME)) == 7


def test_two_columns_that_changed_places_are_found() -> None:
    shuffled = frequencies(8)[[0, 1, 3, 2, 4, 5, 6, 7]]
    [finding] = run("PE208", holding({NAME: shuffled})).findings
    assert finding.message == "frequencies rise at 1 of 7 places (first 1)"
    assert finding.fix == "order the frequencies base^(-2i/d)"


@pytest.mark.parametrize(("factor", "count"), [(3.14, 0), (3.15, 1)])
def test_frequencies_above_pi_alias(factor: float, count: int) -> None:
    assert len(run("PE208", holding({NAME: frequencies(8) * factor})).findings) == count


@pytest.mark.parametrize("step", [0.0, -1e-7, 1e-7])
def test_equal_neighbours_pass_and_rising_ones_do_not(step: float) -> None:
    values = torch.tensor([1.0, 0.1, 0.1 * (1 + step), 0.01], dtype=torch.float64)
    assert run("PE208", holding({NAME: values})).status == ("failed" if step > 0 else "passed")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("rows", [12, 200])
@pytest.mark.parametrize("formula", [vaswani, tensor2tensor])
def test_published_tables_pass_in_every_dtype(formula: object, rows: int, dtype: torch.dtype) -> None:
    result = run("PE208", holding({TABLE: table(formula, rows, 64).to(dtype)}))
    assert (result.status, value(result, rising(TABLE))) == ("passed", 0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_columns_of_a_table_out_of_order_are_found(dtype: torch.dtype) -> None:
    pairs = table(vaswani, 200, 16).view(200, 8, 2)
    result = run("PE208", holding({TABLE: pairs[:, [0, 4, 2, 3, 1, 5, 6, 7]].reshape(200, 16).to(dtype)}))
    assert value(result, rising(TABLE)) == 1 + 1
    assert result.findings[0].where == TABLE


def test_scaled_frequencies_pass() -> None:
    assert run("PE208", holding({NAME: frequencies(8) / 4})).status == "passed"


@pytest.mark.parametrize("tensors", [{TABLE: noise(30, 8)}, {NAME: torch.tensor([1.0, math.nan])}])
def test_without_frequencies_it_is_not_applicable(tensors: dict[str, Tensor]) -> None:
    result = run("PE208", holding(tensors))
    assert (result.status, result.detail) == ("not-applicable", "no sinusoid table and no stored frequencies")


def test_without_tensors_it_is_not_applicable() -> None:
    assert run("PE208", holding({})).detail == "no table of positions among the tensors"
