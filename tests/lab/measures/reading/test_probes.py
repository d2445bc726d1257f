"""Readers of slots."""

import pytest
import torch

from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.reading import probes
from gnomon.lab.measures.reading.probes import Reader, chance, linear_reader, mlp_reader, recovery
from tests.helpers.lab_measured import fresh


def drawn(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("slots", [2, 5, 8, 31])
def test_chance_is_the_error_of_the_best_constant_guess(slots: int) -> None:
    errors = [sum(abs(slot - guess) for slot in range(slots)) / slots for guess in range(slots)]
    assert chance(slots) == pytest.approx(min(errors))


@pytest.mark.parametrize("reader", [linear_reader, mlp_reader])
def test_a_slot_that_is_written_in_the_state_is_read(reader: Reader) -> None:
    at = torch.arange(6).repeat(40)
    states = torch.nn.functional.one_hot(at, 6) + 0.05 * drawn(1, 240, 6)
    read = reader(states[:120], at[:120], 6, states[120:], torch.Generator().manual_seed(0))
    assert torch.equal(read, at[120:])


@pytest.mark.parametrize("reader", [linear_reader, mlp_reader])
def test_noise_is_read_as_the_middle(reader: Reader) -> None:
    at = torch.arange(9).repeat(300)
    states = drawn(2, 2700, 4)
    read = reader(states[:1350], at[:1350], 9, states[1350:], torch.Generator().manual_seed(0))
    assert float((read - 4).abs().double().mean()) < 0.5


def test_what_no_line_separates_is_read_by_the_network_only() -> None:
    """States of three slots lie on both sides of 0: near -2 or 2, near -1 or 1, near 0."""
    at = torch.arange(3).repeat(200)
    sign = drawn(3, 600).sign()
    states = ((2 - at) * sign)[:, None] + 0.05 * drawn(4, 600, 1)
    linear, mlp = (
        (reader(states[:300], at[:300], 3, states[300:], torch.Generator().manual_seed(0)) - at[300:]).abs()
        for reader in (linear_reader, mlp_reader)
    )
    assert float(linear.double().mean()) > 0.5
    assert float(mlp.double().mean()) < 0.05


def test_rows_that_fit_the_reader_are_not_those_it_is_tried_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise of many dimensions: a reader knows the 16 states that it was fitted on by heart, and no others."""
    monkeypatch.setattr(probes, "hidden_states", lambda *_: [drawn(5, 4, 8, 64)])
    [error] = recovery(linear_reader, fresh(), Context(0), "a measure", length=8, rows=4)
    assert error > 0.7
