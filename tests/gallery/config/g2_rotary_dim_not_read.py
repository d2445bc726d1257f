"""MiniMax-M2 answers nonsense: its config counts the rotated lanes in `rotary_dim`, and the reader knows only shares.

All lanes of the head were rotated instead of the first half.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import HEAD_DIM, TurningDecoder, llama_config, powers, turning

CONFIG = {**llama_config(head_dim=HEAD_DIM, rotary_dim=HEAD_DIM // 2, rope_theta=5e6), "model_type": "minimax_m2"}


def faulty(folder: Path) -> TurningDecoder:
    return turning(powers(5e6, HEAD_DIM))


def healthy(folder: Path) -> TurningDecoder:
    return turning(powers(5e6, HEAD_DIM // 2))


ITEM = Fault(
    source="huggingface/transformers#48241",
    check="PE307",
    where="layers",
    right=r"16 lanes of each head are rotated, the config says 8",
    build=faulty,
    healthy=healthy,
    evidence={"config": CONFIG},
)
