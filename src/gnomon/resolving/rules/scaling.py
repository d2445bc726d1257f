"""From a rotary block to angles, by a stack's choices. A stack with a rule of its own computes it in its own file."""

import math
from dataclasses import dataclass
from typing import final

from gnomon.resolving.rules import formulas
from gnomon.resolving.rules.angles import Always, Angles, Growing, Schedule, Switched
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.stopping import StackStops

ORIGINAL = "original_max_position_embeddings"


@final
@dataclass(frozen=True)
class Scaled:
    """What a block is laid over: the base, the rotated width, and the lengths that the stack has found.

    `longest` is the longest length by the file (max_position_embeddings), `original` the trained one if the file gives
    it, `served` the length that the server was started with where the stack's tables depend on it.
    """

    base: float
    dim: int
    longest: float | None
    original: float | None
    served: float | None = None

    @property
    def plain(self) -> formulas.Pairs:
        return formulas.plain(self.base, self.dim)


def unscaled(over: Scaled) -> Schedule:
    """The plain frequencies."""
    return Always(Angles(over.plain))


def linear(over: Scaled, block: Keys) -> Schedule:
    """All frequencies divided by `factor`."""
    return Always(Angles(over.plain / _factor(block)))


def llama3(
    over: Scaled,
    block: Keys,
    *,
    factor: float | None = None,
    low: float | None = None,
    high: float | None = None,
    original: float | None = None,
) -> Schedule:
    """Llama 3's rule; a number given here is the stack's default for a key that the block lacks."""
    length = over.original or original
    low, high = (
        block.number("low_freq_factor", "low_freq_factor", default=low),
        block.number("high_freq_factor", "high_freq_factor", default=high),
    )
    if length is None or low is None or high is None:
        raise StackStops("llama3 lacks original_max_position_embeddings, low_freq_factor or high_freq_factor")
    return Always(Angles(formulas.llama3(over.plain, _factor(block, factor), low, high, length)))


def yarn(
    over: Scaled, block: Keys, choices: Choices, *, fast: float | None = 32.0, slow: float | None = 1.0
) -> Schedule:
    """YaRN by the choices `yarn_factor`, `yarn_ramp`, `yarn_ends` and `yarn_magnitude`; ends clamped to [0, dim - 1].

    `fast` and `slow` are the defaults of the betas.
    """
    factor = yarn_factor(over, block, choices)
    ramp = {"original": over.original or over.longest, "maximum": over.longest, "served": over.served}[
        choices.yarn_ramp
    ]
    if ramp is None:
        raise StackStops("YaRN lacks a length to count turns in")
    block.note(
        "ramp length", ramp, ORIGINAL if ramp == over.original and choices.yarn_ramp == "original" else "default"
    )
    ends = formulas.ramp_ends(
        over.base,
        over.dim,
        ramp,
        block.number("beta_fast", "beta_fast", default=fast),
        block.number("beta_slow", "beta_slow", default=slow),
    )
    inverse = formulas.yarn(over.plain, factor, *ends, rounded=_rounded(block, choices), most=over.dim - 1)
    return Always(Angles(inverse, yarn_magnitude(factor, block, choices)))


def yarn_factor(over: Scaled, block: Keys, choices: Choices) -> float:
    """By `yarn_factor`: the block's own, or longest / original whenever the block says the original length."""
    ratio = over.longest / over.original if over.longest and over.original else None
    if choices.yarn_factor == "ratio" and ratio is not None:
        block.lose("factor", f"longest / original length = {ratio:g} is taken")
        block.note("factor", ratio, ORIGINAL)
        return ratio
    factor = block.number("factor", "factor", default=ratio)
    if factor is None:
        raise StackStops("YaRN lacks a factor")
    return float(factor)


def yarn_magnitude(factor: float, block: Keys, choices: Choices) -> float:
    """The factor on cos and sin, by `yarn_magnitude`.

    "transformers": `attention_factor`, else g(mscale) / g(mscale_all_dim) where both are truthy, else g(1).
    "not null": the ratio where both are given, be they zero; no `attention_factor` (SGLang). "ratio": the ratio always,
    with 1 and 0 where a number is absent (the DeepSeek code). "factor": g(1) * attn_factor (older vLLM).
    """
    if choices.yarn_magnitude == "factor":
        return formulas.magnitude(factor) * float(block.number("attn_factor", "attn_factor", default=1.0))
    given = block.number("attention_factor", "attention_factor") if choices.yarn_magnitude == "transformers" else None
    if given is not None:
        return float(given)
    pair = [block.values.get(name) for name in ("mscale", "mscale_all_dim")]
    wanted = {"transformers": all(pair), "not null": None not in pair}.get(choices.yarn_magnitude, True)
    if not wanted:
        for name in ("mscale", "mscale_all_dim"):
            block.lose(name, "counts beside the other one only")
        return formulas.magnitude(factor)
    above = block.number("mscale", "mscale", default=1.0)
    below = block.number("mscale_all_dim", "mscale_all_dim", default=0.0)
    return formulas.magnitude(factor, above) / formulas.magnitude(factor, below)


