"""The waves of known tables, against the wavelengths of the formula."""

import cmath
import math

import numpy as np
import pytest

from gnomon.errors import GnomonError, ShapeError
from gnomon.plots import compared_wavelengths, spectrum, wavelengths
from tests.helpers.sample_report import sinusoids


@pytest.mark.parametrize("positions", [301, 512])
def test_each_dimension_of_a_sinusoid_peaks_at_its_own_wavelength(positions: int) -> None:
    dim = 32
    figure = spectrum(sinusoids(positions, dim))
    assert figure.y is not None
    seen = 0
    for column in range(dim):
        wavelength = 2 * math.pi * 10000 ** (2 * (column // 2) / dim)
        if wavelength < positions / 3:
            peak = figure.y[np.nanargmax(figure.values[:, column])]
            assert abs(math.log2(peak / wavelength)) < 0.25  # its quarter octave or the next
            seen += 1
    assert seen >= 10


def test_the_shares_are_those_of_the_fourier_sum_written_out() -> None:
    """|sum (x_p - mean) e^(-2 pi i f p)|^2 at f = 1/128, 2/128, ... 1/2, each put into the nearest quarter octave."""
    wave = [3.0, 1.0, -2.0, 0.5, 7.0, 1.5, -1.0, 2.0]
    mean = sum(wave) / 8
    shares = [0.0] * 13  # wavelengths 2, 2^(5/4), ..., 16
    for step in range(1, 65):
        turn = -2j * math.pi * step / 128
        energy = abs(sum((value - mean) * cmath.exp(turn * p) for p, value in enumerate(wave))) ** 2
        band = round(4 * math.log2(128 / step / 2))
        if band < len(shares):
            shares[band] += energy
    np.testing.assert_allclose(spectrum(np.array(wave)[:, None]).values[:, 0], np.array(shares) / sum(shares))


def test_the_shares_of_a_dimension_add_up_to_one() -> None:
    np.testing.assert_allclose(spectrum(sinusoids(65, 10)).values.sum(axis=0), 1.0)


def test_bands_start_at_two_positions_and_reach_past_the_length_of_the_table() -> None:
    figure = spectrum(sinusoids(100, 4))
    assert figure.y is not None
    assert figure.y[0] == pytest.approx(2)
    assert 200 <= figure.y[-1] < 240
    np.testing.assert_allclose(np.diff(np.log2(figure.y)), 0.25)


def test_a_constant_dimension_is_blank_and_counted() -> None:
    table = sinusoids(32, 6)
    table[:, 4] = 0.3
    table[:, 5] = 0.0
    figure = spectrum(table)
    assert np.isnan(figure.values).all(axis=0).tolist() == [False] * 4 + [True] * 2
    assert "2 dimensions are constant" in figure.note


def test_a_big_table_is_thinned_by_dimensions_only() -> None:
    figure = spectrum(sinusoids(64, 40), max_cells=10)
    assert figure.values.shape[1] == 10
    assert "Drawn: 10 of 40 dimensions" in figure.note


def test_a_table_too_short_for_waves_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"at least 4 positions; got a table of shape \(3, 8\)"):
        spectrum(np.ones((3, 8)))


def test_wavelengths_are_whole_turns_and_stand_against_the_context_length() -> None:
    frequencies = np.array([1.0, 0.1, 0.0, 1e-4])
    figure = wavelengths(frequencies, context_length=100)
    turns, context = figure.curves
    assert turns.x.tolist() == [0, 1, 3]
    assert turns.y.tolist() == pytest.approx([6.283185307, 62.83185307, 62831.85307])
    assert context.y.tolist() == [100.0, 100.0]
    assert figure.log_y
    assert "2 of 4 frequencies complete a turn within 100 positions." in figure.note
    assert "1 of 4 frequencies are zero" in figure.note


@pytest.mark.parametrize("bad", [np.array([-1.0]), np.array([math.nan]), np.ones((2, 2))])
def test_frequencies_that_are_none_are_refused(bad: np.ndarray) -> None:  # type: ignore[type-arg]
    with pytest.raises(GnomonError, match="finite numbers, zero or more"):
        wavelengths(bad)


def test_compared_wavelengths_are_one_turn_of_each_frequency() -> None:
    figure = compared_wavelengths({"fast": np.array([1.0, 0.5]), "still": np.array([0.25, 0.0])})
    assert [(curve.name, curve.x.tolist()) for curve in figure.curves] == [("fast", [0.0, 1.0]), ("still", [0.0])]
    np.testing.assert_allclose(figure.curves[0].y, [2 * math.pi, 4 * math.pi])
    np.testing.assert_allclose(figure.curves[1].y, [8 * math.pi])
    assert figure.note == "1 of 2 frequencies of 'still' are zero: they never turn."


def test_compared_frequencies_are_checked_too() -> None:
    with pytest.raises(GnomonError, match="zero or more"):
        compared_wavelengths({"backwards": np.array([-1.0])})
