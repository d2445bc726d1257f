"""Tiny rotary models as checkpoint folders, and what the real classes of transformers turn by."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file

from gnomon.adapters.checkpoints.transformers_models import quiet_transformers

SIZES = {
    "vocab_size": 32,
    "hidden_size": 64,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "pad_token_id": None,
}


def tiny(model_type: str, **more: Any) -> dict[str, Any]:
    """A config of small sizes; the head is 16 wide."""
    return {"model_type": model_type, **SIZES, **more}


def config_folder(folder: Path, config: Mapping[str, Any], **files: Mapping[str, Any]) -> Path:
    """A folder with this config, one tensor, and JSON files by the stem of their names."""
    folder.mkdir(parents=True)
    for name, content in {"config": config, **files}.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    save_file({"weight": torch.arange(6.0).reshape(2, 3)}, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def read_config(folder: Path, name: str = "config.json") -> dict[str, Any]:
    """The JSON of a folder's file."""
    found: dict[str, Any] = json.loads((folder / name).read_text())
    return found


def real_frequencies(config: Mapping[str, Any], length: int, kind: str | None = None) -> tuple[Any, float]:
    """What the rotary module of the family's class in transformers turns by, for a sequence of `length` tokens.

    Inverse frequencies in float64 of the float32 buffer, and the factor on cos and sin; `kind` is a kind of layer.
    """
    import transformers

    with quiet_transformers():
        made = transformers.AutoConfig.for_model(**json.loads(json.dumps(config)))  # the class writes into it
        model = transformers.AutoModel.from_config(made)
        rotary = next(module for module in model.modules() if type(module).__name__.endswith("RotaryEmbedding"))
        extra = {} if kind is None else {"layer_type": kind}
        rotary(torch.zeros(1, 1, 1), torch.arange(length)[None], **extra)
    prefix = "" if kind is None else f"{kind}_"
    scaling = getattr(rotary, f"{prefix}attention_scaling")
    return np.asarray(getattr(rotary, f"{prefix}inv_freq").double()), float(scaling)
