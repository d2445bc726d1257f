"""What serving stacks add to YaRN: DeepSeek's variant, the extrapolation factor, and magnitudes for a remedy."""

import math
from dataclasses import replace
from typing import Any, Final, final

from gnomon.resolving.readers.serving.layers import Layer
from gnomon.resolving.reading import Wanted
from gnomon.resolving.rules import formulas
from gnomon.resolving.rules.angles import Always, Angles, Schedule
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.scaling import Scaled
from gnomon.resolving.rules.yarn import transformers_magnitude, yarn
from gnomon.resolving.stopping import StackStops

#: model types whose attention is DeepSeek's
DEEPSEEK: Final = frozenset({"deepseek_v2", "deepseek_v3", "deepseek_v32", "kimi_k2"})


def with_extrapolation(schedule: Schedule, over: Scaled, layer: Layer) -> Schedule:
    """`extrapolation_factor` e makes frequencies between omega / s and YaRN's own: omega / s + e (yarn - omega / s)."""
    extent = layer.keys.number("extrapolation factor", "extrapolation_factor", default=1.0)
    if extent == 1 or not isinstance(schedule, Always):
        return schedule
    factor = layer.keys.number("factor", "factor", default=1.0)
    divided = over.plain / factor
    inverse = divided + extent * (schedule.angles.inverse - divided)
    return Always(Angles(inverse, schedule.angles.magnitude))


def times(schedule: Schedule, share: float) -> Schedule:
    """The factor on cos and sin of a fixed schedule, multiplied."""
    if not isinstance(schedule, Always):
        return schedule
    return Always(replace(schedule.angles, magnitude=schedule.angles.magnitude * share))


def attn_factor(layer: Layer) -> float:
    """The multiplier of the factor on cos and sin; transformers knows no such key."""
    share: float = layer.keys.number("attn factor", "attn_factor", default=1.0)
    return share


def deepseek(layer: Layer, over: Scaled, choices: Choices) -> Schedule:
    """YaRN as DeepSeek's code has it in vLLM and SGLang: ends always rounded, g(mscale) / g(mscale_all_dim) always."""
    rules = replace(choices, yarn_ends="rounded", yarn_magnitude="ratio")
    schedule = with_extrapolation(yarn(over, layer.keys, rules), over, layer)
    return times(schedule, attn_factor(layer))


@final
class Magnitude:
    """The factor on cos and sin that transformers computes for a wanted YaRN block, in the words other stacks know."""

    def __init__(self, wanted: Wanted) -> None:
        self.block = dict(wanted.block or {})
        factor = self.block.get("factor")
        if wanted.rule != "yarn" or not isinstance(factor, int | float) or factor <= 1:
            raise StackStops("no YaRN block with a factor above 1 is wanted")
        self.factor = float(factor)

    @property
    def value(self) -> float:
        """The factor itself."""
        return transformers_magnitude(self.factor, Keys(self.block))

    def as_multiplier(self) -> dict[str, Any]:
        """The block with `attn_factor` for stacks that compute g(factor) * attn_factor."""
        share = self.value / formulas.magnitude(self.factor)
        return self._without_others({} if math.isclose(share, 1, rel_tol=1e-12) else {"attn_factor": share})

    def as_pair(self) -> dict[str, Any]:
        """The block with an `mscale` over 0 for stacks that compute g(mscale) / g(mscale_all_dim) always."""
        share = (self.value - 1) / (0.1 * math.log(self.factor))
        return self._without_others(
            {} if math.isclose(share, 1, rel_tol=1e-12) else {"mscale": share, "mscale_all_dim": 0.0}
        )

    def as_given(self) -> dict[str, Any]:
        """The block with an explicit `attention_factor`."""
        return self._without_others({"attention_factor": self.value})

    def _without_others(self, more: dict[str, Any]) -> dict[str, Any]:
        named = ("attention_factor", "mscale", "mscale_all_dim", "attn_factor")
        return {key: value for key, value in self.block.items() if key not in named} | more
