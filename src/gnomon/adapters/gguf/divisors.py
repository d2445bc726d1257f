"""Lists of divisors, which a GGUF file keeps as tensors, joined with its metadata: the whole scaling of a model.

llama.cpp divides the plain frequencies by `rope_freqs.weight` where it is there, else by one of the two lists of
LongRoPE (`llama_model::get_rope_factors`); a file of the architecture "llama" has the two only with the type longrope.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from gnomon.adapters.gguf.config import GGUFConfig
from gnomon.encodings.frequencies import Llama3, Plain

FREQS, SHORT, LONG = "rope_freqs.weight", "rope_factors_short.weight", "rope_factors_long.weight"
NAMES: Final = (FREQS, SHORT, LONG)
BASE: Final = 10000.0  #: llama.cpp's, where a file states none
#: what the files of Meta's models were made with; a GGUF file holds only what follows from it
LLAMA3: Final = ({"low": 1.0, "high": 4.0, "length": 8192}, {"low": 1.0, "high": 1.0, "length": 8192})
ORIGINAL: Final = "original_max_position_embeddings"
CLOSE: Final = 1e-4

Lists = Mapping[str, tuple[float, ...]]


def with_lists(read: GGUFConfig, metadata: Mapping[str, Any], lists: Lists) -> GGUFConfig:
    """The config with the scaling that lists carry, as its `rope_scaling`; itself where the file has none.

    Divisors that the rule of Llama 3 gives become that rule; others become LongRoPE's, with one list for all lengths.
    """
    if FREQS in lists:
        base = read.config.get("rope_theta", BASE)
        block = llama3_block(lists[FREQS], base) or longrope_block(lists[FREQS], lists[FREQS], 1.0)
        names = {"short_factor": FREQS, "long_factor": FREQS, "factor": FREQS}
    elif SHORT in lists and LONG in lists and _loads_both(read):
        prefix = f"{read.architecture}.rope.scaling."
        factor = metadata.get(f"{prefix}attn_factor", 1.0)
        given = metadata.get(f"{prefix}original_context_length")
        block = {**read.config.get("rope_scaling", {}), **longrope_block(lists[SHORT], lists[LONG], factor)}
        if given is not None:
            block[ORIGINAL] = given
        names = {"short_factor": SHORT, "long_factor": LONG, "attention_factor": f"{prefix}attn_factor"}
        names[ORIGINAL] = f"{prefix}original_context_length"
    else:
        return read
    sources = {f"rope_scaling.{key}": name for key, name in names.items() if key in block}
    return replace(read, config={**read.config, "rope_scaling": block}, sources={**read.sources, **sources})


def llama3_block(given: tuple[float, ...], base: Any) -> dict[str, Any] | None:
    """The rule of Llama 3 that these divisors follow from; its numbers are not in the file, so they are tried.

    >>> rule = Llama3(8.0, 8192, base=5e5)
    >>> llama3_block(tuple(divisors(rule.inverse(64), 5e5).tolist()), 5e5)["factor"]
    8.0
    """
    fine = isinstance(base, int | float) and 1 < base < np.inf and len(given) > 0 and 1 <= max(given) < 1e6
    for numbers in LLAMA3 if fine else ():
        rule = Llama3(
            max(given), numbers["length"], base=base, low_freq_factor=numbers["low"], high_freq_factor=numbers["high"]
        )
        if np.allclose(divisors(rule.inverse(2 * len(given)), base), given, rtol=CLOSE):
            return {
                "rope_type": "llama3",
                "factor": max(given),
                "low_freq_factor": numbers["low"],
                "high_freq_factor": numbers["high"],
                ORIGINAL: numbers["length"],
            }
    return None


def divisors(inverse: Any, base: float) -> Any:
    """What llama.cpp divides the plain frequencies of this base by to get these, float32."""
    return np.asarray(Plain(base).inverse(2 * len(inverse)) / inverse, dtype=np.float32)


def _loads_both(read: GGUFConfig) -> bool:
    block = read.config.get("rope_scaling", {})
    return read.architecture != "llama" or block.get("rope_type") == "longrope"


def longrope_block(short: Iterable[float], long: Iterable[float], attention_factor: Any) -> dict[str, Any]:
    """Two lists as a block of transformers."""
    return {
        "rope_type": "longrope",
        "short_factor": list(short),
        "long_factor": list(long),
        "attention_factor": attention_factor,
    }
