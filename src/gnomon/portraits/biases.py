"""The figures of a bias between the positions of a sequence."""

import numpy as np
import torch
from jaxtyping import Float, Int

from gnomon.encodings.base import PositionEncoding
from gnomon.errors import GnomonError
from gnomon.plots.figure import Figure, Heatmap
from gnomon.plots.portraits import MAX_CELLS, decay, kept, thinned
from gnomon.portraits.titles import join


def bias_portrait(
    head: Float[np.ndarray, "positions positions"],
    by_distance: Float[np.ndarray, "heads distances"],
    *,
    ids: Int[np.ndarray, " positions"] | None = None,
    title: str = "",
) -> tuple[Figure, ...]:
    """The bias of the first head between the positions `ids` as a heat map, and of every head by distance as lines."""
    rows = np.arange(len(head)) if ids is None else ids
    axis = rows.astype(np.float64)
    note = thinned(by_distance.shape[1], len(rows), "position")
    title_of_map = join(title, "Bias of head 0")
    lines = decay(
        np.arange(by_distance.shape[1], dtype=np.float64),
        by_distance - by_distance[:, :1],
        names=[f"head {index}" for index in range(len(by_distance))],
        title=join(title, "Bias by distance"),
        y_label="bias on the logits, against distance 0",
    )
    return Heatmap(title_of_map, head, "key position", "query position", "bias", True, note, axis, axis), lines


def bias_of(encoding: PositionEncoding, positions: Int[torch.Tensor, "1 S"], title: str) -> tuple[Figure, ...]:
    """Asks for the cells that are drawn only: a whole bias grows with the square of the length."""
    ids = kept(positions.shape[1], MAX_CELLS)
    drawn = positions[:, torch.from_numpy(ids)]
    between, last_row = encoding.bias(drawn, drawn), encoding.bias(positions[:, -1:], positions)
    if between is None or last_row is None:
        raise GnomonError(f"{type(encoding).__name__} gives a bias for some positions only.")
    return bias_portrait(between[0, 0].numpy(), last_row[0, :, 0].flip(-1).numpy(), ids=ids, title=title)
