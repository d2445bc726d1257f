"""The figures of a bias that depends on what queries and keys hold: without a trained model, on drawn ones."""

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from gnomon.encodings.base import PositionEncoding
from gnomon.errors import GnomonError
from gnomon.plots.figure import Figure, Heatmap
from gnomon.plots.portraits import MAX_CELLS, decay, kept, sentences, thinned
from gnomon.portraits.rotations import sizes
from gnomon.portraits.titles import join

DRAWS = 128
SEED = 1803_02155  #: not a usual one: with the seed of the weights, q would repeat the numbers of a fresh table
DRAWN = "drawn q and k"


def content_of(encoding: PositionEncoding, positions: Int[Tensor, "1 S"], title: str) -> tuple[Figure, ...]:
    """One draw as a map, and the root mean square of many by distance: their mean is near 0, as that of q is."""
    length = positions.shape[1]
    generator = torch.Generator().manual_seed(SEED)
    ids = kept(length, MAX_CELLS)
    one = _drawn_bias(encoding, positions[:, torch.from_numpy(ids)], positions, generator)[0].double().numpy()
    axis = ids.astype(np.float64)
    drawn = one[:, ids]
    if encoding.causal_only:
        drawn[np.triu_indices(len(ids), 1)] = np.nan
    note = sentences(
        "q and k are drawn from the unit normal distribution.",
        "Keys after the query are hidden." if encoding.causal_only else "",
        thinned(length, len(ids), "position"),
    )
    heading = join(title, f"Content bias, {DRAWN}")
    rms = _sizes_by_distance(encoding, positions, generator)
    lines = decay(
        np.arange(length, dtype=np.float64),
        rms,
        names=[f"head {index}" for index in range(len(rms))],
        title=join(title, f"Size by distance, {DRAWN}"),
        y_label=f"content bias, root mean square of {DRAWS} draws",
    )
    return Heatmap(heading, drawn, "key position", "query position", "bias of head 0", True, note, axis, axis), lines


def _sizes_by_distance(
    encoding: PositionEncoding, positions: Int[Tensor, "1 S"], generator: torch.Generator
) -> Float[np.ndarray, "heads distances"]:
    """For each head the root mean square over draws, of the last query and all keys."""
    draws = [_drawn_bias(encoding, positions[:, -1:], positions, generator)[:, 0].double() for _ in range(DRAWS)]
    rms: Float[np.ndarray, "heads distances"] = torch.stack(draws).square().mean(0).sqrt().flip(-1).numpy()
    return rms


def _drawn_bias(
    encoding: PositionEncoding, queries: Int[Tensor, "1 Q"], keys: Int[Tensor, "1 K"], generator: torch.Generator
) -> Float[Tensor, "heads Q K"]:
    heads, width = sizes(encoding)
    q, k = (torch.randn(1, heads, at.shape[1], width, generator=generator) for at in (queries, keys))
    bias = encoding.content_bias(q, k, queries, keys)
    if bias is None:
        raise GnomonError(f"{type(encoding).__name__} gives a content bias for some positions only.")
    return bias[0]
