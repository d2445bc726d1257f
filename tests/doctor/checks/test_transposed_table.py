"""PE205: swapped axes."""

import pytest
import torch
from torch import Tensor, nn

from gnomon.adapters import load_subject
from gnomon.doctor import run
from tests.helpers.sinusoids import marian, table, tensor2tensor, vaswani
from tests.helpers.subjects import holding, noise, value

TABLE = "pos_embedding"


class Adds(nn.Module):
    """Adds rows of a table that is an attribute under a name that says nothing."""

    def __init__(self, rows: Tensor) -> None:
        super().__init__()
        self.words = nn.Embedding(30, rows.shape[1])
        self.keep = [rows]  # hidden from every list of tensors
        self.block = nn.Linear(rows.shape[1], 4)

    def forward(self, input_ids: Tensor) -> Tensor:
        out: Tensor = self.block(self.words(input_ids) + self.keep[0][: input_ids.shape[1]])
        return out


@pytest.mark.parametrize("formula", [vaswani, marian, tensor2tensor])
def test_a_table_whose_sinusoids_run_along_its_dimensions_is_found(formula: object) -> None:
    result = run("PE205", holding({TABLE: table(formula, 24, 40).T.contiguous().float()}))
    [finding] = result.findings
    assert (result.severity, finding.where) == ("error", TABLE)
    assert finding.message == "the 40 x 24 table is a sinusoid table with its axes swapped"
    assert finding.fix.endswith("with positions along the rows and frequencies along the columns")
    assert value(result, f"sinusoids of {TABLE} run along") == "dimensions"


@pytest.mark.parametrize(("rows", "dims"), [(40, 24), (24, 24), (24, 40)])
def test_a_table_the_right_way_round_passes_at_any_shape(rows: int, dims: int) -> None:
    result = run("PE205", holding({TABLE: table(vaswani, rows, dims).float()}))
    assert (result.status, value(result, f"sinusoids of {TABLE} run along")) == ("passed", "positions")


def test_a_square_table_is_told_apart_too() -> None:
    assert run("PE205", holding({TABLE: table(vaswani, 32, 32).T.contiguous()})).status == "failed"


@pytest.mark.parametrize("swapped", [False, True])
def test_a_table_that_only_the_forward_shows_is_judged(swapped: bool) -> None:
    rows = table(vaswani, 48, 48).float()
    result = run("PE205", load_subject(Adds(rows.T.contiguous() if swapped else rows)))
    assert result.status == ("failed" if swapped else "passed")
    if swapped:
        assert result.findings[0].where == "block"


@pytest.mark.parametrize("tensors", [{TABLE: noise(40, 24)}, {"head.weight": noise(4, 4)}])
def test_a_model_without_sinusoids_is_not_applicable(tensors: dict[str, Tensor]) -> None:
    result = run("PE205", holding(tensors))
    assert (result.status, result.detail) == ("not-applicable", "no sinusoid table")


def test_vectors_that_are_no_sinusoids_are_not_judged_in_a_forward() -> None:
    torch.manual_seed(0)
    assert run("PE205", load_subject(Adds(torch.randn(48, 48)))).status == "not-applicable"
