"""A Hugging Face config, in any of the forms people have one, as the encoding it describes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from gnomon.adapters.checkpoints.json_file import read_json_object
from gnomon.adapters.families.choosing import Choice
from gnomon.adapters.families.places import Part, Stack
from gnomon.adapters.subject import MissingEvidence
from gnomon.encodings import PositionEncoding, config_readers
from gnomon.errors import GnomonError, UnsupportedTargetError

CONFIG = "config.json"


@config_readers.register("hugging_face")
def read(
    config: Any, layer: int | None = None, *, stack: Stack | None = None, part: Part | None = None
) -> PositionEncoding:
    """The encoding of one layer, or of all that agree; `gnomon.encodings.from_hf_config` documents the arguments."""
    _require("stack", stack, get_args(Stack))
    _require("part", part, get_args(Part))
    if layer is not None and (isinstance(layer, bool) or not isinstance(layer, int)):
        raise GnomonError(f"A layer is an index such as 0, got {layer!r}.")
    try:
        return Choice(layer, stack, part).encoding(_fields(config))
    except MissingEvidence as missing:
        raise UnsupportedTargetError(f"No encoding can be told: {missing}.") from None


def _fields(config: Any) -> Mapping[str, Any]:
    if isinstance(config, Mapping):
        return config
    if isinstance(config, str | Path):
        path = Path(config)
        return read_json_object(path / CONFIG if path.is_dir() else path)
    if callable(to_dict := getattr(config, "to_dict", None)):
        fields = to_dict()
        if isinstance(fields, Mapping):
            return fields
    raise UnsupportedTargetError(
        f"A config is a transformers config, a dict, or the path of a config.json or of the folder that holds one; got "
        f"{type(config).__name__}."
    )


def _require(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value is not None and value not in allowed:
        raise GnomonError(f"The {name} is one of {', '.join(allowed)}, got {value!r}.")
