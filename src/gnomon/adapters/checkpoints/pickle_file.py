"""Tensors of pytorch_model.bin files: read only when the user allows pickles, and never running what they hold."""

import pickle
import warnings
from pathlib import Path
from typing import Any, final

import torch
from torch import Tensor

from gnomon.adapters.checkpoints.json_file import require_file
from gnomon.adapters.tensors import TensorInfo, TensorSource
from gnomon.errors import UnsupportedTargetError


@final
class PickleFile(TensorSource):
    """One or more files written by torch.save, opened with `weights_only=True` and memory-mapped where possible."""

    def __init__(self, *paths: Path) -> None:
        self._tensors: dict[str, Tensor] = {}
        for path in paths:
            self._tensors.update(_read(path))

    def infos(self) -> tuple[TensorInfo, ...]:
        return tuple(
            TensorInfo(name, tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."))
            for name, tensor in self._tensors.items()
        )

    def load(self, name: str) -> Tensor:
        return self._tensors[name].detach()


def _state(path: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of pickle protocols; what it cannot read it refuses anyway
        try:
            return torch.load(path, map_location="cpu", weights_only=True, mmap=True)
        except RuntimeError:  # the format before torch 1.6 cannot be memory-mapped
            return torch.load(path, map_location="cpu", weights_only=True)


def _read(path: Path) -> dict[str, Tensor]:
    require_file(path)
    try:
        state = _state(path)
    except pickle.UnpicklingError:
        raise UnsupportedTargetError(
            f"{path} holds more than tensors, and gnomon never runs what a pickle holds; convert it to safetensors."
        ) from None
    except Exception as error:  # noqa: BLE001  a broken pickle can raise anything
        first = str(error).split("\n")[0]
        raise UnsupportedTargetError(f"{path} is not a usable PyTorch file: {type(error).__name__}: {first}.") from None
    if not isinstance(state, dict) or not all(isinstance(key, str) for key in state):
        raise UnsupportedTargetError(f"{path} must hold a mapping from names to tensors.")
    return {key: value for key, value in state.items() if isinstance(value, Tensor)}
