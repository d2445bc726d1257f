"""The most memory that a computation holds at once beyond what was there before."""

import weakref
from collections.abc import Callable
from typing import Any, final

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


def peak_bytes(run: Callable[[], None], device: torch.device) -> int:
    """On a GPU what its allocator says; elsewhere the bytes of all tensors that operations make, while they live.

    What an operation holds inside itself alone is not seen on the CPU.
    """
    if device.type == "cuda":
        before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        run()
        return int(torch.cuda.max_memory_allocated(device)) - before
    with _Living() as living:
        run()
    peak: int = living.peak
    return peak


@final
class _Living(TorchDispatchMode):
    """Counts storages from the operation that makes them until nothing holds them."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.peak = 0
        self._known = weakref.WeakKeyDictionary[Any, None]()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        for tensor in self._new((args, kwargs)):
            self._known[tensor.untyped_storage()] = None  # there before: not counted
        out = func(*args, **(kwargs or {}))
        for tensor in self._new(out):
            storage = tensor.untyped_storage()
            self._known[storage] = None
            self.now += storage.nbytes()
            weakref.finalize(storage, self._freed, storage.nbytes())
        self.peak = max(self.peak, self.now)
        return out

    def _new(self, tree: Any) -> list[Tensor]:
        tensors = (leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor))
        return [tensor for tensor in tensors if tensor.untyped_storage() not in self._known]

    def _freed(self, size: int) -> None:
        self.now -= size
