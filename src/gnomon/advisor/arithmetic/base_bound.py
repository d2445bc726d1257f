"""The least rotary base for a context: Men et al. 2024, arXiv:2405.14591 (Base of RoPE Bounds Context Length)."""

import math

from gnomon.errors import GnomonError

#: table 2: context length in tokens, and the least base with which a model can use all of it
BOUNDS = (
    (1024, 4.3e3),
    (2048, 1.6e4),
    (4096, 2.7e4),
    (8192, 8.4e4),
    (16384, 3.1e5),
    (32768, 6.4e5),
    (65536, 2.1e6),
    (131072, 7.8e6),
    (262144, 3.6e7),
    (524288, 6.4e7),
    (1048576, 5.1e8),
)
LONGEST = BOUNDS[-1][0]
PAPER = 10000.0  #: the base of the RoPE paper, which nobody goes below


def least_base(length: int) -> float:
    """The bound for a length: the table's own number at its lengths, between them a straight line in the logarithms.

    Below the first length it is the first number. Raises GnomonError above the last, where nothing is published.

    >>> least_base(4096)
    27000.0
    """
    if length > LONGEST:
        raise GnomonError(f"The published bound of the rotary base ends at {LONGEST} tokens, got {length}.")
    below = max((row for row in BOUNDS if row[0] <= length), default=BOUNDS[0])
    above = min(row for row in BOUNDS if row[0] >= length)
    if below[0] >= above[0]:
        return below[1]
    share = math.log(length / below[0]) / math.log(above[0] / below[0])
    return math.exp(math.log(below[1]) + share * math.log(above[1] / below[1]))


def base_for(length: int) -> float:
    """A base to train with: the bound rounded up to two digits, and no less than the paper's 10000.

    >>> base_for(512), base_for(8192), base_for(12000)
    (10000.0, 84000.0, 180000.0)
    """
    bound = least_base(length)
    unit = 10.0 ** (math.floor(math.log10(bound)) - 1)
    return max(PAPER, math.ceil(round(bound / unit, 6)) * unit)
