"""What llama.cpp multiplies cos, sin and the logits by under YaRN: steps that cancel each other, in three versions.

The kernel multiplies by 1 + 0.1 ln(s) whenever YaRN is on, so the context divides by it beforehand (PR #17945). Source:
`src/llama-context.cpp`, `src/models/deepseek2.cpp`, `ggml/src/ggml-cpu/ops.cpp`.
"""

import math
from dataclasses import dataclass
from typing import final

from gnomon.resolving.readers.llama_cpp.architectures import LOG_MULTIPLIERS
from gnomon.resolving.rules.formulas import magnitude
from gnomon.resolving.stopping import StackStops


@final
@dataclass(frozen=True)
class Magnitude:
    """`internal` goes into the kernel, `turned` is the factor on cos and sin, `softmax` that on the usual scale."""

    internal: float
    turned: float
    softmax: float = 1.0


@final
@dataclass(frozen=True)
class Factors:
    """What a file says. `multiplier` is rope.scaling.yarn_log_multiplier as it stands there, 0 for none.

    `own` is rope.scaling.yarn_attn_factor where the loader asks for it, `extra` rope.scaling.attn_factor.
    """

    architecture: str
    factor: float
    extends: bool
    multiplier: float = 0.0
    own: float = 1.0
    extra: float = 1.0

    def __post_init__(self) -> None:
        if not self.factor > 0:
            raise StackStops(f"a factor of {self.factor:g} has no logarithm")

    @property
    def grown(self) -> float:
        """What the kernel multiplies by."""
        return 1 + 0.1 * math.log(self.factor)

    @property
    def all_dim(self) -> float:
        """The model's mscale_all_dim: 0 where it is not given or the loader does not ask for it."""
        divisor = LOG_MULTIPLIERS.get(self.architecture)
        return self.multiplier / divisor if divisor else 0.0


def cancelled(given: Factors) -> Magnitude:
    """Since PR #17945: `yarn_attn_factor` is replaced under YaRN, and the kernel's own factor taken out beforehand.

    >>> plain = cancelled(Factors("qwen2", 4.0, True))
    >>> round(plain.internal, 6), round(plain.turned, 6)
    (1.0, 1.138629)
    >>> v3 = cancelled(Factors("deepseek2", 40.0, True, multiplier=0.1))
    >>> round(v3.internal, 6), round(v3.turned, 6), round(v3.softmax, 6)
    (0.73052, 1.0, 1.873854)
    """
    internal = given.own
    if given.extends:
        above = given.all_dim if given.architecture == "deepseek2" and given.all_dim not in (0.0, 1.0) else 1.0
        internal = magnitude(given.factor, above) / magnitude(given.factor, given.all_dim) / given.grown
    internal *= given.extra
    turned = internal * given.grown if given.extends else internal
    if given.architecture != "deepseek2":
        return Magnitude(internal, turned)
    scale = internal * given.grown * (1 + 0.1 * given.all_dim * math.log(given.factor))
    return Magnitude(internal, turned, scale * scale)


def multiplied(given: Factors) -> Magnitude:
    """Before that PR, and in ik_llama.cpp: what the loader has is multiplied by the kernel's factor.

    DeepSeek's graph has its own cancellation; Mistral 3's loader sets the ratio, which the kernel still multiplies.
    """
    internal = given.own * given.extra
    if given.architecture == "mistral3" and given.all_dim:
        internal = magnitude(given.factor) / magnitude(given.factor, given.all_dim) * given.extra
    if given.architecture == "deepseek2":
        scale = internal * (1 + given.multiplier * math.log(given.factor))
        internal = 1 / given.grown
        return Magnitude(internal, internal * given.grown if given.extends else internal, scale * scale)
    return Magnitude(internal, internal * given.grown if given.extends else internal)
