"""Attention without rotation is reported as missing in a hybrid model: its state-space layers bring the order.

The family's attention has no positions by design, so there is nothing to add.
"""

from pathlib import Path

from tests.gallery.item import LookAlike
from tests.helpers.gallery_configs import TurningDecoder, llama_config


def build(folder: Path) -> TurningDecoder:
    return TurningDecoder(None, None).eval()


ITEM = LookAlike(
    source="vllm-project/vllm#30413",
    build=build,
    passes=("PE305", "PE310"),
    evidence={"config": {**llama_config(), "model_type": "nemotron_h"}},
)
