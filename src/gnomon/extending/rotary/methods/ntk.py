"""NTK-aware scaling by a larger base: bloc97 2023, in Peng et al. 2023 (YaRN), arXiv:2309.00071, section 3.1."""

from gnomon.encodings.frequencies import NTKAware
from gnomon.extending.rotary.held import Held, Lengths, Scaled
from gnomon.extending.rotary.methods.goes_on import require_rule


def ntk(held: Held, lengths: Lengths) -> Scaled:
    """base * s^(d / (d - 2)), s = to / original; no block is written, only a base. Twice in a row it composes exactly.

    >>> ntk(Held(None, "default", 100.0, 4), Lengths(512, 512, 512, 2048)).base
    1600.0
    """
    require_rule(held, "ntk", "default")
    base = NTKAware(lengths.factor, held.base).larger_base(held.rotary_dim)
    d = held.rotary_dim
    return Scaled(
        "default",
        base,
        dict(held.values),
        lengths.to,
        (
            f"the base goes from {held.base:g} to {base:.10g} = {held.base:g} x {lengths.factor:g}^({d}/{d - 2}); "
            "no scaling block is needed, so every engine that reads a base reads it alike",
        ),
        (
            "the pairs in the middle are slowed less than the length grew, so the last part of the window is weaker "
            "than the first; short sequences change too",
        ),
    )
