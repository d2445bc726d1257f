"""What a GGUF file says of rotation, in the words of a config: its metadata, and its lists of divisors."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from gnomon.adapters.gguf.config import gguf_config
from gnomon.encodings.frequencies import Llama3, Plain
from gnomon.errors import GnomonError
from gnomon.extending.gguf.pairs import Head
from gnomon.extending.rotary.held import ORIGINAL, Held
from gnomon.extending.rotary.reading import RotaryConfig, read_rotary
from gnomon.resolving.given import Given
from gnomon.resolving.loading import load

BASE: Final = 10000.0  #: llama.cpp's, where a file states none
FREQS, SHORT, LONG = "rope_freqs.weight", "rope_factors_short.weight", "rope_factors_long.weight"
#: what the files of Meta's models were made with; a GGUF file holds only what follows from it
LLAMA3: Final = ({"low": 1.0, "high": 4.0, "length": 8192}, {"low": 1.0, "high": 1.0, "length": 8192})
CLOSE: Final = 1e-4


def read_gguf_rotary(head: Head) -> tuple[RotaryConfig, Given]:
    """The rotation, and the file as stacks see it; raises GnomonError for a file without one, or with its own."""
    given = load(head.path)
    read = gguf_config(head.header.metadata)
    config = dict(read.config)
    config.setdefault("rope_theta", BASE)
    if SHORT in given.factors and LONG in given.factors:
        key = f"{read.architecture}.rope.scaling.original_context_length"
        original = head.header.metadata.get(key)  # Phi-3 has it and no type of scaling
        config["rope_scaling"] = {
            **config.get("rope_scaling", {}),
            **({} if original is None else {ORIGINAL: original}),
            "rope_type": "longrope",
            "short_factor": list(given.factors[SHORT]),
            "long_factor": list(given.factors[LONG]),
        }
    rotary = read_rotary(config)
    if rotary is None:
        raise GnomonError(f"A GGUF file of {read.architecture or 'no architecture'} has no rotation to extend.")
    if read.rotated is not None and not rotary.nested:
        rotary = replace(rotary, held=tuple(replace(held, rotary_dim=read.rotated) for held in rotary.held))
    if FREQS in given.factors:
        rotary = replace(rotary, held=tuple(_llama3(held, given.factors[FREQS]) for held in rotary.held))
    return rotary, given


def divisors(held: Held, inverse: Any) -> Any:
    """What llama.cpp divides the plain frequencies by to get these, float32."""
    return np.asarray(Plain(held.base).inverse(held.rotary_dim) / inverse, dtype=np.float32)


def _llama3(held: Held, given: tuple[float, ...]) -> Held:
    """The rule that the divisors follow from; its numbers are not in the file, so they are tried."""
    factor = max(given)
    for numbers in LLAMA3:
        rule = Llama3(
            factor,
            numbers["length"],
            base=held.base,
            low_freq_factor=numbers["low"],
            high_freq_factor=numbers["high"],
        )
        made = divisors(held, rule.inverse(held.rotary_dim)) if held.rotary_dim == 2 * len(given) else np.empty(0)
        if made.shape == (len(given),) and np.allclose(made, given, rtol=CLOSE):
            values: Mapping[str, Any] = {
                "factor": factor,
                "low_freq_factor": numbers["low"],
                "high_freq_factor": numbers["high"],
                ORIGINAL: numbers["length"],
            }
            return replace(held, rule="llama3", values=values)
    raise GnomonError(
        f"The file has divisors of its own ({FREQS}) that follow from no rule gnomon knows; "
        "extend the folder that it was made from."
    )
