"""Position interpolation: Chen et al. 2023, arXiv:2306.15595."""

from gnomon.extending.rotary.held import ORIGINAL, Held, Lengths, Scaled
from gnomon.extending.rotary.methods.goes_on import kept, require_rule, with_factor


def linear(held: Held, lengths: Lengths) -> Scaled:
    """All frequencies divided by to / original; a factor that is there counts, because lengths are those of the start.

    >>> linear(Held(None, "linear", 1e4, 128, {"factor": 2.0}), Lengths(4096, 8192, 8192, 32768)).values["factor"]
    8.0
    """
    require_rule(held, "linear", "default", "linear", "proportional")
    rule = "proportional" if held.rule == "proportional" else "linear"
    values = {**kept(held), **({"factor": held.values["factor"]} if "factor" in held.values else {})}
    factor = held.factor * lengths.stretch if rule == "proportional" else lengths.factor
    original = {} if rule == "proportional" else {ORIGINAL: lengths.original}
    return Scaled(
        rule,
        held.base,
        with_factor(values, factor, **original),
        lengths.to,
        (f"all frequencies are divided by {factor:g} (before: {held.name})",),
        (
            "interpolation without training loses much: LLaMA 7B had a perplexity of 112 at 8 times its length before "
            "fine-tuning, 7 after 200 steps (Chen et al. 2023, table 3)",
        ),
    )
