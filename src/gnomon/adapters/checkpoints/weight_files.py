"""Which files of a folder hold its weights, and the tensors in them."""

from pathlib import Path
from typing import Final

from gnomon.adapters.checkpoints.safetensors_file import SafetensorsFile, shards
from gnomon.errors import UnsupportedTargetError

SAFE: Final = "model.safetensors"
SAFE_INDEX: Final = "model.safetensors.index.json"
ADAPTER: Final = "adapter_model.safetensors"  #: what peft writes


def model_files(source: Path) -> tuple[str, ...]:
    """The names of the safetensors files that hold a model; none where the folder has none."""
    if (source / SAFE).exists():
        return (SAFE,)
    return tuple(path.name for path in shards(source / SAFE_INDEX)) if (source / SAFE_INDEX).exists() else ()


def weight_files(source: Path) -> tuple[str, ...]:
    """Those, or that of an adapter; raises UnsupportedTargetError when the folder has neither."""
    if names := model_files(source):
        return names
    if (source / ADAPTER).exists():
        return (ADAPTER,)
    raise UnsupportedTargetError(f"{source} has no {SAFE} and no {SAFE_INDEX}; save the model as safetensors first.")


def folder_tensors(source: Path, *, mapped: bool = True) -> SafetensorsFile:
    """The tensors of these files; `mapped` as in SafetensorsFile. Raises UnsupportedTargetError for a broken file."""
    return SafetensorsFile(*(source / name for name in weight_files(source)), mapped=mapped)
