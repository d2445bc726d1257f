"""PE202: NaN and infinity."""

import math

import pytest
import torch

from gnomon.adapters.subject import Absent, Subject
from gnomon.doctor import run
from tests.helpers.subjects import holding, noise, value

TABLE = "embed_positions.weight"


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_each_number_that_is_not_finite_is_counted_and_placed(bad: float) -> None:
    table = noise(11, 6)
    table[3, 2] = table[3, 5] = table[9, 0] = bad
    result = run("PE202", holding({TABLE: table}))
    [finding] = result.findings
    assert (result.severity, finding.where) == ("error", TABLE)
    assert finding.message == "3 of 66 numbers are NaN or infinite, first in row 3"
    assert finding.fix.startswith("rebuild the table after loading")
    assert value(result, f"non-finite numbers in {TABLE}") == 3


def test_a_single_nan_is_enough() -> None:
    table = noise(11, 6)
    table[-1, -1] = math.nan
    assert run("PE202", holding({TABLE: table})).status == "failed"


def test_rotary_frequencies_are_looked_at_too() -> None:
    frequencies = torch.tensor([1.0, math.inf, 0.01])
    result = run("PE202", holding({"model.rotary_emb.inv_freq": frequencies}))
    assert [f.where for f in result.findings] == ["model.rotary_emb.inv_freq"]


def test_a_finite_table_passes_whatever_its_size() -> None:
    result = run("PE202", holding({TABLE: noise(11, 6) * 1e30, "head.weight": torch.full((4, 4), math.nan)}))
    assert (result.status, value(result, f"non-finite numbers in {TABLE}")) == ("passed", 0)


def test_without_a_table_it_is_not_applicable() -> None:
    result = run("PE202", holding({"head.weight": torch.full((4, 4), math.nan)}))
    assert (result.status, result.detail) == ("not-applicable", "no table of positions among the tensors")
    assert run("PE202", Subject("x", tensors=Absent("only a config"))).detail == "only a config"
