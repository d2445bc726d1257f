"""Whether tensors are plain memory here and now, so that values may be read, and results kept for the next call."""

from typing import Final

import torch
from torch import Tensor
from torch._C import _are_functorch_transforms_active, _get_tracing_state, _len_torch_dispatch_stack
from torch.autograd import forward_ad
from torch.utils._device import DeviceContext

_functions_watched: Final = torch._C._len_torch_function_stack  # names at hand: this runs in each layer for each token


def readable(*tensors: Tensor) -> bool:
    """True for tensors with values of their own while nobody records or replaces what is done with them.

    False in a traced graph, under a transform of torch.func, a dispatch or function mode and forward-mode
    differentiation, on the meta device, and for tensors of another class, such as a FakeTensor or a DTensor.

    >>> readable(torch.ones(2)), readable(torch.ones(2, device="meta"))
    (True, False)
    """
    if torch.compiler.is_compiling() or _are_functorch_transforms_active() or _len_torch_dispatch_stack():
        return False
    if _get_tracing_state() is not None or forward_ad._current_level >= 0:
        return False
    if _functions_watched() and not _only_places():
        return False
    for tensor in tensors:  # noqa: SIM110  a generator costs as much as all else
        if type(tensor) is not Tensor or tensor.is_meta:
            return False
    return True


def _only_places() -> bool:
    """Whether all function modes only say where new tensors are made, as `with torch.device(...)` does."""
    modes = (torch._C._get_function_stack_at(i) for i in range(_functions_watched()))
    return all(isinstance(mode, DeviceContext) for mode in modes)
