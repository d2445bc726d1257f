"""PE206: parts of a table that do not vary."""

import math

import pytest
import torch
from torch import Tensor, nn

from gnomon.doctor import run
from tests.helpers.sinusoids import table, tensor2tensor, vaswani
from tests.helpers.subjects import claim, holding, noise, value
from tests.helpers.toys import examine, only_finding

TABLE = "position_embeddings.weight"
FLAT, ZERO = f"flat dimensions of {TABLE}", f"zero rows of {TABLE}"


@pytest.mark.parametrize(("fill", "what"), [(0.0, "zero"), (0.3, "the same in every row")])
def test_a_table_that_does_not_vary_is_found(fill: float, what: str) -> None:
    result = run("PE206", holding({TABLE: torch.full((20, 6), fill)}))
    [finding] = result.findings
    assert (result.severity, finding.where) == ("error", TABLE)
    assert finding.message == f"the table is {what}: every position looks alike"
    assert "fill the table" in finding.fix
    assert value(result, FLAT) == 6


def test_flat_dimensions_are_a_warning_with_the_first_of_them() -> None:
    values = noise(20, 6)
    values[:, 2] = 0.01
    values[:, 5] = 0.0
    result = run("PE206", holding({TABLE: values}))
    [finding] = result.findings
    assert (result.severity, value(result, FLAT)) == ("warning", 2)
    assert finding.message == "2 of 6 dimensions are the same in every row, first dimension 2"


@pytest.mark.parametrize(("spread", "flat"), [(0.5e-6, 1), (2e-6, 0)])
def test_a_dimension_is_flat_below_a_millionth_of_the_size_of_the_table(spread: float, flat: int) -> None:
    values = noise(20, 6, std=1.0).double()
    values /= values.square().mean().sqrt()
    values[:, 1] = 0.5
    values /= values.square().mean().sqrt()
    values[3, 1] += spread
    assert value(run("PE206", holding({TABLE: values})), FLAT) == flat


def test_the_slow_end_of_a_sinusoid_is_not_flat() -> None:
    values = table(vaswani, 10, 48).to(torch.bfloat16)
    assert (values.float().amax(dim=0) == values.float().amin(dim=0)).any(), "rounding holds some columns still"
    assert run("PE206", holding({TABLE: values})).status == "passed"


def test_a_zero_row_in_use_is_found() -> None:
    values = noise(20, 6)
    values[5] = values[9] = 0.0
    result = run("PE206", holding({TABLE: values}))
    [finding] = result.findings
    assert finding.message == "2 rows that positions use are all zero, first row 5"
    assert "padding_idx" in finding.fix
    assert value(result, ZERO) == 2


def test_a_padding_index_on_row_0_of_a_learned_table_is_found() -> None:
    values = noise(20, 6)
    values[0] = 0.0
    assert run("PE206", holding({TABLE: values})).findings[0].message.endswith("first row 0")


def test_reserved_rows_may_be_zero() -> None:
    values = noise(20, 6)
    values[1] = 0.0
    claims = (claim("learned", TABLE, padding_offset=2),)
    assert run("PE206", holding({TABLE: values}, claims=claims)).status == "passed"
    values[2] = 0.0
    assert run("PE206", holding({TABLE: values}, claims=claims)).findings[0].message.endswith("first row 2")


def test_padding_rows_of_files_without_a_config_are_known_by_their_place() -> None:
    roberta = noise(20, 6)
    roberta[1] = 0.0
    assert run("PE206", holding({TABLE: roberta})).status == "passed"
    fairseq = table(tensor2tensor, 20, 8)
    fairseq[0] = 0.0
    assert run("PE206", holding({TABLE: fairseq})).status == "passed"


def test_a_table_that_is_not_finite_is_left_to_the_check_that_names_it() -> None:
    values = torch.zeros(20, 6)
    values[:, 0] = math.inf
    result = run("PE206", holding({TABLE: values}))
    assert (result.status, result.detail) == ("not-applicable", "no table whose numbers are all finite")


def test_a_table_as_initialised_passes() -> None:
    result = run("PE206", holding({TABLE: noise(20, 6)}))
    assert (result.status, value(result, FLAT), value(result, ZERO)) == ("passed", 0, 0)


def test_without_a_table_it_is_not_applicable() -> None:
    assert run("PE206", holding({})).status == "not-applicable"


def test_zeros_beside_the_table_are_room_for_its_quantised_numbers() -> None:
    tensors = {"position_embeddings.weight": noise(20, 8), "position_embeddings.weight_integer": torch.zeros(20, 8)}
    assert run("PE206", holding(tensors)).status == "passed"


def test_sines_without_cosines_are_told_from_a_padding_row() -> None:
    class Sines(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            angles = torch.arange(30)[:, None] * 100.0 ** -(torch.arange(4) / 4)
            self.pe = nn.Buffer(angles.sin().repeat_interleave(2, dim=-1))

        def forward(self, x: Tensor) -> Tensor:
            return x + self.pe[: x.shape[1]]

    finding = only_finding(examine("PE206", (Sines(), (torch.randn(2, 6, 8),))))
    assert "first row 0" in finding.message
    assert finding.fix.startswith("fill every second column with the cosine")
