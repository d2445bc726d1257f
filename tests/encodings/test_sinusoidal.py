"""Sinusoids: golden numbers of the paper's table, its norm, its rotation property, and the other layouts."""

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gnomon.encodings import Sinusoidal
from gnomon.encodings.sinusoidal import reference, reference_endpoint, reference_half
from gnomon.errors import GnomonError, ShapeError


def test_golden_frequencies_of_width_512() -> None:
    frequencies = Sinusoidal(512).inverse_frequencies
    assert len(frequencies) == 256
    assert frequencies[0] == 1.0
    assert frequencies[128] == pytest.approx(1 / 100)
    assert frequencies[255] == pytest.approx(1.0366e-4, rel=1e-4)


@given(st.integers(1, 64), st.integers(0, 10**6))
def test_the_norm_is_exactly_the_root_of_half_the_width(pairs: int, position: int) -> None:
    vector = Sinusoidal(2 * pairs).table(torch.tensor([position]))[0]
    assert vector.norm().item() == pytest.approx(math.sqrt(pairs), rel=1e-6)


def test_width_512_has_norm_16_and_position_0_is_not_zero() -> None:
    first = Sinusoidal(512).table(torch.tensor([0, 77]))
    assert first.norm(dim=-1).tolist() == pytest.approx([16.0, 16.0])
    assert first[0].tolist() == [0.0, 1.0] * 256


@given(st.integers(0, 10**5), st.integers(-500, 500))
def test_a_shift_is_one_rotation_of_each_pair(position: int, shift: int) -> None:
    encoding = Sinusoidal(10)
    before, after = encoding.table(torch.tensor([position, position + shift]))
    for i, frequency in enumerate(encoding.inverse_frequencies):
        sin, cos = before[2 * i].item(), before[2 * i + 1].item()
        turn = shift * frequency
        assert after[2 * i].item() == pytest.approx(sin * math.cos(turn) + cos * math.sin(turn), abs=1e-6)
        assert after[2 * i + 1].item() == pytest.approx(cos * math.cos(turn) - sin * math.sin(turn), abs=1e-6)


def test_the_sum_of_two_positions_is_not_the_position_of_the_sum() -> None:
    at_10, at_20, at_30 = Sinusoidal(512).table(torch.tensor([10, 20, 30]))
    error = ((at_10 + at_20 - at_30).norm() / at_30.norm()).item()
    assert error == pytest.approx(1.33, abs=0.01)


@pytest.mark.parametrize("dim", [1, 2, 7, 12])
def test_the_half_layout_is_a_permutation_of_columns(dim: int) -> None:
    positions = torch.tensor([0, 3, 911])
    columns = [*range(0, dim, 2), *range(1, dim, 2)]
    interleaved = Sinusoidal(dim).table(positions)
    assert torch.equal(Sinusoidal(dim, layout="half").table(positions), interleaved[:, columns])


@given(st.integers(2, 40), st.integers(0, 10**7), st.sampled_from(["interleaved", "half", "endpoint"]))
def test_every_layout_equals_its_formula(dim: int, position: int, form: str) -> None:
    if form == "endpoint":
        encoding, formula = Sinusoidal(dim, layout="half", exponent="endpoint"), reference_endpoint
    elif form == "half":
        encoding, formula = Sinusoidal(dim, layout="half"), reference_half
    else:
        encoding, formula = Sinusoidal(dim), reference
    expected = [formula(position, column, dim) for column in range(dim)]
    assert encoding.table(torch.tensor([[position]]))[0, 0].tolist() == pytest.approx(expected, abs=1e-6)


def test_float64_embeddings_get_the_formula_in_float64() -> None:
    sums = Sinusoidal(6).embed(torch.zeros(1, 2, 6, dtype=torch.float64), torch.tensor([[3, 999_999]]))
    expected = [[reference(position, column, 6) for column in range(6)] for position in (3, 999_999)]
    assert sums[0, 0].tolist() == pytest.approx(expected[0], abs=1e-14)
    assert sums[0, 1].tolist() == pytest.approx(expected[1], abs=1e-9)


def test_the_endpoint_rule_ends_exactly_at_one_over_the_base() -> None:
    frequencies = Sinusoidal(80, layout="half", exponent="endpoint").inverse_frequencies
    assert len(frequencies) == 40
    assert frequencies[-1] == pytest.approx(1e-4)


def test_odd_widths_end_in_a_sine_or_in_zeros() -> None:
    at_5 = torch.tensor([5])
    assert Sinusoidal(3).table(at_5)[0, 2].item() == pytest.approx(math.sin(5 / 10000 ** (2 / 3)))
    assert Sinusoidal(3, layout="half", exponent="endpoint").table(at_5)[0, 2].item() == 0.0


@pytest.mark.parametrize(("scale", "divisor"), [("none", 1.0), ("sqrt_dim", math.sqrt(50)), ("dim", 50.0)])
def test_the_scale_divides_the_table(scale: str, divisor: float) -> None:
    positions = torch.tensor([[4, 9]])
    scaled = Sinusoidal(50, scale=scale).table(positions)  # type: ignore[arg-type]
    torch.testing.assert_close(scaled, Sinusoidal(50).table(positions) / divisor)
    assert scaled.norm(dim=-1)[0, 0].item() == pytest.approx(5.0 / divisor)


def test_another_width_is_an_error_that_names_both() -> None:
    with pytest.raises(ShapeError, match="8 wide but the sinusoids are 4 wide"):
        Sinusoidal(4).embed(torch.zeros(1, 2, 8), torch.arange(2)[None])


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dim": 0}, "at least 1 .* got dim=0"),
        ({"dim": 1, "exponent": "endpoint"}, r"2 for exponent='endpoint'\), got dim=1"),
        ({"dim": 4, "base": 1.0}, "above 1, got 1.0"),
        ({"dim": 4, "layout": "split"}, "one of half, interleaved, got 'split'"),
        ({"dim": 4, "scale": "sqrt"}, "one of none, sqrt_dim, dim, got 'sqrt'"),
        ({"dim": 4, "exponent": "fairseq"}, "one of paper, endpoint, got 'fairseq'"),
    ],
)
def test_impossible_options_are_errors(options: dict[str, object], message: str) -> None:
    with pytest.raises(GnomonError, match=message):
        Sinusoidal(**options)  # type: ignore[arg-type]


@pytest.mark.usefixtures("unchecked")
def test_it_traces_into_one_graph() -> None:
    encoding = Sinusoidal(5)
    x, positions = torch.zeros(2, 3, 5), torch.tensor([[3, 4, 5]])
    traced = torch.compile(encoding.embed, fullgraph=True, backend="eager")(x, positions)
    torch.testing.assert_close(traced, encoding.embed(x, positions))


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_reserved_positions_shift_the_table(layout: Any) -> None:
    shifted, plain = (Sinusoidal(10, layout=layout, padding_offset=offset) for offset in (2, 0))
    positions = torch.tensor([[0, 3], [70, 9]])
    assert torch.equal(shifted.table(positions), plain.table(positions + 2))
    assert not torch.equal(shifted.table(positions), plain.table(positions))


def test_a_negative_offset_is_an_error() -> None:
    with pytest.raises(GnomonError, match="padding_offset of a sinusoid is at least 0, got -1"):
        Sinusoidal(10, padding_offset=-1)
