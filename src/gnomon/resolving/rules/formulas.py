"""What stacks compute, for any numbers a file may hold, wise or not: float64, without the checks of gnomon's own rules.

`gnomon.encodings.frequencies` has the rules for building; they refuse numbers that no model should have. Here such
numbers are computed as the stacks do, infinities and NaN among them. Sources: `modeling_rope_utils.py` of transformers
5.24 unless said otherwise.
"""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64

from gnomon.resolving.stopping import StackStops

Pairs = Float64[np.ndarray, " pairs"]
WIDEST = 65536  #: no head has more columns
NARROWEST = 0.001  #: a ramp without width gets this one


def plain(base: float, dim: int) -> Pairs:
    """base^(-2 i / dim), i = 0 .. dim / 2 - 1."""
    if not 0 < dim <= WIDEST or not base > 0:
        raise StackStops(f"a rotated width of {dim} and a base of {base:g} give no frequencies")
    inverse: Pairs = float(base) ** -(np.arange(0, dim, 2, dtype=np.float64) / dim)
    return inverse


def ntk_base(base: float, factor: float, dim: int) -> float:
    """base * factor^(dim / (dim - 2)); NaN where the factor is negative, as some stacks get it."""
    if dim <= 2:
        raise StackStops(f"a rotated width of {dim} has no NTK-aware base")
    return base * factor ** (dim / (dim - 2)) if factor >= 0 else math.nan


def ramp_ends(base: float, dim: int, length: float, fast: float, slow: float) -> tuple[float, float]:
    """The pairs, not rounded, that turn `fast` and `slow` times within `length`."""
    if not (length > 0 and fast > 0 and slow > 0 and base > 1):
        raise StackStops(f"YaRN over length {length:g} with betas {fast:g} and {slow:g} and base {base:g} has no ramp")

    def pair(turns: float) -> float:
        return dim * math.log(length / (turns * 2 * math.pi)) / (2 * math.log(base))

    return pair(fast), pair(slow)


@np.errstate(all="ignore")
def yarn(inverse: Pairs, factor: float, low: float, high: float, *, rounded: bool, most: float) -> Pairs:
    """Pairs below `low` kept, those above `high` divided by the factor, a line between; ends clamped to [0, most]."""
    if rounded:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0.0), min(high, most)
    if low == high:
        high += NARROWEST
    share = np.clip((np.arange(len(inverse)) - low) / (high - low), 0.0, 1.0)
    result: Pairs = share * inverse / factor + (1 - share) * inverse
    return result


@np.errstate(all="ignore")
def llama3(inverse: Pairs, factor: float, low: float, high: float, length: float) -> Pairs:
    """Waves shorter than length / high kept, those longer than length / low divided, blended between."""
    if not low or not high:
        raise StackStops(f"ZeroDivisionError: llama3 with low_freq_factor {low:g} and high_freq_factor {high:g}")
    wave = 2 * math.pi / inverse
    divided: Pairs = np.where(wave > length / low, inverse / factor, inverse)
    if high == low:
        return divided
    smooth = (length / wave - low) / (high - low)
    blended = (1 - smooth) * divided / factor + smooth * divided
    middle = ~(wave < length / high) & ~(wave > length / low)
    result: Pairs = np.where(middle, blended, divided)
    return result


@np.errstate(all="ignore")
def divided(inverse: Pairs, divisors: Sequence[float], name: str) -> Pairs:
    """Each frequency divided by its own number (LongRoPE, `rope_freqs` of a GGUF file)."""
    if len(divisors) != len(inverse):
        raise StackStops(f"{name} has {len(divisors)} numbers where {len(inverse)} pairs turn")
    result: Pairs = inverse / np.asarray(divisors, dtype=np.float64)
    return result


def proportional(base: float, head_dim: int, fraction: float, factor: float = 1.0) -> Pairs:
    """The first int(fraction * head_dim // 2) pairs turn with exponents over the whole head; the others stand."""
    inverse = plain(base, head_dim) / factor
    inverse[int(fraction * head_dim // 2) :] = 0.0
    return inverse


def magnitude(factor: float, scale: float = 1.0) -> float:
    """YaRN's g(s, k): 1 up to a factor of 1, else 0.1 k ln(s) + 1."""
    return 1.0 if factor <= 1 else 0.1 * scale * math.log(factor) + 1.0


def latent_softmax(factor: float, share: float) -> float:
    """What DeepSeek multiplies the softmax scale by under YaRN: g(s, mscale_all_dim) squared."""
    return magnitude(factor, share) ** 2


def longrope_magnitude(ratio: float, length: float) -> float:
    """sqrt(1 + ln(r) / ln(L)); 1 up to a ratio of 1."""
    if length <= 1:
        raise StackStops(f"LongRoPE from an original length of {length:g} has no attention factor")
    return 1.0 if ratio <= 1 else math.sqrt(1 + math.log(ratio) / math.log(length))
