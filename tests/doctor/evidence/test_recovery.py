"""The linear reader: reads what is there, and nothing where there is nothing."""

import pytest
import torch

from gnomon.doctor.evidence.recovery import read_positions, recovery
from tests.helpers.healthy import FOREIGN
from tests.helpers.toys import Toy, subject_of


def states(length: int, width: int, loud: float) -> torch.Tensor:
    """Noise, and a vector for each place."""
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(1, length, width, generator=generator)
    return torch.randn(64, length, width, generator=generator) + loud * rows


def test_loud_positions_are_read_and_absent_ones_are_at_chance() -> None:
    assert read_positions(states(12, 40, 3.0)) > 0.99
    assert read_positions(states(12, 40, 0.0)) == pytest.approx(1 / 12, abs=0.05)


def test_states_wider_than_the_reader_are_mixed_down_and_still_read() -> None:
    assert read_positions(states(12, 300, 3.0)) > 0.99


def test_fixed_words_cannot_help_because_words_are_drawn_at_random() -> None:
    words = torch.randn(4, 40, generator=torch.Generator().manual_seed(1))
    picked = torch.randint(0, 4, (64, 12), generator=torch.Generator().manual_seed(2))
    assert read_positions(words[picked]) == pytest.approx(1 / 12, abs=0.05)


def test_a_model_is_read_after_its_first_block_beside_chance_and_control() -> None:
    found = recovery(subject_of(Toy()))
    assert found.where == "layers.0"
    assert found.chance == 1 / 16
    assert found.accuracy > 0.5
    assert found.control is not None
    assert found.control < 0.15


def test_without_position_ids_there_is_no_control() -> None:
    assert recovery(subject_of(FOREIGN["bloom"]())).control is None
