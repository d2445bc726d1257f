"""YaRN: Peng et al. 2023, arXiv:2309.00071."""

import math
from typing import Any

from gnomon.extending.rotary.held import ORIGINAL, Held, Lengths, Scaled, number
from gnomon.extending.rotary.methods.goes_on import kept, require_rule, with_factor
from gnomon.resolving.rules.formulas import magnitude

BETAS = {"beta_fast": 32.0, "beta_slow": 1.0}  #: written out, because ONNX Runtime GenAI knows YaRN by beta_fast
SAME = 1e-3
REACH = 32.0  #: the largest factor of the paper


def yarn(held: Held, lengths: Lengths) -> Scaled:
    """Slow pairs divided by to / original, fast ones kept; the attention factor follows the new factor.

    >>> there = Held(None, "yarn", 1e6, 128, {"factor": 4.0, "original_max_position_embeddings": 32768})
    >>> yarn(there, Lengths(32768, 131072, 131072, 262144)).values["factor"]
    8.0
    """
    require_rule(held, "YaRN", "default", "yarn")
    old, new = held.factor if held.rule == "yarn" else 1.0, lengths.factor
    if held.rule == "yarn":
        betas = {key: value for key, value in BETAS.items() if held.values.get(key) is None}
        values = with_factor(held.values, new, **{ORIGINAL: lengths.original}, **betas)
    else:
        values = with_factor(kept(held), new, **{ORIGINAL: lengths.original}, **BETAS)
    attention, drawbacks = _attention(values, old, new)
    values |= attention
    scaled = Scaled("yarn", held.base, values, lengths.to)
    cosine = scaled.frequencies(lengths.original).attention_factor
    words = [
        f"YaRN by {lengths.to:,} / {lengths.original:,} = {new:g}, counted from the original length (before: "
        f"{held.name}); cos and sin are multiplied by {cosine:.6f}"
    ]
    if all_dim := number(values.get("mscale_all_dim")):
        words.append(
            "where the model multiplies its softmax scale by (0.1 mscale_all_dim ln s + 1)^2, as DeepSeek does, that "
            f"goes from {magnitude(old, all_dim) ** 2:.6f} to {magnitude(new, all_dim) ** 2:.6f}"
        )
    short = "short sequences change too: their frequencies and the size of their scores are those of the long ones"
    return Scaled("yarn", held.base, values, lengths.to, tuple(words), (short, *drawbacks))


def _attention(values: dict[str, Any], old: float, new: float) -> tuple[dict[str, float], tuple[str, ...]]:
    """A stated attention factor follows where it is what the old factor gives; else it stays, and that is said."""
    given = number(values.get("attention_factor"))
    if given is None:
        return {}, ()
    if math.isclose(given, magnitude(old, 1.0), rel_tol=SAME):
        return {"attention_factor": magnitude(new, 1.0)}, ()
    return {}, (f"attention_factor stays {given:g}: it was not what the old factor gives, so it was set on purpose",)
