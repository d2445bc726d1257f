"""The sinusoids of Marian and Pegasus may stay random: the table is drawn first, and filled on some paths only."""

from pathlib import Path
from typing import Any

import torch
from torch import nn

from tests.gallery.item import Fault


def marian() -> Any:
    from transformers import MarianConfig, MarianModel

    torch.manual_seed(0)
    sizes = {f"{side}_{what}": n for side in ("encoder", "decoder") for what, n in _SIZES.items()}
    special = {"pad_token_id": 0, "decoder_start_token_id": 1, "bos_token_id": 1, "eos_token_id": 2}
    return MarianModel(MarianConfig(vocab_size=40, d_model=16, max_position_embeddings=32, **sizes, **special)).eval()


_SIZES = {"layers": 1, "attention_heads": 2, "ffn_dim": 8}


def faulty(_: Path) -> nn.Module:
    model = marian()
    nn.init.normal_(model.encoder.embed_positions.weight, std=0.02)
    module: nn.Module = model
    return module


def healthy(_: Path) -> nn.Module:
    module: nn.Module = marian()
    return module


ITEM = Fault(
    source="huggingface/transformers#44454, huggingface/transformers#44448",
    check="PE203",
    where="encoder.embed_positions.weight",
    right=r"MarianSinusoidalPositionalEmbedding.*refill the table",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
