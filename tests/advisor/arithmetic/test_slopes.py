"""ALiBi's slopes: by hand, and as the encoding has them."""

import pytest

from gnomon.advisor.arithmetic.slopes import alibi_slopes
from gnomon.encodings import ALiBi


def test_eight_heads_have_halves() -> None:
    assert alibi_slopes(8) == tuple(2.0**-power for power in range(1, 9))


def test_sixteen_heads_have_the_roots_between() -> None:
    assert alibi_slopes(16) == pytest.approx([2.0 ** (-power / 2) for power in range(1, 17)], rel=1e-15)


def test_twelve_heads_take_every_other_slope_of_sixteen_after_those_of_eight() -> None:
    between = [2.0**-0.5, 2.0**-1.5, 2.0**-2.5, 2.0**-3.5]
    assert alibi_slopes(12) == pytest.approx([*(2.0**-power for power in range(1, 9)), *between], rel=1e-15)


@pytest.mark.parametrize("heads", [1, 2, 3, 5, 7, 8, 12, 14, 20, 32, 40, 71])
def test_they_are_those_of_the_encoding(heads: int) -> None:
    assert alibi_slopes(heads) == pytest.approx(ALiBi(heads).slopes, rel=1e-12)
