"""The scaling of a GGUF file given to transformers, whose own loader takes the base alone and drops all the rest.

Read from its modeling_gguf_pytorch_utils.py and integrations/ggml.py (5.x): only gpt-oss gets a block of scaling.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
from jaxtyping import Float64
from torch import nn

from gnomon.adapters.gguf.config import GGUFConfig
from gnomon.adapters.gguf.divisors import ORIGINAL, longrope_block
from gnomon.adapters.subject import MissingEvidence
from gnomon.encodings.frequencies import Plain, build_frequencies

FULL: Final = "full_attention"
LISTS_ONLY: Final = ("phi3",)  #: families of whose blocks transformers allows that of longrope alone
FOR_OTHERS: Final = ("attn_factor", "extrapolation_factor")  #: keys that transformers passes over
CLOSE: Final = 1e-4


@final
@dataclass(frozen=True, eq=False)
class Scaling:
    """`block` in the words of transformers; `inverse` and `attention` are what it makes of a short sequence."""

    block: Mapping[str, Any]
    inverse: Float64[np.ndarray, " pairs"]
    attention: float

    def put(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values of a transformers config with the block in it, for layers of full attention where kinds differ."""
        there = values.get("rope_parameters") or {}
        if isinstance(full := there.get(FULL), Mapping):
            parameters = {**there, FULL: {**full, **self.block}}
        else:
            parameters = {**there, **self.block}
        beside = {ORIGINAL: self.block[ORIGINAL]} if ORIGINAL in values and ORIGINAL in self.block else {}
        return {**values, "rope_parameters": parameters, **beside}

    def require_in(self, model: nn.Module) -> None:
        """Raises MissingEvidence unless a rotary module of the model turns so: it would be another model's numbers."""
        for name, buffer in model.named_buffers():
            path, _, leaf = name.rpartition(".")
            if not leaf.endswith("inv_freq") or "original" in leaf or buffer.numel() != self.inverse.size:
                continue
            factor = getattr(model.get_submodule(path), leaf.replace("inv_freq", "attention_scaling"), 1.0)
            turns = np.allclose(buffer.double().cpu().numpy(), self.inverse, rtol=CLOSE, atol=0)
            if turns and math.isclose(factor, self.attention, rel_tol=CLOSE):
                return
        raise MissingEvidence(f"transformers builds the model without its scaling ({self.block['rope_type']})")


def scaling_of(read: GGUFConfig) -> Scaling | None:
    """The scaling that metadata and lists come to; None where there is none.

    Raises MissingEvidence for one that transformers has no words for.
    """
    config = read.config
    block = config.get("rope_scaling")
    if not isinstance(block, Mapping):
        return None
    kind = block.get("rope_type")
    if kind not in ("linear", "yarn", "longrope", "llama3"):
        raise MissingEvidence(f"the file is scaled by {kind!r}, which transformers does not build from a GGUF file")
    _require_alike(kind, block)
    scaled = [claim for claim in read.claims() if claim.options.get("frequencies", {}).get("kind") == kind]
    if not scaled:
        raise MissingEvidence(f"gnomon does not know where a {config.get('model_type')} is scaled by {kind}")
    options = scaled[0].options
    frequencies = build_frequencies(options["frequencies"])
    inverse, attention = frequencies.inverse(options["rotary_dim"]), frequencies.attention_factor
    if kind == "yarn":
        attention *= block.get("attn_factor", 1.0)
    made = {key: value for key, value in block.items() if key not in FOR_OTHERS}
    if kind in ("yarn", "longrope"):
        made["attention_factor"] = attention
        made.setdefault(ORIGINAL, options["frequencies"]["original_max_length"])
    if config.get("model_type") in LISTS_ONLY and kind != "longrope":
        made = _as_lists(inverse, attention, options["frequencies"]["base"], config.get("max_position_embeddings"))
    return Scaling(made, inverse, attention)


def _require_alike(kind: str, block: Mapping[str, Any]) -> None:
    """What llama.cpp reads of such a file and transformers cannot say, or reads otherwise."""
    factor = block.get("factor")
    if kind == "yarn" and factor is None:
        raise MissingEvidence("the file says yarn without a factor, which llama.cpp takes for 1 and others for a ratio")
    if kind == "longrope" and factor not in (None, 1):
        raise MissingEvidence(f"the file has lists of divisors and a factor of {factor:g}, of which only the lists fit")
    if block.get("extrapolation_factor", 1) not in (1, -1):
        raise MissingEvidence("the file sets yarn_ext_factor, for which transformers has no word")


def _as_lists(inverse: Float64[np.ndarray, " pairs"], attention: float, base: float, length: Any) -> dict[str, Any]:
    """The same frequencies as lists of LongRoPE, one for all lengths."""
    divisors = (Plain(base).inverse(2 * len(inverse)) / inverse).tolist()
    return {**longrope_block(divisors, divisors, attention), ORIGINAL: length}
