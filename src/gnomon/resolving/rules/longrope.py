"""LongRoPE by a stack's choices: whose tokens switch the list, and what the factor on cos and sin grows with."""

import math

from gnomon.resolving.rules import formulas
from gnomon.resolving.rules.angles import Angles, Schedule, SwitchBy, Switched
from gnomon.resolving.rules.choices import Choices, chosen
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.scaling import Scaled
from gnomon.resolving.stopping import StackStops


def longrope(over: Scaled, block: Keys, choices: Choices) -> Schedule:
    """LongRoPE by the choices `longrope_switch` and `longrope_ratio`."""
    short, long = block.numbers("short list", "short_factor"), block.numbers("long list", "long_factor")
    limit = over.original
    if short is None or long is None or not limit:
        raise StackStops("longrope lacks short_factor, long_factor or original_max_position_embeddings")
    factor = longrope_magnitude(over, block, choices)
    switch: SwitchBy = chosen(choices.longrope_switch, "longrope_switch")
    first = Angles(formulas.divided(over.plain, short, "short_factor"), factor)
    second = Angles(formulas.divided(over.plain, long, "long_factor"), factor)
    words: dict[SwitchBy, str] = {
        "sequence": f"long list for sequences above {limit:g} tokens",
        "served": f"long list for everything once the served length is above {limit:g}",
        "position": f"long list for positions from {limit:g} on, short list before",
        "always": "long list always",
    }
    return Switched(first, second, limit, switch, words[switch])


def longrope_magnitude(over: Scaled, block: Keys, choices: Choices) -> float:
    """sqrt(1 + ln(r) / ln(L)) with r by `longrope_ratio`; transformers lets `attention_factor` replace it."""
    if over.original is None:
        return 1.0
    grows = chosen(choices.longrope_ratio, "longrope_ratio")
    if grows == "factor or lengths":
        given = block.number("attention_factor", "attention_factor")
        if given is not None:
            return float(given)
        factor = block.number("factor", "factor")
        if factor is not None:
            return formulas.longrope_magnitude(factor, over.original)
    if over.longest is None:
        raise StackStops("longrope lacks max_position_embeddings")
    ratio = over.longest / over.original
    return formulas.longrope_magnitude(math.floor(ratio) if grows == "whole lengths" else ratio, over.original)
