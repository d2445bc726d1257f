"""Devices and dtypes as the user writes them."""

import torch

from gnomon.errors import GnomonError

NO_FORWARD = "--no-forward was given"
DTYPES = {"float32": torch.float32, "float64": torch.float64, "float16": torch.float16, "bfloat16": torch.bfloat16}


def parse_dtype(dtype: torch.dtype | str | None) -> torch.dtype:
    """A floating dtype by name or as itself; float32 when none is given.

    >>> parse_dtype("bfloat16")
    torch.bfloat16
    """
    name = "float32" if dtype is None else str(dtype).removeprefix("torch.")
    if name not in DTYPES:
        raise GnomonError(f"No dtype {name!r}; a model is examined in one of {', '.join(DTYPES)}.")
    return DTYPES[name]


def parse_device(device: torch.device | str | None) -> torch.device:
    """A device that exists on this machine; the CPU when none is given."""
    if str(device).split(":")[0] == "meta":
        raise GnomonError("The device 'meta' holds no values, so no model can run there; choose cpu or cuda.")
    try:
        chosen = torch.device(device if device is not None else "cpu")
        torch.empty(0, device=chosen)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).split("\n")[0].rstrip(".")
        raise GnomonError(f"The device {str(device)!r} cannot be used here: {reason}.") from None
    return chosen
