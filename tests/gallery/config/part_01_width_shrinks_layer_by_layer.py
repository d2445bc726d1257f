"""One object holds the rotary parameters of all layers, and each layer that is built multiplies its width by the share.

Three layers rotate 8, 4 and 2 lanes where each should rotate 8.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import HEAD_DIM, Turn, TurningDecoder, llama_config, powers


class Shared:
    """Parameters that all layers are given."""

    def __init__(self) -> None:
        self.width = HEAD_DIM

    def halved(self) -> int:
        self.width //= 2
        return self.width


def faulty(folder: Path) -> TurningDecoder:
    shared = Shared()
    return TurningDecoder(*[Turn(powers(10_000.0, shared.halved())) for _ in range(3)]).eval()


def healthy(folder: Path) -> TurningDecoder:
    return TurningDecoder(*[Turn(powers(10_000.0, Shared().halved())) for _ in range(3)]).eval()


ITEM = Fault(
    source="vllm-project/vllm#16904",
    check="PE307",
    where="layers",
    right=r"[24] lanes of each head are rotated, the config says 8",
    build=faulty,
    healthy=healthy,
    evidence={"config": {**llama_config(partial_rotary_factor=0.5, num_hidden_layers=3), "model_type": "phi3"}},
)
