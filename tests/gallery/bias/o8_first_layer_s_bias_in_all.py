"""UMT5 gives other text when it is run as T5: the bias of the first layer is handed on to all.

In UMT5 each layer has numbers of its own; those of the layers behind the first are then never read.
"""

from pathlib import Path
from typing import Any

from tests.gallery.item import Fault
from tests.helpers.tiny_transformers import tiny_model


def faulty(folder: Path) -> Any:
    model = healthy(folder)
    first = model.decoder.block[0].layer[0].SelfAttention
    for block in model.decoder.block[1:]:
        block.layer[0].SelfAttention.compute_bias = first.compute_bias
    return model


def healthy(folder: Path) -> Any:
    return tiny_model("umt5")


ITEM = Fault(
    source="huggingface/transformers#22626, huggingface/transformers#22573",
    check="PE318",
    where="decoder.block.1.layer.0.SelfAttention",
    right="not from this layer's own table.*do not hand the first layer's bias on",
    build=faulty,
    healthy=healthy,
)
