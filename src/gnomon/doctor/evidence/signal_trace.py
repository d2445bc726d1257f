"""The trace of a model whose tokens are made inside it, of patches or frames: their number shows in its attentions."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from gnomon.adapters.subject import MissingEvidence
from gnomon.doctor.evidence.record import Trace

IN_FRONT = 16  # tokens before the patches, at most


def trace_of_signals(run: Callable[[], Any], traced: Callable[[int], Trace]) -> Trace:
    """A trace with the commonest number of keys as its length.

    Tokens in front of the patches (a class token, registers) are not rotated, as a rule: where that length shows no
    rotation, the numbers of rows just below it that something is multiplied by are tried.
    """
    sizes = Sizes()
    with sizes:
        run()
    if not sizes.keys:
        raise MissingEvidence("no attention was seen in the forward, so the number of its tokens is unknown")
    keys = sizes.keys.most_common(1)[0][0]
    result = traced(keys)
    for length in sizes.rows:
        if not result.rotations and keys - IN_FRONT <= length < keys:
            result.rotations += traced(length).rotations
    return result


class Sizes(TorchDispatchMode):
    """Counts the keys of each attention, and the rows of each product."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: Counter[int] = Counter()
        self.rows: Counter[int] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        if name in ("_softmax", "_safe_softmax"):
            self._count(self.keys, args[0], -1)
        elif name.startswith("_scaled_dot_product"):
            self._count(self.keys, args[1], -2)
        elif name in ("_transformer_encoder_layer_fwd", "_native_multi_head_attention"):
            self._count(self.keys, args[0], -2)
        elif name == "mul" and all(isinstance(factor, Tensor) for factor in args):
            self._count(self.rows, args[0], -2)
        return func(*args, **(kwargs or {}))

    @staticmethod
    def _count(sizes: Counter[int], tensor: Tensor, axis: int) -> None:
        if tensor.ndim >= 2 and tensor.shape[axis] > 1:
            sizes[tensor.shape[axis]] += 1
