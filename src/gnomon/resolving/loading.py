"""Files as a user has them become what stacks read: the JSON untouched, the metadata of a GGUF file with its lists."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gnomon.adapters.checkpoints.huggingface import CONFIG, TOKENIZER, folder_config
from gnomon.adapters.checkpoints.json_file import read_json_object
from gnomon.adapters.gguf.cursor import Array
from gnomon.adapters.gguf.file import GGUFTensors, read_lists, require_gguf
from gnomon.adapters.gguf.header import read_gguf
from gnomon.errors import UnsupportedTargetError
from gnomon.resolving.given import Given

#: a file beside weights whose rows were moved to other pairs than those that the class of the family turns
MARKER = "gnomon-layout.json"
KINDS = "a config.json, a folder that holds one, a .gguf file, or a config as a mapping"


def load(target: str | Path | Mapping[str, Any] | Given) -> Given:
    """What a target says, raw. Raises UnsupportedTargetError with one sentence for a target that cannot be read.

    >>> load({"model_type": "llama", "rope_theta": 5e5}).config
    {'model_type': 'llama', 'rope_theta': 500000.0}
    """
    if isinstance(target, Given):
        return target
    if isinstance(target, Mapping):
        return Given("a config in memory", config=dict(target))
    if not isinstance(target, str | Path) or not str(target).strip():
        raise UnsupportedTargetError(f"gnomon resolves {KINDS}; it got {type(target).__name__} {str(target)[:60]!r}.")
    path = _path(target)
    if path.is_dir():
        return Given(str(path), config=folder_config(path), tokenizer=_tokenizer(path), notes=_moved(path))
    if path.suffix.lower() == ".gguf":
        return _gguf(path)
    if path.suffix.lower() != ".json":
        raise UnsupportedTargetError(f"{path} is not a kind of file that engines read; gnomon resolves {KINDS}.")
    config = read_json_object(path)
    if path.name != CONFIG:
        return Given(str(path), config=config)
    return Given(str(path), config=config, tokenizer=_tokenizer(path.parent), notes=_moved(path.parent))


def _path(target: str | Path) -> Path:
    """Where something lies; raises for what is not there, is too long, or has a null byte or no such user in it."""
    path = Path(target)
    try:
        path = path.expanduser()
        found = path.exists()
    except (OSError, ValueError, RuntimeError):
        found = False
    if not found:
        raise UnsupportedTargetError(f"There is no file or folder {str(target)[:200]!r}; gnomon resolves {KINDS}.")
    return path


def _tokenizer(folder: Path) -> dict[str, Any]:
    """tokenizer_config.json beside the config; nothing where there is none, or none that can be read."""
    try:
        return read_json_object(folder / TOKENIZER)
    except UnsupportedTargetError:
        return {}


def _moved(folder: Path) -> tuple[str, ...]:
    """A sentence where `gnomon layout permute` left its marker: engines that read the config alone turn other pairs."""
    if not (folder / MARKER).is_file():
        return ()
    held = read_json_object(folder / MARKER)
    layout, program = (str(held.get(key))[:60] for key in ("layout", "for"))
    return (
        f"The rows of this folder were moved to {layout} pairs for {program} ({MARKER}): what loads it as an ordinary "
        "checkpoint of its family turns other pairs, and is wrong whatever is said below.",
    )


def _gguf(path: Path) -> Given:
    require_gguf()
    header = read_gguf(path)
    metadata = {key: _value(value) for key, value in header.metadata.items() if not _long(value)}
    factors = read_lists(path, GGUFTensors(path, header))
    return Given(str(path), metadata=metadata, factors=factors)


def _long(value: Any) -> bool:
    return isinstance(value, Array) and len(value.values) != value.length


def _value(value: Any) -> Any:
    return list(value.values) if isinstance(value, Array) else value
