"""The clause that the parts of a content bias, from which fast attention is made, are the whole."""

import copy

import torch
from torch import Tensor

from gnomon.encodings.base import PositionEncoding
from gnomon.kernels.relative import differences, picked
from gnomon.testing.trial import ROUNDING, ClauseError, Inputs, Trial, require_close

#: What float64 may differ by, relative to the largest value.
DOUBLE_ROUNDING = 1e-12


def content_by_distance(trial: Trial) -> None:
    """What `content_by_distance` and `content_by_key` give adds up to `content_bias` for every query and key; no bias
    is added beside them. `relative_terms` says the same as both. Without the first there is no second."""
    double = copy.deepcopy(trial.encoding).double()
    for inputs in (trial.inputs(), trial.scattered()):
        _require_parts(trial.encoding, inputs, ROUNDING)
        _require_parts(double, inputs.to(torch.float64), DOUBLE_ROUNDING)
        _require_parts(trial.encoding, inputs.to(torch.bfloat16), ROUNDING)


def _require_parts(encoding: PositionEncoding, inputs: Inputs, tolerance: float) -> None:
    q, k, at = inputs.q, inputs.k, inputs.positions
    found = torch.arange(2) if encoding.axes > 1 else (-differences(at, at)).unique()
    by_distance, by_key = encoding.content_by_distance(q, found), encoding.content_by_key(k)
    terms = encoding.relative_terms(found, dtype=torch.promote_types(q.dtype, torch.float32))
    if by_distance is None:
        if by_key is not None or terms is not None:
            name = "content_by_key" if by_key is not None else "relative_terms"
            raise ClauseError(f"{name} gives something, content_by_distance nothing.")
        return
    if encoding.bias(at, at) is not None:
        raise ClauseError("content_by_distance gives the whole of what is added, but there is a bias as well.")
    whole = encoding.content_bias(q, k, at, at)
    if whole is None:
        raise ClauseError("content_by_distance gives something, content_bias nothing.")
    index = torch.searchsorted(found, -differences(at, at))
    require_close(_sum(picked(by_distance, index), by_key), whole, "the sum of the parts", tolerance)
    if terms is not None:
        both = _sum(picked(terms.by_distance(q), index), terms.by_key(k))
        require_close(both, whole, "the sum of relative_terms", tolerance)


def _sum(by_distance: Tensor, by_key: Tensor | None) -> Tensor:
    return by_distance if by_key is None else by_distance + by_key[:, :, None]
