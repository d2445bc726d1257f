"""Nemotron rotates its whole heads: `partial_rotary_factor` is in the config and the code never asks for it."""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import HEAD_DIM, TurningDecoder, llama_config, powers, turning


def faulty(folder: Path) -> TurningDecoder:
    return turning(powers(10_000.0, HEAD_DIM))


def healthy(folder: Path) -> TurningDecoder:
    return turning(powers(10_000.0, HEAD_DIM // 2))


ITEM = Fault(
    source="huggingface/transformers#35376",
    check="PE307",
    where="layers",
    right=r"16 lanes of each head are rotated, the config says 8",
    build=faulty,
    healthy=healthy,
    evidence={"config": {**llama_config(partial_rotary_factor=0.5), "model_type": "nemotron"}},
)
