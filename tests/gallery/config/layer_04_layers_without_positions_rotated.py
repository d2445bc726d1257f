"""Layers that are to have no positions are rotated: \"no positional parameters\" falls into the default branch."""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import Turn, TurningDecoder, llama_config, powers

TURN = Turn(powers(2e6))


def faulty(folder: Path) -> TurningDecoder:
    return TurningDecoder(TURN, TURN, TURN, TURN).eval()


def healthy(folder: Path) -> TurningDecoder:
    return TurningDecoder(TURN, TURN, TURN, None).eval()


ITEM = Fault(
    source="NVIDIA/TensorRT-LLM#3382",
    check="PE307",
    where="layers 3",
    right=r"rotated in layers that the config says have no positions.*no_rope_layers holds 0",
    build=faulty,
    healthy=healthy,
    evidence={
        "config": {
            **llama_config(num_hidden_layers=4, rope_theta=2e6, no_rope_layers=[1, 1, 1, 0]),
            "model_type": "smollm3",
        }
    },
)
