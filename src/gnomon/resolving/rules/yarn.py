"""YaRN by a stack's choices: which factor, over which length, with which ends and which factor on cos and sin."""

from gnomon.resolving.rules import formulas
from gnomon.resolving.rules.angles import Always, Angles, Schedule
from gnomon.resolving.rules.choices import Choices, chosen
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.scaling import ORIGINAL, Scaled
from gnomon.resolving.stopping import StackStops

FAST, SLOW = 32.0, 1.0  #: the betas of a block that does not say them


def yarn(over: Scaled, block: Keys, choices: Choices, *, magnitude: float | None = None) -> Schedule:
    """YaRN by `yarn_factor`, `yarn_ramp`, `yarn_ends` and `yarn_magnitude`; ends clamped to [0, dim - 1].

    `magnitude`: the factor on cos and sin of a stack that has a rule of its own for it.
    """
    factor = yarn_factor(over, block, choices)
    counted = chosen(choices.yarn_ramp, "yarn_ramp")
    ramp = {"original": over.original or over.longest, "maximum": over.longest, "served": over.served}[counted]
    if ramp is None:
        raise StackStops("YaRN lacks a length to count turns in")
    by_original = ORIGINAL if ramp == over.original else "default"
    block.note("ramp length", ramp, {"original": by_original, "served": "served"}.get(counted, "default"))
    fast = block.number("beta_fast", "beta_fast", default=FAST)
    slow = block.number("beta_slow", "beta_slow", default=SLOW)
    ends = formulas.ramp_ends(over.base, over.dim, ramp, fast, slow)
    inverse = formulas.yarn(over.plain, factor, *ends, rounded=ends_rounded(block, choices), most=over.dim - 1)
    return Always(Angles(inverse, yarn_magnitude(factor, block, choices) if magnitude is None else magnitude))


def yarn_factor(over: Scaled, block: Keys, choices: Choices) -> float:
    """By `yarn_factor`: the block's own, or longest / original whenever the block says the original length."""
    ratio = over.longest / over.original if over.longest and over.original else None
    if chosen(choices.yarn_factor, "yarn_factor") == "ratio" and ratio is not None:
        block.lose("factor", f"longest / original length = {ratio:g} is taken")
        block.note("factor", ratio, ORIGINAL)
        return ratio
    factor = block.number("factor", "factor", default=ratio)
    if factor is None:
        raise StackStops("YaRN lacks a factor")
    return float(factor)


def ends_rounded(block: Keys, choices: Choices) -> bool:
    """By `yarn_ends`: whether the ends of the ramp are put on whole pairs."""
    ends = chosen(choices.yarn_ends, "yarn_ends")
    if ends == "truncate":
        return bool(block.take("truncate", "truncate", default=True))
    block.lose("truncate", f"the ends of the ramp are {'always' if ends == 'rounded' else 'never'} rounded")
    block.note("truncate", ends == "rounded")
    return ends == "rounded"


def yarn_magnitude(factor: float, block: Keys, choices: Choices) -> float:
    """The factor on cos and sin, by `yarn_magnitude`.

    "transformers": `attention_factor`, else g(mscale) / g(mscale_all_dim) where both are truthy, else g(1).
    "not null": the ratio where both are given, be they zero; no `attention_factor` (SGLang). "ratio": the ratio always,
    with 1 and 0 where a number is absent (the DeepSeek code). "factor": g(1) * attn_factor (older vLLM).
    """
    rule = chosen(None if choices.yarn_magnitude == "own" else choices.yarn_magnitude, "yarn_magnitude")
    if rule == "factor":
        return formulas.magnitude(factor) * float(block.number("attn_factor", "attn_factor", default=1.0))
    if rule == "transformers":
        return transformers_magnitude(factor, block)
    given = None not in (block.values.get("mscale"), block.values.get("mscale_all_dim"))
    return _of_pair(factor, block, rule == "ratio" or given)


def transformers_magnitude(factor: float, block: Keys) -> float:
    """What transformers 5 multiplies cos and sin by under YaRN."""
    given = block.number("attention_factor", "attention_factor")
    if given is not None:
        return float(given)
    return _of_pair(factor, block, bool(block.values.get("mscale") and block.values.get("mscale_all_dim")))


def softmax_multiplier(block: Keys, *, factor: float | None = 1.0) -> float:
    """DeepSeek's g(mscale_all_dim)^2 on the usual softmax scale, 1 without mscale_all_dim.

    `factor` is that of a block without one; None where the stack ends with KeyError then.
    """
    share = block.number("softmax", "mscale_all_dim", default=0.0)
    if not share:
        return 1.0
    stretch = block.number("factor", "factor", default=factor)
    if stretch is None:
        raise StackStops("KeyError: 'factor'")
    return formulas.latent_softmax(stretch, share)


def _of_pair(factor: float, block: Keys, counts: bool) -> float:
    """g(mscale) / g(mscale_all_dim) where the pair counts, else g(1)."""
    if not counts:
        for name in ("mscale", "mscale_all_dim"):
            block.lose(name, "counts beside the other one only")
        return formulas.magnitude(factor)
    above = block.number("mscale", "mscale", default=1.0)
    below = block.number("mscale_all_dim", "mscale_all_dim", default=0.0)
    return formulas.magnitude(factor, above) / formulas.magnitude(factor, below)
