"""PE207: two positions with one vector."""

import math

import pytest
import torch

from gnomon.doctor import run
from tests.helpers.sinusoids import table, vaswani
from tests.helpers.subjects import claim, holding, noise, value

TABLE = "pos_embed"
DISTINCT = f"distinct rows of {TABLE}"


def test_a_tiled_table_is_found() -> None:
    result = run("PE207", holding({TABLE: noise(12, 8).repeat(3, 1)}))
    [finding] = result.findings
    assert (result.severity, finding.where) == ("error", TABLE)
    assert finding.message == "only 12 of 36 positions are distinct"
    assert "never tile" in finding.fix
    assert value(result, DISTINCT) == 12


def test_positions_rounded_to_bfloat16_are_found() -> None:
    ids = torch.arange(4096).bfloat16().float()
    assert int(ids.unique().numel()) == 769
    values = torch.sin(ids[:, None] * torch.tensor([1.0, 0.3, 0.01, 0.002]))
    assert run("PE207", holding({TABLE: values})).findings[0].message == "only 769 of 4096 positions are distinct"


@pytest.mark.parametrize("change", [0.0, 1e-9])
def test_one_bit_makes_a_row_distinct(change: float) -> None:
    values = noise(12, 8).double()
    values[7] = values[3]
    values[7, 2] += change
    result = run("PE207", holding({TABLE: values}))
    assert result.status == ("passed" if change else "failed")
    assert value(result, DISTINCT) == (12 if change else 11)


def test_a_finished_sinusoid_table_in_bfloat16_keeps_its_positions_apart() -> None:
    result = run("PE207", holding({TABLE: table(vaswani, 1000, 16).to(torch.bfloat16)}))
    assert (result.status, value(result, DISTINCT)) == ("passed", 1000)


def test_reserved_rows_may_be_alike() -> None:
    values = noise(12, 8)
    values[1] = values[0]
    assert run("PE207", holding({TABLE: values})).status == "failed"
    claims = (claim("learned", TABLE, padding_offset=2),)
    result = run("PE207", holding({TABLE: values}, claims=claims))
    assert (result.status, value(result, DISTINCT)) == ("passed", 10)


@pytest.mark.parametrize("fill", [0.0, 0.5, math.nan])
def test_tables_that_other_checks_speak_of_are_not_judged(fill: float) -> None:
    result = run("PE207", holding({TABLE: torch.full((12, 8), fill)}))
    assert (result.status, result.detail) == ("not-applicable", "no table that varies and is finite")


def test_without_a_table_it_is_not_applicable() -> None:
    assert run("PE207", holding({})).detail == "no table of positions among the tensors"
