"""Positions and slots: one position for each token of a batch."""

from jaxtyping import Int, Shaped
from torch import Tensor

from gnomon.encodings.base import require_positions
from gnomon.errors import ShapeError


def owned(given: Shaped[Tensor, "B S *axes"]) -> Shaped[Tensor, "B S *axes"]:
    """A copy of what stands at each slot; rows that are one row, expanded, stay so."""
    return given[:1].clone().expand_as(given) if given.stride(0) == 0 else given.clone()


def position_of_each(
    positions: Int[Tensor, "#B S *axes"], batch: int, length: int, *, axes: int = 1, noun: str = "token"
) -> Int[Tensor, "B S *axes"]:
    """(B, S) or (1, S) -> (B, S), checked; with coordinates (B, S, axes). `noun` is what stands in the slots."""
    require_positions(positions, axes=axes)
    each = (axes,) if axes > 1 else ()
    if tuple(positions.shape) not in ((batch, length, *each), (1, length, *each)):  # sizes under export have no hash
        raise ShapeError(
            f"Positions have shape {tuple(positions.shape)}, the {noun}s (batch, length) = {(batch, length)}; "
            f"pass one for each {noun}, as {('batch', 'length', *each)} or {(1, 'length', *each)}.".replace("'", "")
        )
    return positions.expand(batch, length, *each)
