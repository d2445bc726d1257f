"""Arithmetic in the dtype it is written in, whatever autocast says."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch


def full_precision(device: torch.device) -> AbstractContextManager[Any]:
    """Without autocast, which would run matrix products in half precision."""
    if torch.amp.autocast_mode.is_autocast_available(device.type):
        return torch.autocast(device.type, enabled=False)
    return nullcontext()
