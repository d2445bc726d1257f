"""Arithmetic in the dtype it is written in, whatever autocast says."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


def full_precision(device: torch.device) -> AbstractContextManager[Any]:
    """Without autocast, which would run matrix products in half precision."""
    if torch.amp.autocast_mode.is_autocast_available(device.type):
        return torch.autocast(device.type, enabled=False)
    return nullcontext()


def narrow(bias: Float[Tensor, "B H Q K"], dtype: torch.dtype) -> Float[Tensor, "B H Q K"]:
    """A bias in the dtype of the queries. The largest number of each row becomes zero first, which the softmax does not
    see, so that the keys that matter keep their digits."""
    return (bias - bias.detach().amax(-1, keepdim=True)).to(dtype)
