"""The numbers that a bare position module gives: rows, angles and biases for positions 0, 1, 2, ..."""

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from gnomon.doctor.evidence.component import LENGTH, Component, first_of
from gnomon.doctor.evidence.expected import wrapped

Rows = Float64[np.ndarray, "positions columns"]
PAIRED = 1e-6  # what a turned unit vector must have in its partner's place


def added_rows(found: Component, length: int) -> Rows:
    """(L, W): what is added at each place; content is zero."""
    return _along(found, first_of(found(length)))


def rotation_angles(found: Component, length: int) -> tuple[Rows, str]:
    """(L, pairs) angles in radians within (-pi, pi], and the layout of the pairs ("" where only angles are given)."""
    out = found(length)
    tensors = [t for t in (out if isinstance(out, tuple | list) else (out,)) if isinstance(t, Tensor)]
    if not _applies(found, tensors):
        if len(tensors) == 2 and tensors[0].shape == tensors[1].shape:
            cos, sin = (_along(found, t) for t in tensors)
            return np.arctan2(sin, cos), ""
        return np.asarray(wrapped(_along(found, tensors[0]))), ""
    return _turned(found, length)


def bias_values(found: Component, length: int) -> Float64[np.ndarray, "heads queries keys"]:
    """(H, S, S): what is added to the logits; content is zero."""
    values = first_of(found(length)).double()
    return values.reshape(-1, *values.shape[-2:])[: values.shape[-3]].numpy()


def _applies(found: Component, tensors: list[Tensor]) -> bool:
    """Whether queries go in and turned queries come out: of zeros, zeros."""
    return not tensors[0].any()


def _turned(found: Component, length: int) -> tuple[Rows, str]:
    """Each unit vector's turned self: its own lane holds the cosine, its partner's the sine."""
    width = first_of(found(length)).shape[-1]
    matrix = np.stack(
        [_along(found, first_of(found(length, -1 - lane))) for lane in range(width)], axis=2
    )  # (L, out, in)
    partner = {
        lane: int(np.abs(np.delete(matrix[:, :, lane], lane, axis=1)).max(axis=0).argmax()) for lane in range(width)
    }
    partner = {lane: other + (other >= lane) for lane, other in partner.items()}
    moved = [lane for lane in range(width) if np.abs(matrix[:, partner[lane], lane]).max() > PAIRED]
    firsts = [lane for lane in moved if partner[lane] > lane]
    angles = [np.arctan2(matrix[:, partner[lane], lane], matrix[:, lane, lane]) for lane in firsts]
    if not angles:
        return np.zeros((length, 1)), ""
    layout = "interleaved" if all(partner[lane] == lane + 1 for lane in firsts) else "half"
    return np.stack(angles, axis=1), layout


def _along(found: Component, out: Tensor) -> Rows:
    """(L, columns) along the axis of positions, the first place of every other axis."""
    out = out.detach().double()
    axis = out.ndim - 2 if found.axis is None else found.axis
    index: list[Any] = [0] * out.ndim
    index[axis], index[-1] = slice(None), slice(None)
    rows: Rows = out[tuple(index)].numpy()
    return rows


def linear_part(angles: Rows) -> tuple[Float64[np.ndarray, " pairs"], Float64[np.ndarray, " pairs"], float]:
    """Angles as start + position * frequency: frequencies, starts, and the largest departure in radians."""
    frequencies = np.median(wrapped(np.diff(angles, axis=0)), axis=0)
    starts = angles[0]
    line = starts + np.arange(len(angles))[:, None] * frequencies
    return frequencies, starts, float(np.abs(wrapped(angles - line)).max())


def each_pair_once(frequencies: Float64[np.ndarray, " columns"]) -> Float64[np.ndarray, " pairs"]:
    """Without the second copy that tables of cosines hold, in halves or side by side."""
    half = len(frequencies) // 2
    if len(frequencies) % 2 or not half:
        return frequencies
    if np.allclose(frequencies[:half], frequencies[half:], rtol=1e-4):
        return frequencies[:half]
    return frequencies[::2] if np.allclose(frequencies[::2], frequencies[1::2], rtol=1e-4) else frequencies


def repeated(rows: Rows) -> tuple[int, int] | None:
    """The first two positions whose rows are the same."""
    _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    again = np.flatnonzero(first[inverse.reshape(-1)] != np.arange(len(rows)))
    return (int(first[inverse.reshape(-1)][again[0]]), int(again[0])) if len(again) else None


def cast(found: Component, dtype: torch.dtype) -> Component:
    """A copy that has never run, after `module.to(dtype)`, called in the same way with content of that dtype."""

    def give(length: int, seed: int) -> tuple[Any, ...]:
        return tuple(
            v.to(dtype) if isinstance(v, Tensor) and v.is_floating_point() else v for v in found.give(length, seed)
        )

    return replace(found, module=copy.deepcopy(found.fresh).to(dtype), give=give)


def longest(found: Component, wanted: int) -> int:
    """`wanted`, or half of it, and so on, until it runs and gives as many rows."""
    length = wanted
    while length > LENGTH and failure_at(found, length) is not None:
        length //= 2
    return max(length, 8)


def failure_at(found: Component, length: int) -> str | None:
    """Why a call for so many places does not give them all; None when it does."""
    try:
        out = found(length)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a module says to an input that is too long
        return f"{type(error).__name__}: {error}"
    first = out[0] if isinstance(out, tuple | list) else out
    rows = max(first.shape[:-1]) if isinstance(first, Tensor) and first.ndim > 1 else length
    return None if rows >= length else f"{rows} rows come out"
