"""The checkpoint's own options."""

import math
from collections.abc import Iterator
from typing import Any

from gnomon.advisor.effects import Build, Effect
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule

#: what an encoding cannot be built without, where a family or config left it out
SIZES = {
    "rotary": ("head_dim",),
    "alibi": ("num_heads",),
    "t5": ("num_heads",),
    "sinusoidal": ("dim",),
    "learned": ("dim", "max_length"),
    "transformer_xl": ("num_heads", "head_dim", "dim"),
    "mrope": ("head_dim",),
    "axial_rotary": ("head_dim",),
    "deberta": ("num_heads", "head_dim", "dim"),
    "shaw": ("num_heads", "head_dim"),
}


@rule(stage="options", source="the checkpoint's config")
def options_keep(facts: Facts) -> Iterator[Effect]:
    """An encoding that is kept has the options of the checkpoint; sizes that its config does not state are the
    model's.
    """
    if facts.existing is not None:
        sizes = {
            "head_dim": facts.head_dim,
            "num_heads": facts.num_heads,
            "dim": facts.dim,
            "max_length": facts.trained,
        }
        needed: dict[str, Any] = {name: sizes[name] for name in SIZES.get(facts.existing, ())}
        if facts.existing_options.get("coordinates", "index") != "index":  # places between -1 and 1 of some grid
            needed["grid"] = [math.isqrt(facts.trained)] * 2
        yield Build("keep", {**needed, **facts.existing_options}, {"trained": facts.trained})
