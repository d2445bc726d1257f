"""A composed extension in the words of GGUF: keys of the metadata (llama.cpp, llama-arch), and lists of divisors."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np
from jaxtyping import Float32

from gnomon.adapters.gguf.divisors import FREQS, LONG, SHORT, divisors
from gnomon.errors import GnomonError
from gnomon.extending.rotary.composing import Composed
from gnomon.extending.rotary.held import Held, Scaled, number
from gnomon.extending.rotary.methods.longrope import magnitude

READ_LISTS: Final = ("llama", "phi3", "minicpm")  #: architectures for which llama.cpp loads lists of divisors
SAME: Final = 1e-3


@final
@dataclass(frozen=True, eq=False)
class Changes:
    """`keys` without the architecture in front; `lists` by name of their tensor."""

    keys: Mapping[str, Any]
    lists: Mapping[str, Float32[np.ndarray, " pairs"]] = field(default_factory=dict)


def gguf_changes(composed: Composed, architecture: str, metadata: Mapping[str, Any]) -> Changes:
    """Raises GnomonError for a rule that GGUF has no words for, or llama.cpp no reader."""
    length = {"context_length": composed.lengths.to}
    if not composed.scaled:
        return Changes(length)
    [(held, scaled)] = [(held, scaled) for held, scaled in composed.layers if scaled is not None][:1]
    original = {"rope.scaling.original_context_length": composed.lengths.original}
    if scaled.rule == "default":
        return Changes({**length, "rope.freq_base": scaled.base})
    if scaled.rule in ("linear", "yarn"):
        keys = {"rope.scaling.type": scaled.rule, "rope.scaling.factor": float(scaled.values["factor"])}
        return Changes({**length, **keys, **original})
    if scaled.rule == "llama3":
        inverse = scaled.frequencies(composed.lengths.original).inverse(held.rotary_dim)
        return Changes(length, {FREQS: divisors(inverse, held.base)})
    if scaled.rule == "longrope":
        return _longrope(composed, held, scaled, architecture, metadata)
    raise GnomonError(f"GGUF has no words for {scaled.rule} scaling; use yarn, linear or ntk.")


def _longrope(
    composed: Composed, held: Held, scaled: Scaled, architecture: str, metadata: Mapping[str, Any]
) -> Changes:
    if architecture not in READ_LISTS:
        raise GnomonError(
            f"llama.cpp loads lists of divisors for {', '.join(READ_LISTS)}, not for {architecture}; use yarn or ntk."
        )
    lengths = composed.lengths
    lists = {SHORT: scaled.values["short_factor"], LONG: scaled.values["long_factor"]}
    keys: dict[str, Any] = {
        "context_length": lengths.to,
        "rope.scaling.type": "longrope",
        "rope.scaling.original_context_length": lengths.original,
    }
    name = "rope.scaling.attn_factor"
    given = number(metadata.get(f"{architecture}.{name}"))
    if given is None and (stated := number(scaled.values.get("attention_factor"))) is not None:
        keys[name] = stated
    elif given is not None and math.isclose(  # what the converter writes for Phi-3
        given, magnitude(lengths.now / lengths.original, lengths.original), rel_tol=SAME
    ):
        keys[name] = magnitude(lengths.to / lengths.original, lengths.original)
    return Changes(keys, {key: np.asarray(values, dtype=np.float32) for key, values in lists.items()})
