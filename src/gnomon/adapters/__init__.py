"""Foreign things become a Subject here and nowhere else: folders, config files, checkpoints, modules, factories."""

import re
from pathlib import Path
from typing import Any

import torch
from torch import nn

from gnomon.adapters.checkpoints.huggingface import config_subject, folder_config, folder_subject, twin_subject
from gnomon.adapters.checkpoints.json_file import read_json_object
from gnomon.adapters.checkpoints.safetensors_file import SafetensorsFile
from gnomon.adapters.factory import call_factory, split
from gnomon.adapters.gguf.file import gguf_subject, gguf_twin
from gnomon.adapters.module import module_subject
from gnomon.adapters.onnx.file import onnx_subject
from gnomon.adapters.placement import NO_FORWARD
from gnomon.adapters.subject import Absent, Subject
from gnomon.errors import UnsupportedTargetError

__all__ = ["load_subject"]

FACTORY = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
KINDS = "a Hugging Face folder, config.json, .safetensors, .gguf or .onnx file, or package.module:factory"

NO_TWIN = "A twin is built from the config of a Hugging Face folder, a config.json or a .gguf file. {what}."


def load_subject(
    target: str | Path | nn.Module | tuple[nn.Module, Any],
    *,
    device: torch.device | str | None = None,
    dtype: torch.dtype | str | None = None,
    allow_pickle: bool = False,
    forward: bool = True,
    twin: bool = False,
) -> Subject:
    """The Subject for a target of any kind that gnomon reads; nothing costly happens before it is asked for.

    `target`: a Hugging Face folder, a config.json, a .safetensors, .gguf or .onnx file, `package.module:factory`, an
    nn.Module, or a module with an example of its forward arguments. It runs on `device` in `dtype` (CPU, float32).
    `allow_pickle` reads pytorch_model.bin (never running what it holds); without `forward` there is no model to run.
    With `twin`, a smaller model of the same config with random weights stands in for a folder, config or GGUF file.

    Raises UnsupportedTargetError with one sentence for a target that is missing, broken, hostile or of another kind.

    >>> load_subject(nn.Linear(2, 2)).target
    'Linear'
    """
    if isinstance(target, (nn.Module, tuple)):
        if twin:
            raise UnsupportedTargetError(NO_TWIN.format(what="The target is a model in memory, which runs as it is"))
        module, example = split(target, "The target")
        return module_subject(module, example, device=device, dtype=dtype, forward=forward)
    if not str(target).strip():
        raise UnsupportedTargetError(f"The target is empty; a target is {KINDS}.")
    path = _path(target)
    if twin:
        return _twin(path, device=device, dtype=dtype)
    if not _exists(path):
        return _made(str(target), device=device, dtype=dtype, forward=forward)
    if path.is_dir():
        return folder_subject(path, device=device, dtype=dtype, allow_pickle=allow_pickle, forward=forward)
    return _file(path, device=device, dtype=dtype, forward=forward)


def _twin(path: Path, **options: Any) -> Subject:
    """The shrunken twin of a folder, a config.json or a GGUF file."""
    if path.is_dir():
        return twin_subject(path, folder_config(path), **options)
    if path.suffix.lower() == ".json" and _exists(path):
        return twin_subject(path, read_json_object(path), **options)
    if path.suffix.lower() == ".gguf" and _exists(path):
        return gguf_twin(path, **options)
    raise UnsupportedTargetError(NO_TWIN.format(what=f"{path} is none of these"))


def _made(target: str, **options: Any) -> Subject:
    """The Subject of `package.module:factory`."""
    if not FACTORY.fullmatch(target):
        raise UnsupportedTargetError(f"There is no file or folder {target!r}; a target is {KINDS}.")
    module, example = call_factory(target)
    return module_subject(module, example, target=target, **options)


def _file(path: Path, *, device: Any, dtype: Any, forward: bool) -> Subject:
    suffix = path.suffix.lower()
    if suffix == ".json":
        return config_subject(path, device=device, dtype=dtype, forward=forward)
    if suffix == ".gguf":
        return gguf_subject(path, device=device, dtype=dtype, forward=forward)
    if suffix == ".safetensors":
        return _safetensors(path, forward=forward)
    if suffix == ".onnx":
        return onnx_subject(path, forward=forward)
    if suffix in PICKLES:
        raise UnsupportedTargetError(f"{path} is a pickle without a config; give its Hugging Face folder instead.")
    raise UnsupportedTargetError(f"{path} is not a kind of file that gnomon reads; a target is {KINDS}.")


def _safetensors(path: Path, *, forward: bool) -> Subject:
    alone = "a safetensors file alone has no config; give the folder that holds it"
    return Subject(
        str(path),
        **dict.fromkeys(("config", "claims", "family", "tokenizer", "loading", "example"), Absent(alone)),
        tensors=SafetensorsFile(path),
        module=Absent(alone if forward else NO_FORWARD),
        trained=True,
    )


def _path(target: str | Path) -> Path:
    try:
        return Path(target).expanduser()
    except RuntimeError:  # the home of a user that does not exist
        return Path(target)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # too long, or with a null byte
        return False
