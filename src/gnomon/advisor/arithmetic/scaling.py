"""The numbers of a longer context: Chen et al. 2023 (PI), bloc97 2023 (NTK-aware), Peng et al. 2023 (YaRN)."""

import math


def factor_for(target: int, original: int) -> float:
    """How many times longer: target / original.

    >>> factor_for(32768, 4096)
    8.0
    """
    return target / original


def yarn_attention_factor(factor: float) -> float:
    """0.1 ln s + 1, what cos and sin are multiplied by: YaRN, arXiv:2309.00071, section 3.4.

    >>> yarn_attention_factor(1.0)
    1.0
    """
    return 0.1 * math.log(factor) + 1


def ntk_base(base: float, factor: float, rotary_dim: int) -> float:
    """base s^(d / (d - 2)): NTK-aware scaling as in arXiv:2309.00071, section 3.1.

    >>> ntk_base(100.0, 4.0, 4)
    1600.0
    """
    return float(base * factor ** (rotary_dim / (rotary_dim - 2)))


def table_length(length: int) -> int:
    """The 95th percentile and a tenth more, rounded up: the article's rule for a learned table, in whole numbers.

    >>> table_length(480), table_length(481)
    (528, 530)
    """
    return -(-length * 11 // 10)
