"""The figures that show an encoding: its values, its waves, which positions look alike, and what distance does.

`portrait` takes an encoding; the others take the plain numbers, from wherever they came.
"""

import torch
from jaxtyping import Int
from torch import Tensor

from gnomon.encodings.base import PositionEncoding
from gnomon.encodings.randomized import RandomizedPositions
from gnomon.encodings.rotary import Rotary
from gnomon.errors import GnomonError
from gnomon.plots.figure import Figure
from gnomon.portraits.biases import bias_of, bias_portrait
from gnomon.portraits.content import content_of
from gnomon.portraits.grids import grid_of
from gnomon.portraits.ids import ids_drawn
from gnomon.portraits.rotations import rotary_of, rotary_portrait, scores_of
from gnomon.portraits.tables import cosine_by_distance, table_portrait

__all__ = ["bias_portrait", "cosine_by_distance", "portrait", "rotary_portrait", "table_portrait"]


def portrait(encoding: PositionEncoding, *, length: int, title: str = "") -> tuple[Figure, ...]:
    """Figures of an encoding at positions 0 .. length - 1, chosen by the hooks that it uses; `title` goes in front.

    An encoding of images or video is drawn on its own grid, or on one of at most `length` places that is wider than
    high. One that needs queries and keys gets drawn ones, and one whose frequencies depend on the length of the
    sequence is drawn at the trained length, with a comparison.

    Raises GnomonError for an encoding without numbers of its own (NoPE) and PositionError past its last position.

    >>> from gnomon.encodings import ALiBi, ALiBiGrid
    >>> [type(figure).__name__ for figure in portrait(ALiBi(num_heads=2), length=8)]
    ['Heatmap', 'Lines']
    >>> portrait(ALiBiGrid(num_heads=2), length=40)[0].values.shape
    (5, 8)
    """
    with torch.no_grad():
        if encoding.axes > 1:
            return grid_of(encoding, length, title)
        return _sequence_of(encoding, length, title)


def _sequence_of(encoding: PositionEncoding, length: int, title: str) -> tuple[Figure, ...]:
    positions = torch.arange(length)[None]
    if isinstance(encoding, Rotary):
        return rotary_of(encoding, length, title)
    if isinstance(encoding, RandomizedPositions):
        ids = encoding.mapped(positions)
        return ids_drawn(ids[0].numpy(), encoding.span, title), *_figures_at(encoding.inner, ids, title)
    return _figures_at(encoding, positions, title)


def _figures_at(encoding: PositionEncoding, positions: Int[Tensor, "1 S"], title: str) -> tuple[Figure, ...]:
    """The figures of the first hook that the encoding uses."""
    if encoding.bias(positions[:, :1], positions[:, :1]) is not None:
        return bias_of(encoding, positions, title)
    if _uses(encoding, "content_bias"):
        return content_of(encoding, positions, title)
    if _uses(encoding, "rotate_query"):
        return scores_of(encoding, positions, title)
    if "dim" in encoding.options:
        table = encoding.embed(torch.zeros(1, positions.shape[1], encoding.options["dim"]), positions)[0].numpy()
        return table_portrait(table, title=title)
    raise GnomonError(f"{type(encoding).__name__} has no numbers to draw: it adds no vector, no rotation and no bias.")


def _uses(encoding: PositionEncoding, hook: str) -> bool:
    """Whether the encoding has a hook of its own."""
    return getattr(type(encoding), hook) is not getattr(PositionEncoding, hook)
