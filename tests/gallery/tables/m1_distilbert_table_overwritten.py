"""DistilBERT with sinusoidal positions runs with random ones: the generic initialiser overwrites the table.

The table is filled in the constructor, and every nn.Embedding is drawn anew right after.
"""

from pathlib import Path

from torch import nn

from tests.gallery.item import Fault
from tests.helpers.tiny_transformers import tiny_model


def faulty(_: Path) -> nn.Module:
    model = tiny_model("distilbert", sinusoidal_pos_embds=True)
    nn.init.normal_(model.get_parameter("embeddings.position_embeddings.weight"), std=0.02)
    return model


def healthy(_: Path) -> nn.Module:
    return tiny_model("distilbert", sinusoidal_pos_embds=True)


ITEM = Fault(
    source="huggingface/transformers#29807",
    check="PE203",
    where="embeddings.position_embeddings.weight",
    right=r"not sinusoids.*refill the table from the formula after initialisation",
    build=faulty,
    healthy=healthy,
)
