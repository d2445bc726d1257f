"""Learned tables: initialisation, reserved rows, and the limit."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gnomon.encodings import Learned
from gnomon.encodings.learned import reference
from gnomon.errors import GnomonError, PositionError, ShapeError


def test_the_table_starts_with_the_stated_spread() -> None:
    torch.manual_seed(0)
    weight = Learned(512, 256).weight
    assert weight.mean().item() == pytest.approx(0.0, abs=3e-4)
    assert weight.std().item() == pytest.approx(0.02, rel=0.02)
    assert Learned(512, 256, init_std=0.5).weight.std().item() == pytest.approx(0.5, rel=0.02)


@given(st.integers(1, 9), st.integers(0, 3), st.data())
def test_reserved_rows_are_skipped(max_length: int, offset: int, data: st.DataObject) -> None:
    encoding = Learned(max_length, 3, padding_offset=offset)
    assert encoding.weight.shape == (max_length + offset, 3)
    position = data.draw(st.integers(0, max_length - 1))
    x = torch.tensor([[[1.0, -2.0, 0.5]]])
    expected = reference(x[0, 0].tolist(), position, encoding.weight.tolist(), offset)
    assert encoding.embed(x, torch.tensor([[position]]))[0, 0].tolist() == pytest.approx(expected)


@pytest.mark.parametrize("offset", [0, 2])
def test_a_position_past_the_limit_names_position_and_limit(offset: int) -> None:
    encoding = Learned(16, 4, padding_offset=offset)
    x = torch.zeros(2, 3, 4)
    encoding.embed(x, torch.tensor([[0, 1, 15]]))
    with pytest.raises(PositionError, match=r"Position 16 is outside .*max_length=16"):
        encoding.embed(x, torch.tensor([[0, 1, 2], [0, 16, 2]]))
    with pytest.raises(PositionError, match=r"Position -1 is outside .*max_length=16"):
        encoding.embed(x, torch.tensor([[0, -1, 15]]))


def test_the_gradient_of_a_row_is_how_often_it_was_used() -> None:
    encoding = Learned(6, 2, padding_offset=2)
    encoding.embed(torch.zeros(2, 3, 2), torch.tensor([[0, 1, 1], [5, 1, 0]])).sum().backward()
    assert encoding.weight.grad is not None
    assert encoding.weight.grad[:, 0].tolist() == [0, 0, 2, 3, 0, 0, 0, 1]


def test_another_width_is_an_error_that_names_both() -> None:
    with pytest.raises(ShapeError, match="8 wide but the position table is 4 wide"):
        Learned(16, 4).embed(torch.zeros(1, 2, 8), torch.arange(2)[None])


@pytest.mark.parametrize("options", [(0, 4, 0, 0.02), (4, 0, 0, 0.02), (4, 4, -1, 0.02), (4, 4, 0, -0.02)])
def test_impossible_options_are_errors(options: tuple[int, int, int, float]) -> None:
    max_length, dim, offset, std = options
    with pytest.raises(GnomonError, match=r"at least|negative"):
        Learned(max_length, dim, padding_offset=offset, init_std=std)


@pytest.mark.usefixtures("unchecked")
def test_it_traces_into_one_graph() -> None:
    encoding = Learned(16, 4)
    x, positions = torch.zeros(2, 3, 4), torch.tensor([[3, 4, 5]])
    traced = torch.compile(encoding.embed, fullgraph=True, backend="eager")(x, positions)
    torch.testing.assert_close(traced, encoding.embed(x, positions))
