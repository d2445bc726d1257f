"""The same in Informer, Flaubert and XLM: a fixed table holds what the generic initialiser drew.

The config says nothing of positions here; the class of the table is called sinusoidal.
"""

from pathlib import Path
from typing import Any

import torch
from torch import nn

from tests.gallery.item import Fault


def informer() -> Any:
    from transformers import InformerConfig, InformerModel

    torch.manual_seed(0)
    sizes = {f"{side}_{what}": n for side in ("encoder", "decoder") for what, n in _SIZES.items()}
    config = InformerConfig(prediction_length=8, context_length=16, d_model=16, lags_sequence=[1, 2], **sizes)
    return InformerModel(config).eval()


_SIZES = {"layers": 1, "attention_heads": 2, "ffn_dim": 8}


def faulty(_: Path) -> nn.Module:
    model = informer()
    for stack in (model.encoder, model.decoder):
        nn.init.normal_(stack.embed_positions.weight, std=0.02)
    module: nn.Module = model
    return module


def healthy(_: Path) -> nn.Module:
    module: nn.Module = informer()
    return module


ITEM = Fault(
    source="huggingface/transformers#29904",
    check="PE203",
    where="encoder.embed_positions.weight",
    right=r"InformerSinusoidalPositionalEmbedding.*after all weight initialisation",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
