"""What a rotation is given, held against what it takes: one clear error for each way in which it does not fit."""

import torch
from torch import Tensor

from gnomon.errors import GnomonError, ShapeError
from gnomon.kernels.places import require_int64
from gnomon.kernels.rotary.turn import Turn
from gnomon.kernels.rotation import Layout, checked_layout


def heads_first(x: Tensor, name: str, sequence_dim: int) -> Tensor:
    """The vectors as (B, H, S, D), a view; raises unless they have four dimensions and `sequence_dim` is one of two."""
    if x.ndim != 4:
        raise ShapeError(
            f"{name} needs four dimensions, batch, heads, sequence and width, got shape {tuple(x.shape)}; unsqueeze it."
        )
    if not x.is_floating_point():
        raise GnomonError(f"{name} needs floating point numbers, got {x.dtype}; convert it first.")
    if sequence_dim in (-2, 2):
        return x
    if sequence_dim in (1, -3):
        return x.transpose(1, 2)
    raise GnomonError(
        f"sequence_dim is -2 for (batch, heads, sequence, width) or 1 for (batch, sequence, heads, width), "
        f"got {sequence_dim}."
    )


def checked_turn(
    cos: Tensor, sin: Tensor, positions: Tensor | None, layout: Layout, sources: tuple[Tensor, ...]
) -> Turn:
    """The angles for these (B, H, S, D) vectors; raises where shapes, dtypes or devices do not fit together."""
    checked_layout(layout)
    _check_tables(cos, sin)
    first = sources[0]
    batch, length = first.shape[0], first.shape[2]
    if positions is None:
        if cos.ndim == 2:
            cos, sin = cos.unsqueeze(0), sin.unsqueeze(0)
        _check_rows(cos.shape, "cos and sin", batch, length, "(S, P), (1, S, P) or (B, S, P), a row for each token")
    else:
        if cos.ndim != 2:
            raise ShapeError(f"With positions, cos and sin are tables (T, P), got shape {tuple(cos.shape)}.")
        require_int64(positions)
        positions = positions.unsqueeze(0) if positions.ndim == 1 else positions
        _check_rows((*positions.shape, 0), "positions", batch, length, "(S), (1, S) or (B, S), one for each token")
    for name, x in zip(("q", "k"), sources, strict=False):
        _check_vectors(name, x, cos, batch, length)
    if positions is not None and positions.device != cos.device:
        raise GnomonError(f"positions are on {positions.device} but cos on {cos.device}; move one to the other.")
    return Turn(cos, sin, positions, layout)


def _check_tables(cos: Tensor, sin: Tensor) -> None:
    if cos.shape != sin.shape or cos.ndim not in (2, 3):
        raise ShapeError(
            f"cos and sin have one shape of two or three dimensions, the last one number for each pair; got "
            f"{tuple(cos.shape)} and {tuple(sin.shape)}."
        )
    if cos.dtype != sin.dtype or cos.dtype not in (torch.float32, torch.float64):
        raise GnomonError(
            f"cos and sin must both be float32 or float64, got {cos.dtype} and {sin.dtype}; keep the tables in "
            f"float32: only results are rounded to half precision."
        )
    if cos.device != sin.device:
        raise GnomonError(f"cos is on {cos.device} but sin on {sin.device}; move one to the other.")


def _check_rows(shape: tuple[int, ...], what: str, batch: int, length: int, allowed: str) -> None:
    if len(shape) != 3 or shape[1] != length or (shape[0] != 1 and shape[0] != batch):
        given = tuple(shape) if what != "positions" else tuple(shape[:-1])
        raise ShapeError(f"{what} for a batch of {batch} with {length} tokens are {allowed}; got shape {given}.")


def _check_vectors(name: str, x: Tensor, cos: Tensor, batch: int, length: int) -> None:
    if x.shape[0] != batch or x.shape[2] != length:
        raise ShapeError(
            f"q and k are turned together, so they have the same batch and length: q has {batch} and {length}, "
            f"{name} has {x.shape[0]} and {x.shape[2]}; call once for each."
        )
    if 2 * cos.shape[-1] > x.shape[-1]:
        raise ShapeError(f"The angles turn {2 * cos.shape[-1]} columns but {name} has {x.shape[-1]}.")
    if x.device != cos.device:
        raise GnomonError(f"{name} is on {x.device} but cos and sin on {cos.device}; move the tables there.")
