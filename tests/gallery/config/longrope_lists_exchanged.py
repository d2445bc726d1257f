"""Short prompts are wrong and long ones too: each list of factors stands under the other's name.

Short factors stay near 1, as trained texts need no slowing; the long ones reach 64.8 in Phi-3.5-mini.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import HEAD_DIM, config_file, llama_config

SHORT = [1.0] * (HEAD_DIM // 2)
LONG = [float(2**pair) for pair in range(HEAD_DIM // 2)]


def phi(folder: Path, short: list[float], long: list[float]) -> Path:
    block = {"type": "longrope", "short_factor": short, "long_factor": long}
    sizes = llama_config(rope_theta=1e4, max_position_embeddings=131072, original_max_position_embeddings=4096)
    return config_file(folder, **{**sizes, "model_type": "phi3"}, rope_scaling=block)


def faulty(folder: Path) -> Path:
    return phi(folder, LONG, SHORT)


def healthy(folder: Path) -> Path:
    return phi(folder, SHORT, LONG)


ITEM = Fault(
    source="lablup/mlxcel#1358",
    check="PE102",
    where="rope_scaling",
    right="the two lists seem exchanged.*long_factor is the list with the larger numbers",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
