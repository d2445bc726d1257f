"""GLM rotates half of each head. Its files do not say so, and a program without that default rotates all of it."""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import HEAD_DIM, Turn, TurningDecoder, llama_config, powers


def built(lanes: int) -> TurningDecoder:
    return TurningDecoder(*[Turn(powers(10_000.0, lanes), interleaved=True)] * 2).eval()


def faulty(folder: Path) -> TurningDecoder:
    return built(HEAD_DIM)


def healthy(folder: Path) -> TurningDecoder:
    return built(HEAD_DIM // 2)


ITEM = Fault(
    source="ml-explore/mlx-lm#1698",
    check="PE307",
    where="layers",
    right=r"16 lanes of each head are rotated, the config says 8",
    build=faulty,
    healthy=healthy,
    evidence={"config": {**llama_config(head_dim=HEAD_DIM), "model_type": "glm"}},
)
