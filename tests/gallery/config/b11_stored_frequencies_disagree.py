"""Old Llama files carry `inv_freq` in every layer, which new classes pass over: they compute it from the config.

Where the two disagree, one of them is not what the weights were trained with.
"""

from pathlib import Path

from safetensors.torch import load_file, save_file

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import powers
from tests.helpers.tiny_transformers import HEAD_DIM, save_tiny

KEY = "layers.{}.self_attn.rotary_emb.inv_freq"


def built(folder: Path, base: float) -> Path:
    save_tiny(folder, "llama", rope_theta=1e6)
    stored = {KEY.format(layer): powers(base, HEAD_DIM).float() for layer in range(2)}
    save_file({**load_file(folder / "model.safetensors"), **stored}, folder / "model.safetensors", {"format": "pt"})
    return folder


def faulty(folder: Path) -> Path:
    return built(folder, 1e4)


def healthy(folder: Path) -> Path:
    return built(folder, 1e6)


ITEM = Fault(
    source="huggingface/transformers#35255",
    check="PE203",
    where="self_attn.rotary_emb.inv_freq",
    right=r"follow base (1e\+04|10000).*from the config",
    build=faulty,
    healthy=healthy,
)
