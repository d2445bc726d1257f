"""Code Llama is given a base that it was not trained with: the automatic rule starts from 10000 whatever the model has.

It was asked for fewer positions than the model was trained for, so nothing had to change: base 1e6 stays.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import config_file, llama_config


def faulty(folder: Path) -> Path:
    return config_file(folder, **llama_config(rope_theta=26_000.0, max_position_embeddings=16_384))


def healthy(folder: Path) -> Path:
    return config_file(folder, **llama_config(rope_theta=1e6, max_position_embeddings=16_384))


ITEM = Fault(
    source="ggml-org/llama.cpp#3090",
    check="PE108",
    where="config.json",
    right=r"was 1000000 .*not grown.*rope_theta: 1000000",
    build=faulty,
    healthy=healthy,
    evidence={"reference": llama_config(rope_theta=1e6, max_position_embeddings=16_384)},
)
