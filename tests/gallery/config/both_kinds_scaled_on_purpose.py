"""gpt-oss scales its windowed layers with the others, and its ramp is not rounded: both are as it was trained."""

from pathlib import Path

from tests.gallery.item import LookAlike
from tests.helpers.gallery_configs import config_file
from tests.helpers.published_configs import PUBLISHED


def build(folder: Path) -> Path:
    small = {
        "hidden_size": 128,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "num_hidden_layers": 2,
        "intermediate_size": 32,
        "num_local_experts": 2,
        "num_experts_per_tok": 1,
        "vocab_size": 40,
        "layer_types": ["sliding_attention", "full_attention"],
    }
    return config_file(folder, **{**PUBLISHED["gpt-oss 20b"], **small})


ITEM = LookAlike(
    source="vllm-project/vllm#27722",
    build=build,
    passes=("PE102", "PE106", "PE107", "PE111", "PE113", "PE307"),
    evidence={"twin": True},
)
