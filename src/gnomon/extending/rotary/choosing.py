"""Which method "auto" takes, and why: a stated rule over what is there and how much longer it is to become."""

from typing import Final

from gnomon.extending.rotary.held import Held, Lengths

LENGTHS_ONLY: Final = "lengths"  #: no frequency changes
SMALL: Final = 4.0


def chosen(held: Held, lengths: Lengths, longrope_only: bool = False) -> tuple[str, tuple[str, ...]]:
    """The method for a kind of layer, and the reasons in whole sentences.

    A rule that is there goes on, because another one on top would be neither. A plain model gets YaRN: without training
    it works at once where interpolation does not (Chen et al. 2023, table 3), with training it reached 3.35 against
    3.34 and 3.59 at twice the length of Llama 2 with less than half of the tokens (Peng et al. 2023, table 1).

    >>> chosen(Held(None, "default", 1e4, 128), Lengths(4096, 4096, 4096, 8192))[0]
    'yarn'
    """
    if held.rule == "proportional":
        return _proportional(held, lengths)
    if held.rule != "default":
        return held.rule, (f"the checkpoint is scaled already ({held.name}), and that rule goes on",)
    if longrope_only:
        return "longrope", ("transformers reads no scaling but longrope in a config of this family",)
    why = "YaRN works at once, and leaves the fast pairs as they were trained (Peng et al. 2023)"
    near = (
        "at factors up to 4 a larger base (ntk) may find more in long texts (Gelberg et al. 2025: 21.1, 19.4 and 16.5 "
        "needles against 17.8, 0.5 and 14.6); compare both with --check"
    )
    return "yarn", (why, *((near,) if lengths.factor <= SMALL else ()))


def _proportional(held: Held, lengths: Lengths) -> tuple[str, tuple[str, ...]]:
    """Where the slowest pair that turns goes round often within the trained length, there is nothing to slow down."""
    import numpy as np

    from gnomon.encodings.frequencies import Proportional

    fraction = held.values.get("partial_rotary_factor", 1.0)
    inverse = Proportional(fraction, held.factor, held.base).inverse(held.rotary_dim)
    turns = float(inverse[inverse > 0].min() * lengths.original / (2 * np.pi))
    if turns < 32:
        return "linear", ("the rule of this model takes a factor for all pairs and nothing else",)
    return LENGTHS_ONLY, (
        f"only the fast pairs of this model turn, and the slowest of them goes round {turns:,.0f} times within "
        f"{lengths.original:,} tokens, so all angles of a longer text are known to it: YaRN would keep them all",
    )
