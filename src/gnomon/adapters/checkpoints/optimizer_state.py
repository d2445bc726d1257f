"""The state of an optimizer as torch.save wrote it beside a checkpoint: read without running anything, and written."""

import io
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import torch

from gnomon.errors import GnomonError

FILES: Final = ("optimizer.pt", "optimizer.bin")  #: of the Trainer of transformers, and of accelerate


def optimizer_file(folder: Path) -> Path:
    """The file of a folder; raises GnomonError where it has none."""
    name = next((name for name in FILES if (folder / name).is_file()), None)
    if name is None:
        raise GnomonError(f"{folder} has no {' and no '.join(FILES)}, so there is no optimizer state to extend.")
    return folder / name


def read_optimizer_state(path: Path) -> dict[str, Any]:
    """The state_dict of an optimizer, opened with `weights_only=True`, never else.

    Raises GnomonError for anything but a mapping with `state`, whose values are mappings, and `param_groups`.
    """
    try:
        held = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        raise GnomonError(f"{path} holds more than tensors and numbers, and gnomon never runs a pickle.") from None
    except Exception as error:  # noqa: BLE001  a broken pickle can raise anything
        raise GnomonError(f"{path} is not a usable PyTorch file: {type(error).__name__}.") from None
    if not isinstance(held, dict) or not isinstance(held.get("state"), dict) or "param_groups" not in held:
        raise GnomonError(f"{path} is no state of an optimizer: it needs `state` and `param_groups`.")
    if not all(isinstance(state, dict) for state in held["state"].values()):
        raise GnomonError(f"{path} must hold a mapping for the state of each parameter.")
    return held


def optimizer_bytes(held: Mapping[str, Any]) -> bytes:
    """A state_dict as the content of such a file."""
    stream = io.BytesIO()
    torch.save(dict(held), stream)
    return stream.getvalue()
