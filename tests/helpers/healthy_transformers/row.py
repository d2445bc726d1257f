"""One tiny random model of a transformers class, as data: its class, the fields of its config, and its encoding."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

HEADS, HEAD_DIM, LENGTH, VOCABULARY = 4, 8, 64, 60
WIDTH = HEADS * HEAD_DIM
SPECIAL: dict[str, Any] = {"vocab_size": VOCABULARY, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
SIZES: dict[str, Any] = {
    **SPECIAL,
    "hidden_size": WIDTH,
    "num_hidden_layers": 2,
    "num_attention_heads": HEADS,
    "intermediate_size": 48,
    "max_position_embeddings": LENGTH,
}


@dataclass(frozen=True)
class Row:
    """`model` is a class of transformers; `fields` build its config; `encoding` says how it knows positions."""

    model: str
    encoding: str
    fields: Mapping[str, Any]

    def build(self) -> nn.Module:
        """The model in eval mode, the same weights each time."""
        import transformers

        torch.manual_seed(0)
        kind = getattr(transformers, self.model)
        model: nn.Module = kind(kind.config_class(**self.fields)).eval()
        return model


def rows(encoding: str, fields: Mapping[str, Any], *models: str) -> dict[str, Row]:
    """Rows of several classes that take the same fields."""
    return {model: Row(model, encoding, fields) for model in models}


def builders(found: Mapping[str, Row]) -> dict[str, Callable[[], nn.Module]]:
    """What a test is parametrised with: name -> a function that builds the model."""
    return {name: row.build for name, row in found.items()}
