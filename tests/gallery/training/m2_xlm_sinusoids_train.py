"""The same as for DistilBERT in XLM, whose sinusoids interleave sines and cosines in an nn.Embedding.

Cause: the table asks for gradients (in transformers 5.24 too): a training step moves the rows that
the batch reads, and no others.
"""

from pathlib import Path
from typing import Any

import torch

from tests.gallery.item import Fault


def faulty(folder: Path) -> Any:
    import transformers

    torch.manual_seed(0)
    config = transformers.XLMConfig(
        vocab_size=60, emb_dim=16, n_layers=1, n_heads=2, max_position_embeddings=32, sinusoidal_embeddings=True
    )
    return transformers.XLMModel(config).eval()


def healthy(folder: Path) -> Any:
    model = faulty(folder)
    model.position_embeddings.weight.requires_grad_(False)
    return model


ITEM = Fault(
    source="huggingface/transformers#29904",
    check="PE508",
    where="position_embeddings.weight",
    right="changes 7 of its rows",
    build=faulty,
    healthy=healthy,
    evidence={"batches": [{"input_ids": torch.arange(7)[None] + 5}]},
    severity="warning",
)
