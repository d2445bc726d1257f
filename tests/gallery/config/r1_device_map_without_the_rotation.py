"""Tensors on two devices: a device map made by hand names the layers and not the module of the rotary frequencies."""

from pathlib import Path
from typing import Any

from tests.gallery.item import Fault
from tests.helpers.toys import llama

MAP = {"model.embed_tokens": 0, "model.layers.0": 0, "model.layers.1": 1, "model.norm": 1, "lm_head": 1}


def faulty(folder: Path) -> Any:
    return llama()


def healthy(folder: Path) -> Any:
    """As older layouts have it: the frequencies stand in a layer."""
    model = llama()
    model.model.layers[0].rotary_emb = model.model.rotary_emb
    del model.model.rotary_emb
    return model


ITEM = Fault(
    source="huggingface/transformers#35505, huggingface/transformers#35417, huggingface/transformers#35312",
    check="PE128",
    where="model.rotary_emb",
    right=r"model\.rotary_emb has no device in the map: .*inv_freq.*add 'model\.rotary_emb'",
    build=faulty,
    healthy=healthy,
    evidence={"device_map": MAP},
)
