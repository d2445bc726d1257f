"""Kinds of scaling that several serving stacks compute alike, from a block under construction."""

from dataclasses import dataclass
from typing import final

from gnomon.resolving.readers.serving.layers import Layer, fraction
from gnomon.resolving.rules import formulas, scaling
from gnomon.resolving.rules.angles import Always, Angles, Schedule
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.rules.scaling import Scaled


@final
@dataclass(frozen=True, eq=False)
class Rope:
    """A block under construction: its layer, what it is laid over, the choices of the version."""

    layer: Layer
    over: Scaled
    choices: Choices


def plain_in_sections(rope: Rope) -> Schedule:
    """Plain frequencies; with sections for several coordinates the pairs are shared out among them."""
    rope.layer.keys.take("sections", "mrope_section")
    return scaling.unscaled(rope.over)


def linear(rope: Rope) -> Schedule:
    """All frequencies divided by a factor that has to be there."""
    return scaling.linear(rope.over, rope.layer.keys)


def linear_if_given(rope: Rope) -> Schedule:
    """All frequencies divided by the factor, plain ones without."""
    return linear(rope) if rope.layer.keys.has("factor") else scaling.unscaled(rope.over)


def llama3(rope: Rope) -> Schedule:
    """Llama 3's rule; all its numbers have to be there."""
    return scaling.llama3(rope.over, rope.layer.keys)


def llama3_with_defaults(rope: Rope) -> Schedule:
    """Llama 3's rule: a factor of 1 and bands from 1 to 4 for want of others."""
    return scaling.llama3(rope.over, rope.layer.keys, factor=1.0, low=1.0, high=4.0)


def proportional(rope: Rope) -> Schedule:
    """A part of the pairs turns by exponents over the whole head; a factor divides nothing."""
    rope.layer.keys.lose("factor", "proportional frequencies are not divided")
    return Always(Angles(formulas.proportional(rope.over.base, rope.over.dim, fraction(rope.layer))))


def alpha_first(rope: Rope) -> Schedule | None:
    """HunYuan's base where the block has an `alpha`, which wins over any factor; None where it has none."""
    keys = rope.layer.keys
    if not keys.has("alpha"):
        return None
    keys.lose("factor", "alpha wins")
    return scaling.by_alpha(rope.over, keys.number("alpha", "alpha", default=1.0))
