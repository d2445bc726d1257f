"""Kept rows: as many as were served, the same bits however they grew, and never in the way of copies or training."""

import copy
import pickle

import pytest
import torch

from gnomon.kernels.half_table import FREE_ROWS, HalfTable
from gnomon.kernels.tables import STEP
from tests.helpers.exact_waves import EXACT, errors

INVERSE = tuple(500.0 ** (-i / 7) for i in range(7))


def test_a_table_grows_with_what_is_served() -> None:
    table = HalfTable(INVERSE)
    assert table.length == 0
    for position, length in ((0, 256), (255, 256), (256, 512), (3000, 4096), (5, 4096), (66_000, 131_072)):
        positions = torch.tensor([[position]])
        cos, sin = table.take(positions)
        assert errors(cos[0], sin[0], [position], INVERSE) < EXACT
        assert table.length == length


def test_growing_changes_no_bit_of_a_row() -> None:
    grown, fresh = HalfTable(INVERSE, factor=1.1), HalfTable(INVERSE, factor=1.1)
    for position in (3, 400, 900, 5000):
        grown.take(torch.tensor([position]))
    assert all(torch.equal(a, b) for a, b in zip(grown.rows(8192), fresh.rows(8192), strict=True))


@pytest.mark.parametrize("position", [-1, FREE_ROWS, 2**20, 10_000_000_000])
def test_a_single_position_far_out_makes_no_table(position: int) -> None:
    table = HalfTable(INVERSE, factor=0.5)
    cos, sin = table.take(torch.tensor([[1], [position]]))
    assert errors(cos[:, 0], sin[:, 0], [1, position], INVERSE, 0.5) < EXACT
    assert table.covering(torch.tensor([position])) is None
    assert table.length == 0


def test_many_positions_far_out_are_worth_a_table() -> None:
    table = HalfTable(INVERSE[:1])
    assert table.covering(torch.arange(0, 200_000, 4)) is not None
    assert table.length == 4 * FREE_ROWS  # 199 996 and one, up to a multiple of 65536
    assert table.covering(torch.tensor([table.length + 5])) is not None  # the next token of a served text


def test_taking_nothing_gives_nothing() -> None:
    assert [tuple(part.shape) for part in HalfTable(INVERSE).take(torch.empty(2, 0, dtype=torch.int64))] == [
        (2, 0, 7)
    ] * 2


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda table: pickle.loads(pickle.dumps(table))])
def test_copies_leave_the_rows_behind_and_make_them_anew(copied: object) -> None:
    table = HalfTable(INVERSE, factor=2.0)
    want = table.take(torch.tensor([300]))
    other: HalfTable = copied(table)  # type: ignore[operator]
    assert (table.length, other.length) == (512, 0)
    assert all(torch.equal(a, b) for a, b in zip(other.take(torch.tensor([300])), want, strict=True))
    assert len(pickle.dumps(table)) < 1000


def test_rows_made_in_inference_mode_serve_training() -> None:
    table = HalfTable(INVERSE)
    with torch.inference_mode():
        table.take(torch.tensor([STEP + 1]))
        table.rows(10, "meta")
    x = torch.ones(1, 7, requires_grad=True)
    cos, _ = table.kept
    (x * cos[3:4]).sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad, cos[3:4])


def test_the_rows_of_another_device_are_those_of_the_cpu() -> None:
    table = HalfTable(INVERSE)
    cos, sin = table.rows(300, "meta")
    assert cos.is_meta
    assert cos.shape == sin.shape == (512, 7)
    assert table.rows(200, "meta")[0] is cos
    assert table.length == 512


def test_a_device_context_does_not_move_a_table() -> None:
    with torch.device("meta"):
        cos, _ = HalfTable(INVERSE).take(torch.tensor([1], device="cpu"))
    assert cos.device.type == "cpu"
