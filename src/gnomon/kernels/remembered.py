"""What was computed from the positions of the last call, so that the layers of one forward pass share it."""

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import torch
from jaxtyping import Int
from torch import Tensor

from gnomon.kernels.readable import readable
from gnomon.kernels.tables import Pair


@final
@dataclass(frozen=True, eq=False, slots=True)
class _Last:
    positions: "weakref.ref[Tensor]"
    version: int
    #: their values, on the CPU only: memory that is shared with numpy changes without a new version
    values: Tensor | None
    dtype: torch.dtype
    result: Pair


@final
class Remembered:
    """Cosines and sines for one tensor of positions: computed at its first use, and given again while it is the same.

    The same is the same object with the same version (in-place changes count it up); on the CPU the values are
    compared too. Nothing is read from another device. The result is dropped as soon as the positions are, it carries
    no gradient, and copies and pickles leave it behind. In a traced graph, under CUDA graph capture and for tensors
    without a version, nothing is kept and everything is computed.

    >>> remembered, positions = Remembered(), torch.tensor([[1, 2]])
    >>> one, again = (remembered.of(positions, torch.float32, lambda: (torch.ones(1), torch.zeros(1))) for _ in "ab")
    >>> again[0] is one[0]
    True
    """

    def __init__(self) -> None:
        self._last: _Last | None = None

    def of(self, positions: Int[Tensor, "*S"], dtype: torch.dtype, compute: Callable[[], Pair]) -> Pair:
        """The result of `compute` for these positions in this dtype: a function of both and of nothing that changes."""
        if not readable(positions) or positions.is_inference() or _capturing(positions):
            return compute()
        last = self._last
        if last is not None and last.dtype == dtype and _same(last, positions):
            return last.result
        with torch.inference_mode(False), torch.no_grad():  # what is kept must serve training too
            result = compute()
        values = positions.clone() if positions.device.type == "cpu" else None
        version = positions._version
        self._last = _Last(weakref.ref(positions, self._drop), version, values, dtype, result)
        return result

    def _drop(self, gone: "weakref.ref[Tensor]") -> None:
        last = self._last
        if last is not None and last.positions is gone:
            self._last = None

    def __getstate__(self) -> dict[str, Any]:
        return {"_last": None}


def _same(last: _Last, positions: Tensor) -> bool:
    if last.positions() is not positions or last.version != positions._version:
        return False
    return last.values is None or torch.equal(last.values, positions)


def _capturing(positions: Tensor) -> bool:
    """A graph that is being captured must compute for itself: it is replayed with other positions in the same place."""
    return positions.is_cuda and torch.cuda.is_current_stream_capturing()
