"""Accuracy drops after a refactoring: the caller and the callee both multiply the head by the partial factor."""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import HEAD_DIM, TurningDecoder, llama_config, powers, turning

SHARE = 0.5


def frequencies(width: int) -> TurningDecoder:
    """The callee applies the share to the width it is given."""
    return turning(powers(5e6, int(width * SHARE)))


def faulty(folder: Path) -> TurningDecoder:
    return frequencies(int(HEAD_DIM * SHARE))


def healthy(folder: Path) -> TurningDecoder:
    return frequencies(HEAD_DIM)


ITEM = Fault(
    source="vllm-project/vllm#30384",
    check="PE307",
    where="layers",
    right=r"4 lanes of each head are rotated, the config says 8",
    build=faulty,
    healthy=healthy,
    evidence={"config": {**llama_config(rotary_dim=8, head_dim=16, rope_theta=5e6), "model_type": "minimax_m2"}},
)
