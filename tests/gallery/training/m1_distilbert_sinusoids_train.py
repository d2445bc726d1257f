"""A DistilBERT with sinusoidal positions ends training with other ones.

Cause: the initialisation of the reports overwrote the sinusoids with noise. transformers 5.24 writes them again, but
into an nn.Embedding that asks for gradients, so every step and the weight decay move them: the table is neither fixed
nor what it was meant to be.
"""

from pathlib import Path
from typing import Any

import torch

from tests.gallery.item import Fault
from tests.helpers.gallery_training import all_decayed


def faulty(folder: Path) -> Any:
    import transformers

    torch.manual_seed(0)
    config = transformers.DistilBertConfig(
        vocab_size=60,
        dim=16,
        n_layers=1,
        n_heads=2,
        hidden_dim=24,
        max_position_embeddings=32,
        sinusoidal_pos_embds=True,
    )
    return transformers.DistilBertModel(config).eval()


def healthy(folder: Path) -> Any:
    model = faulty(folder)
    model.embeddings.position_embeddings.weight.requires_grad_(False)
    return model


ITEM = Fault(
    source="huggingface/transformers#29807, huggingface/transformers#29813",
    check="PE508",
    where="position_embeddings.weight",
    right="persistent=False, or set requires_grad to False",
    build=faulty,
    healthy=healthy,
    evidence={"optimizer": all_decayed},
    severity="warning",
)
