"""Cosines and sines of position x frequency, good to the last bit of float32 at any position.

Rows in order come from the addition theorem: cos((c + f) w) = cos(c w) cos(f w) - sin(c w) sin(f w), where c counts in
steps of 256 and f within a step, so that 1 row in 256 costs a cosine and the others four products. All of it is in
float64 and rounded once.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import torch
from jaxtyping import Float, Float32, Float64, Int
from torch import Tensor

from gnomon.errors import GnomonError

#: Rows of a step. Fixed, so that a row has the same bits in whatever table it stands.
STEP: Final = 256
#: Pairs that are computed together: bounds the working memory, which is 4 STEP x COLUMNS x 8 bytes.
COLUMNS: Final = 512
#: Cosines and sines, (..., S, P) for tokens or (T, P) in a table.
Pair = tuple[Float[Tensor, "*_"], Float[Tensor, "*_"]]


def cos_sin_rows(
    inverse: Float64[np.ndarray, " pairs"] | Float64[Tensor, " pairs"] | Sequence[float],
    start: int,
    count: int,
    *,
    factor: float = 1.0,
    out: tuple[Float32[Tensor, "count pairs"], Float32[Tensor, "count pairs"]] | None = None,
) -> tuple[Float32[Tensor, "count pairs"], Float32[Tensor, "count pairs"]]:
    """factor x cos and factor x sin of p w for p = start .. start + count - 1: two of (count, P) float32 on the CPU.

    `inverse` are the P inverse frequencies w in radians per position, in float64: rounded to float32 they are wrong by
    a turn far out. The result is within 6e-8 of the exact value (times the factor) up to position 10^7 and beyond; the
    working memory is 8 MB at most, so a table of any length is made in place, or in pieces through `out`. A row does
    not depend on the start or the count.

    Raises GnomonError for frequencies in another dtype, a negative count, or an `out` that does not fit.

    >>> cos, sin = cos_sin_rows([1.0, 0.01], 10_000_000, 2)
    >>> cos
    tensor([[-0.9073, -0.9994],
            [-0.8441, -0.9997]])
    """
    frequencies = _checked(inverse, count)
    shape = (count, len(frequencies))
    cos, sin = empty_rows(shape) if out is None else _fitting(out, shape)
    for first in range(0, shape[1] if count else 0, COLUMNS):
        columns = slice(first, first + COLUMNS)
        _fill(cos.numpy()[:, columns], sin.numpy()[:, columns], frequencies[columns], start, factor)
    return cos, sin


def cos_sin_at(
    positions: Int[Tensor, "*S"],
    inverse: Float64[Tensor, "*#S pairs"],
    *,
    factor: float | Float[Tensor, "*#S #pairs"] = 1.0,
    dtype: torch.dtype = torch.float32,
) -> Pair:
    """factor x cos and factor x sin of each position x each frequency, (..., S) and (P,) -> two of (..., S, P).

    In plain torch and without reading a value, so for any device, graph or position.

    >>> cos_sin_at(torch.tensor([10_000_000]), torch.ones(1, dtype=torch.float64))[0]
    tensor([[-0.9073]])
    """
    return cos_sin_of(positions.unsqueeze(-1).to(torch.float64) * inverse, factor=factor, dtype=dtype)


def cos_sin_of(
    turned: Float64[Tensor, "*S pairs"], *, factor: float | Float[Tensor, "*#S #pairs"] = 1.0, dtype: torch.dtype
) -> Pair:
    """factor x cos and factor x sin of angles in radians, computed in float64 and then cast: (..., P) -> two of it."""
    return (turned.cos() * factor).to(dtype), (turned.sin() * factor).to(dtype)


def _fill(
    cos: Float32[np.ndarray, "count pairs"],
    sin: Float32[np.ndarray, "count pairs"],
    inverse: Float64[np.ndarray, " pairs"],
    start: int,
    factor: float,
) -> None:
    """Step by step: c is the start of a step, f the place in it. numpy casts each block while it writes it."""
    end = start + len(cos)
    steps = range(start // STEP * STEP, end, STEP)
    needed = range(start % STEP, start % STEP + len(cos)) if len(steps) == 1 else range(STEP)
    turned = np.arange(needed.start, needed.stop, dtype=np.float64)[:, None] * inverse
    fine_cos, fine_sin = np.cos(turned), np.sin(turned)
    one, other = np.empty_like(turned), np.empty_like(turned)
    for step in steps:
        first, last = max(step, start), min(step + STEP, end)
        to = slice(first - start, last - start)
        of = slice(first - step - needed.start, last - step - needed.start)
        coarse_cos, coarse_sin = factor * np.cos(step * inverse), factor * np.sin(step * inverse)
        np.multiply(fine_cos[of], coarse_cos, out=one[of])
        np.multiply(fine_sin[of], coarse_sin, out=other[of])
        np.subtract(one[of], other[of], out=cos[to], casting="same_kind")
        np.multiply(fine_cos[of], coarse_sin, out=one[of])
        np.multiply(fine_sin[of], coarse_cos, out=other[of])
        np.add(one[of], other[of], out=sin[to], casting="same_kind")


def _checked(inverse: Any, count: int) -> Float64[np.ndarray, " pairs"]:
    if getattr(inverse, "dtype", np.float64) not in (np.float64, torch.float64):
        raise GnomonError(
            f"The inverse frequencies of a table are float64, got {inverse.dtype}; half precision or float32 turns far "
            f"positions by wrong angles."
        )
    frequencies = np.asarray(inverse, dtype=np.float64)
    if frequencies.ndim != 1 or count < 0:
        raise GnomonError(
            f"A table has one row of frequencies and a count of at least 0, got frequencies of shape "
            f"{frequencies.shape} and count={count}."
        )
    return frequencies


def empty_rows(shape: tuple[int, int]) -> Pair:
    """From numpy, in huge pages where the system has them: to write it first then costs several times less."""
    with torch.inference_mode(False):  # or autograd could not keep the rows later
        return torch.from_numpy(np.empty(shape, np.float32)), torch.from_numpy(np.empty(shape, np.float32))


def _fitting(out: tuple[Tensor, Tensor], shape: tuple[int, int]) -> tuple[Tensor, Tensor]:
    for table in out:
        if tuple(table.shape) != shape or table.dtype != torch.float32 or table.device.type != "cpu":
            raise GnomonError(
                f"The memory for a table is float32 on the CPU of shape {shape}, got {table.dtype} on {table.device} "
                f"of shape {tuple(table.shape)}."
            )
    return out
