"""Sandwich: published numbers, the formula far out, and the dot product it comes from."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gnomon.encodings import Sandwich
from gnomon.encodings.sandwich import reference
from gnomon.errors import GnomonError


def test_golden_biases() -> None:
    bias = Sandwich(8).bias(torch.tensor([[5000]]), torch.tensor([[5000, 4999, 4984, 904]]))
    assert bias.dtype == torch.float32
    assert bias[0, 0, 0].tolist() == pytest.approx([0.0, -1.447, -22.341, -67.269], abs=1e-3)
    assert bias[0, 7, 0].tolist() == pytest.approx([0.0, -1.447 / 8, -22.341 / 8, -67.269 / 8], abs=2e-4)


def test_with_six_heads_the_first_is_divided_by_eight_sixths() -> None:
    bias = Sandwich(6).bias(torch.tensor([[16]]), torch.tensor([[0]]))[0, :, 0, 0]
    assert bias.tolist() == pytest.approx([-22.3407 * 6 / (8 * h) for h in range(1, 7)], rel=1e-5)


@given(st.integers(1, 5), st.sampled_from([2, 6, 128]), st.integers(0, 10**8), st.integers(0, 10**8))
def test_any_two_positions_equal_the_formula(heads: int, width: int, query: int, key: int) -> None:
    bias = Sandwich(heads, sinusoid_dim=width).bias(torch.tensor([[query]]), torch.tensor([[key]]))
    expected = [reference(head, query, key, num_heads=heads, sinusoid_dim=width) for head in range(heads)]
    assert bias[0, :, 0, 0].tolist() == pytest.approx(expected, rel=1e-6, abs=1e-5)


def test_queries_are_rows_keys_are_columns_and_every_batch_row_has_its_own() -> None:
    queries, keys = torch.tensor([[7, 3]]), torch.tensor([[1, 7, 4], [0, 2, 9]])
    bias = Sandwich(2).bias(queries, keys)
    assert bias.shape == (2, 2, 2, 3)
    for row in range(2):
        for i, query in enumerate([7, 3]):
            expected = [reference(1, query, key, num_heads=2, sinusoid_dim=128) for key in keys[row].tolist()]
            assert bias[row, 1, i].tolist() == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_memory_grows_with_the_bias_and_not_with_the_width_of_the_sinusoids() -> None:
    """The largest tensor that is made has one float64 for each query and key."""
    place, largest = torch.arange(300)[None], 0
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as made:
        Sandwich(1, sinusoid_dim=128).bias(place, place)
    largest = max(event.self_cpu_memory_usage for event in made.key_averages())
    assert 300 * 300 * 4 <= largest <= 4 * 300 * 300 * 8


def test_it_is_right_under_any_mask_and_has_nothing_to_learn() -> None:
    assert not Sandwich(2).causal_only
    assert not list(Sandwich(2).parameters())


@pytest.mark.parametrize(("heads", "width", "said"), [(0, 8, "at least 1 head"), (2, 7, "got 7"), (2, 0, "got 0")])
def test_impossible_options_are_errors(heads: int, width: int, said: str) -> None:
    with pytest.raises(GnomonError, match=said):
        Sandwich(heads, sinusoid_dim=width)


@pytest.mark.usefixtures("unchecked")
def test_it_traces_into_one_graph() -> None:
    encoding, positions = Sandwich(3), torch.tensor([[2, 3, 9]])
    traced = torch.compile(encoding.bias, fullgraph=True, backend="eager")(positions, positions)
    torch.testing.assert_close(traced, encoding.bias(positions, positions))
