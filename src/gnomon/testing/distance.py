"""The clause that a bias by distance is the bias."""

import torch
from torch import Tensor

from gnomon.encodings.base import PositionEncoding
from gnomon.testing.trial import ClauseError, Trial, require_close


def by_distance(trial: Trial) -> None:
    """`by_distance` gives float32 numbers, (heads, *shape), that equal `bias` for every query and key.

    Up to one number for each head of a query, which a softmax does not see: there the causal form of ALiBi differs.
    Keys after the query are compared unless `causal_only`. The shape of the distances plays no part, and with several
    axes there is none.
    """
    encoding = trial.encoding
    numbers = encoding.by_distance(torch.arange(-3, 3))
    if numbers is None:
        return
    if encoding.axes > 1:
        raise ClauseError(f"by_distance gives numbers, but a position has {encoding.axes} coordinates.")
    far = 1_000_000 if trial.limits[0] is None else 0
    for inputs in (trial.inputs(), trial.scattered(), trial.inputs().shifted(far)):
        at = inputs.positions
        relative = at[:, None, :] - at[:, :, None]
        got = encoding.by_distance(relative)
        bias = encoding.bias(at, at)
        if got is None or bias is None:
            raise ClauseError(f"by_distance gives something, {'bias' if bias is None else 'not for all'} nothing.")
        _require_same_rows(encoding, got, bias, relative)
        flat = encoding.by_distance(relative.flatten())
        if flat is None:
            raise ClauseError("by_distance gives numbers for some shapes of distances only.")
        require_close(flat, got.flatten(1), "by_distance of distances in one row")


def _require_same_rows(encoding: PositionEncoding, got: Tensor, bias: Tensor, relative: Tensor) -> None:
    got = got.transpose(0, 1)
    if got.shape != bias.expand_as(got).shape or got.dtype != torch.float32:
        raise ClauseError(f"by_distance gives {got.dtype} {tuple(got.shape)} for a bias of shape {tuple(bias.shape)}.")
    seen = relative[:, None] <= 0 if encoding.causal_only else torch.ones_like(relative[:, None], dtype=torch.bool)
    own, rows = ((x - x.diagonal(dim1=-2, dim2=-1)[..., None]) * seen for x in (got, bias))
    # The bias itself may be large where its differences are not: rounding is relative to the bias.
    scale = max(1.0, bias.abs().max().item(), got.abs().max().item()) / max(1.0, rows.abs().max().item())
    require_close(own, rows, "by_distance, less its number at distance 0,", 2e-6 * scale)
