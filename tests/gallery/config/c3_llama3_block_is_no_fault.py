"""A validator that wants exactly `type` and `factor` refuses Llama 3.1. Its block has five keys, and is right."""

from pathlib import Path

from tests.gallery.item import LookAlike
from tests.helpers.gallery_configs import LLAMA3, config_file, llama_config


def build(folder: Path) -> Path:
    fields = llama_config(max_position_embeddings=131_072, rope_theta=5e5, rope_scaling=LLAMA3)
    return config_file(folder, **fields, architectures=["LlamaForCausalLM"])


ITEM = LookAlike(
    source="huggingface/optimum-habana#1154",
    build=build,
    passes=("PE102", "PE106", "PE107", "PE110"),
)
