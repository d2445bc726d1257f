"""What a schedule gives at a length: switches by the sequence, the served length, each position, or always."""

import math

import numpy as np
import pytest

from gnomon.resolving.rules.angles import Always, Angles, Growing, SwitchBy, Switched, Temperature

SHORT, LONG = Angles(np.array([1.0, 0.5])), Angles(np.array([0.5, 0.1]), 1.2)


def test_always_gives_the_same() -> None:
    assert Always(SHORT).at(7, 9) is SHORT
    assert Always(SHORT).switch == ""


@pytest.mark.parametrize(
    ("by", "length", "served", "long"),
    [
        ("sequence", 16, 64, False),  # exactly at the limit: short
        ("sequence", 17, 64, True),
        ("served", 3, 64, True),
        ("served", 3, 16, False),
        ("position", 17, 64, True),
        ("position", 16, 64, False),
        ("always", 1, 1, True),
    ],
)
def test_a_switch_counts_what_it_says(by: SwitchBy, length: int, served: int, long: bool) -> None:
    found = Switched(SHORT, LONG, 16, by, "words").at(length, served)
    assert found is (LONG if long else SHORT)


def test_each_position_on_its_own_has_an_edge_and_older_tokens_the_short_list() -> None:
    one = Switched(SHORT, LONG, 16, "position", "words")
    assert one.edges(16) == ()
    assert one.edges(17) == (15,)
    assert one.of_token(15, 40, 64) is SHORT
    assert one.of_token(16, 40, 64) is LONG
    assert Switched(SHORT, LONG, 16, "sequence", "words").of_token(3, 40, 64) is LONG
    assert Switched(SHORT, LONG, 16, "sequence", "words").edges(40) == ()


def test_growing_angles_never_fall_below_the_limit() -> None:
    def of(length: float) -> Angles:
        return Angles(np.array([1 / length]))

    assert Growing(of, 16, "sequence", "w").at(4, 64).inverse[0] == 1 / 16
    assert Growing(of, 16, "sequence", "w").at(32, 64).inverse[0] == 1 / 32
    assert Growing(of, 16, "served", "w").at(32, 64).inverse[0] == 1 / 64


@pytest.mark.parametrize(
    ("rule", "position", "expected"),
    [  # Llama 4: 0.1 ln(floor((p + 1) / 8192) + 1) + 1; Ministral 3: 1 + 0.1 ln(1 + floor(p / 16384))
        (Temperature(0.1, 8192, 1), 8190, 1.0),
        (Temperature(0.1, 8192, 1), 8191, 1.069315),
        (Temperature(0.1, 8192, 1), 65535, 1.219722),
        (Temperature(0.1, 16384), 16383, 1.0),
        (Temperature(0.1, 16384), 16384, 1.069315),
        (Temperature(0.1, 16384), 262143, 1.277259),
    ],
)
def test_a_temperature_at_a_position(rule: Temperature, position: int, expected: float) -> None:
    assert rule.at(position) == pytest.approx(expected, abs=1e-6)
    assert math.isfinite(rule.at(0))