def dynamic(over: Scaled, block: Keys, choices: Choices, *, name: str = "factor") -> Schedule:
    """Dynamic NTK by the choice `dynamic`: base * (s n / L - (s - 1))^(d / (d - 2)) at a length n above L."""
    if choices.dynamic == "error":
        raise StackStops("the stack does not know dynamic scaling")
    if choices.dynamic == "plain":
        return unscaled(over)
    if choices.dynamic == "alpha" or (block.has("alpha") and not block.has(name)):
        alpha = float(block.number("alpha", "alpha", default=1.0))
        return Always(Angles(formulas.plain(formulas.ntk_base(over.base, alpha, over.dim), over.dim)))
    factor = _factor(block)
    if choices.dynamic == "constant":
        return Always(Angles(_stretched(over, factor * factor - (factor - 1))))
    limit, plain = over.longest, over.plain
    if not limit:
        raise StackStops("dynamic scaling lacks max_position_embeddings")

    def angles(length: float) -> Angles:
        return Angles(_stretched(over, factor * length / limit - (factor - 1)) if length > limit else plain)

    if choices.dynamic == "served":
        return Growing(angles, limit, "served", f"base grows with the served length above {limit:g}")
    counted = "the length of the prompt" if choices.dynamic == "prompt" else "the longest sequence so far"
    return Growing(angles, limit, "sequence", f"base grows with {counted} above {limit:g}")


def longrope(over: Scaled, block: Keys, choices: Choices, *, magnitude: float | None = None) -> Schedule:
    """LongRoPE by the choices `longrope_switch` and `longrope_ratio`; `magnitude` replaces the computed factor."""
    short, long = block.numbers("short list", "short_factor"), block.numbers("long list", "long_factor")
    limit = over.original
    if short is None or long is None or not limit:
        raise StackStops("longrope lacks short_factor, long_factor or original_max_position_embeddings")
    factor = longrope_magnitude(over, block, choices) if magnitude is None else magnitude
    first = Angles(formulas.divided(over.plain, short, "short_factor"), factor)
    second = Angles(formulas.divided(over.plain, long, "long_factor"), factor)
    words = {
        "sequence": f"long list for sequences above {limit:g} tokens",
        "served": f"long list for everything once the served length is above {limit:g}",
        "position": f"long list for positions from {limit:g} on, short list before",
        "always": "long list always",
    }[choices.longrope_switch]
    return Switched(first, second, limit, choices.longrope_switch, words)


def longrope_magnitude(over: Scaled, block: Keys, choices: Choices) -> float:
    """sqrt(1 + ln(r) / ln(L)) with r by `longrope_ratio`; transformers lets `attention_factor` replace it."""
    if over.original is None or choices.longrope_ratio == "none":
        return 1.0
    if choices.longrope_ratio == "factor or lengths":
        given = block.number("attention_factor", "attention_factor")
        if given is not None:
            return float(given)
        factor = block.number("factor", "factor")
        if factor is not None:
            return formulas.longrope_magnitude(factor, over.original)
    longest = over.served if choices.longrope_ratio == "served" else over.longest
    if longest is None:
        raise StackStops("longrope lacks max_position_embeddings")
    ratio = longest / over.original
    return formulas.longrope_magnitude(
        math.floor(ratio) if choices.longrope_ratio == "whole lengths" else ratio, over.original
    )


def _stretched(over: Scaled, factor: float) -> formulas.Pairs:
    base = formulas.ntk_base(over.base, factor, over.dim)
    return over.plain * math.nan if math.isnan(base) else formulas.plain(base, over.dim)


def _factor(block: Keys, default: float | None = None) -> float:
    factor = block.number("factor", "factor", default=default)
    if not factor:
        raise StackStops("the block lacks a factor")
    return float(factor)


def _rounded(block: Keys, choices: Choices) -> bool:
    if choices.yarn_ends == "truncate":
        return bool(block.take("truncate", "truncate", default=True))
    block.lose(
        "truncate", f"the ends of the ramp are {'always' if choices.yarn_ends == 'rounded' else 'never'} rounded"
    )
    return choices.yarn_ends == "rounded"
