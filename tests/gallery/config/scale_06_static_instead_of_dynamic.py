"""Short prompts differ from Hugging Face's: the base of dynamic NTK is worked out once, for the longest length.

Base 10,000 holds up to the trained 2048 tokens. At 4096 and 128 lanes it is 30,527.7; with the 16 lanes here, 35,097.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import HEAD_DIM, TurningDecoder, llama_config, powers, turning


def faulty(folder: Path) -> TurningDecoder:
    return turning(powers(10_000.0 * (2 * 4096 / 2048 - 1) ** (HEAD_DIM / (HEAD_DIM - 2))))


def healthy(folder: Path) -> TurningDecoder:
    return turning(powers(10_000.0))


ITEM = Fault(
    source="vllm-project/vllm#5093, vllm-project/vllm#3488",
    check="PE307",
    where="layers",
    right=r"follow base 35\d\d\d[.\d]*, the config says 10000",
    build=faulty,
    healthy=healthy,
    evidence={"config": llama_config(max_position_embeddings=2048, rope_scaling={"type": "dynamic", "factor": 2.0})},
)
