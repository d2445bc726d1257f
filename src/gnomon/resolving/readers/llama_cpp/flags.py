"""What is wrong with the metadata of a file, as far as llama.cpp itself would not say so."""

from collections.abc import Iterator, Mapping

from gnomon.resolving.readers.llama_cpp.architectures import READS_YARN_KEYS
from gnomon.resolving.readers.llama_cpp.kernel import LONG, ONE, Rope
from gnomon.resolving.rules.keys import Keys

NOISE = 1e-6


def flags(
    keys: Keys, architecture: str, rope: Rope, factors: Mapping[str, tuple[float, ...]], cancels: bool
) -> Iterator[str]:
    """One sentence for each thing that a user would want to know; the numbers of the reading are as they are."""
    if not keys.has("rope.freq_base"):
        yield f"rope.freq_base is absent: the base is 10000, whatever {architecture} was trained with"
    if rope.kind == "yarn" and not keys.has("rope.scaling.original_context_length"):
        length = f"context_length, {rope.original or 0:g}"
        yield f"YaRN without rope.scaling.original_context_length: turns are counted in {length}"
    dead = cancels or architecture not in READS_YARN_KEYS
    if rope.kind == "yarn" and dead and keys.has("rope.scaling.yarn_attn_factor"):
        yield "rope.scaling.yarn_attn_factor has no effect with YaRN"
    if LONG in factors and rope.original and not keys.has("rope.scaling.original_context_length"):
        yield f"lists of divisors without rope.scaling.original_context_length: they switch at {rope.original:g}"
    if architecture == "phi3" and LONG in factors and not keys.has("rope.scaling.attn_factor"):
        yield "phi3 with lists of divisors but without rope.scaling.attn_factor: cos and sin are not scaled up"
    if ONE in factors and set(factors[ONE]) == {1.0}:
        yield "all numbers of rope_freqs are 1: nothing is scaled"
    if rope.extends and abs(rope.turned - 1) > NOISE:
        yield "each context shift multiplies the cached keys by the factor on cos and sin again"
