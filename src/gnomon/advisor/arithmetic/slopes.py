"""ALiBi's slopes: Press et al. 2022, arXiv:2108.12409, section 3, and its code for other numbers of heads."""

import math


def alibi_slopes(num_heads: int) -> tuple[float, ...]:
    """2^(-8 h / H), h = 1 .. H, for a power of two; else those of the power below, then every other one of the next.

    >>> alibi_slopes(2), alibi_slopes(3)
    ((0.0625, 0.00390625), (0.0625, 0.00390625, 0.25))
    """
    power = 2 ** int(math.log2(num_heads))
    first = [2.0 ** (-8 * head / power) for head in range(1, power + 1)]
    between = [2.0 ** (-4 * head / power) for head in range(1, 2 * power + 1, 2)]
    return (*first, *between[: num_heads - power])
