"""Which files of a folder hold its weights, and the tensors in them."""

from pathlib import Path
from typing import Final

from gnomon.adapters.checkpoints.huggingface import SAFE, SAFE_INDEX
from gnomon.adapters.checkpoints.safetensors_file import SafetensorsFile, shards
from gnomon.errors import UnsupportedTargetError

ADAPTER: Final = "adapter_model.safetensors"  #: what peft writes


def weight_files(source: Path) -> tuple[str, ...]:
    """The names of the safetensors files of a folder; raises UnsupportedTargetError when it has none."""
    if (source / SAFE).exists():
        return (SAFE,)
    if (source / SAFE_INDEX).exists():
        return tuple(path.name for path in shards(source / SAFE_INDEX))
    if (source / ADAPTER).exists():
        return (ADAPTER,)
    raise UnsupportedTargetError(f"{source} has no {SAFE} and no {SAFE_INDEX}; save the model as safetensors first.")


def folder_tensors(source: Path, *, mapped: bool = True) -> SafetensorsFile:
    """The tensors of these files; `mapped` as in SafetensorsFile. Raises UnsupportedTargetError for a broken file."""
    return SafetensorsFile(*(source / name for name in weight_files(source)), mapped=mapped)
