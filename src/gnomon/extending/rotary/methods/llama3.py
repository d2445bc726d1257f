"""The rule of Llama 3.1 with a larger factor: three bands of frequencies, of which the slow one is divided."""

from gnomon.extending.rotary.held import ORIGINAL, Held, Lengths, Scaled
from gnomon.extending.rotary.methods.goes_on import require_rule, with_factor


def llama3(held: Held, lengths: Lengths) -> Scaled:
    """The factor grows as the length does; bands and original length stay.

    The factor of this rule is not the ratio of its lengths (Llama 3.1 has 8 for a ratio of 16, Llama 3.2 has 32), so
    what is kept is the proportion between the two.

    >>> there = Held(None, "llama3", 5e5, 128, {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0})
    >>> llama3(there, Lengths(8192, 131072, 131072, 262144)).values["factor"]
    16.0
    """
    require_rule(held, "llama3", "llama3")
    factor = held.factor * lengths.stretch
    values = with_factor(held.values, factor, **{ORIGINAL: lengths.original})
    scaled = Scaled("llama3", held.base, values, lengths.to)
    bands = scaled.frequencies(lengths.original).bands(held.rotary_dim)
    return Scaled(
        "llama3",
        held.base,
        values,
        lengths.to,
        (
            f"llama3 goes on: its factor from {held.factor:g} to {factor:g}, as much as the length grows "
            f"({lengths.now:,} to {lengths.to:,}), over the same original length of {lengths.original:,}",
            f"{bands.kept} fast pairs stay as they are, {bands.divided} slow ones are divided by {factor:g} instead of "
            f"{held.factor:g}, {bands.blended} lie between",
        ),
        ("the slow pairs turn as the model was never trained to turn; nothing is published for this without training",),
    )
