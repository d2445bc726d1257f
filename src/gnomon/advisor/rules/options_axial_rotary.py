"""Axial rotary encoding for a grid."""

import math
from collections.abc import Iterator

from gnomon.advisor.effects import Build, Effect
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import arithmetic
from gnomon.advisor.rule import rule

BASES = (100.0, 1000.0, 10000.0)


@rule(
    stage="options", source="arithmetic: 2 pi b^((w - 2) / w) places for one turn of the slowest pair of an axis w wide"
)
def options_axial_rotary(facts: Facts) -> Iterator[Effect]:
    """Each axis gets as many pairs, and the least base of 100, 1000 and 10000 whose slowest pair needs two sides of
    the grid or more for a turn. The side is that of a square grid of the target's tokens.
    """
    if facts.axes > 1 and facts.existing is None:
        side = math.isqrt(facts.target - 1) + 1
        rotary_dim = facts.head_dim - facts.head_dim % (2 * facts.axes)
        width = rotary_dim // facts.axes
        turns = {base: 2 * math.pi * base ** ((width - 2) / width) for base in BASES}
        base = next((base for base in BASES if turns[base] >= 2 * side), BASES[-1])
        told = arithmetic(
            f"2 pi {base:g}^({width - 2}/{width}) = {turns[base]:.4g} places for a turn, a side of {side}"
        )
        frequencies = {"kind": "plain", "base": base}
        options = {"head_dim": facts.head_dim, "axes": facts.axes, "rotary_dim": rotary_dim, "frequencies": frequencies}
        yield Build("axial_rotary", options, {"side": side}, told)
