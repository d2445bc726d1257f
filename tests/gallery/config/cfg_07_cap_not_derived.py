"""YaRN is asked for and the server stops at the old length: its cap is the trained length, not factor times it."""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import config_file, llama_config

YARN = {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 131_072}


def faulty(folder: Path) -> Path:
    return config_file(folder, **llama_config(max_position_embeddings=131_072, rope_scaling=YARN))


def healthy(folder: Path) -> Path:
    return config_file(folder, **llama_config(max_position_embeddings=262_144, rope_scaling=YARN))


ITEM = Fault(
    source="ggml-org/llama.cpp#28030, ggml-org/llama.cpp#17459, meta-models/meta-oss-cookbook#37",
    check="PE102",
    where="rope_scaling",
    right=r"factor is 2.*set max_position_embeddings to 262144",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
