"""The numbers that llama.cpp's converter writes as tensors; the runtime divides each frequency by its own."""

import math

import numpy as np

from gnomon.resolving.readers.llama_cpp.kernel import LONG, SHORT
from gnomon.resolving.readers.llama_cpp.writer import Writer
from gnomon.resolving.rules.formulas import WIDEST
from gnomon.resolving.stopping import StackStops


def llama3(base: float, dim: int, factor: float, low: float, high: float, length: float) -> tuple[float, ...]:
    """One list of `rope_freqs`, dim / 2 numbers: 1 for short waves, the factor for long ones, between them a blend.

    Source: `LlamaModel.generate_extra_tensors` in `conversion/llama.py`.

    >>> [round(x, 3) for x in llama3(1e4, 8, 8.0, 1.0, 4.0, 64.0)]
    [1.0, 7.667, 8.0, 8.0]
    """
    if not (0 < dim <= WIDEST and base > 0 and factor and low > 0 and high > 0):
        raise StackStops(f"llama3 over factor {factor:g} with {low:g} and {high:g} has no divisors")
    waves = 2 * math.pi * base ** (np.arange(0, dim, 2) / dim)

    def divisor(wave: float) -> float:
        if wave < length / high:
            return 1.0
        if wave > length / low:
            return factor
        if high == low:
            raise StackStops("low_freq_factor equals high_freq_factor, and a wave lies on the border: division by zero")
        smooth = (length / wave - low) / (high - low)
        return 1 / ((1 - smooth) / factor + smooth)

    return tuple(divisor(float(wave)) for wave in waves)


def two_lists(writer: Writer, dim: int) -> None:
    """short_factor and long_factor as two tensors; raises StackStops unless both have dim / 2 numbers."""
    block = writer.block
    long, short = block.numbers("long list", "long_factor"), block.numbers("short list", "short_factor")
    if long is None or short is None:
        raise StackStops("KeyError: rope_scaling lacks long_factor or short_factor")
    if len(long) != len(short) or 2 * len(long) != dim:
        raise StackStops(f"ValueError: lists of {len(long)} and {len(short)} divisors where {dim / 2:g} are needed")
    writer.factors.update({LONG: long, SHORT: short})
