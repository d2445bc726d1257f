"""T5's sizes of buckets became options, and not every pair of them works: the logarithm needs room to spread over.

32 buckets keep distances up to 16 apart in a decoder, so a largest distance of 16 divides by the logarithm of 1.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import config_file

T5 = {"model_type": "t5", "d_model": 32, "num_heads": 4, "num_layers": 2, "d_kv": 8, "d_ff": 24, "vocab_size": 40}
T5 |= {"relative_attention_num_buckets": 32, "is_encoder_decoder": True}


def faulty(folder: Path) -> Path:
    return config_file(folder, **T5, relative_attention_max_distance=16)


def healthy(folder: Path) -> Path:
    return config_file(folder, **T5, relative_attention_max_distance=128)


ITEM = Fault(
    source="google-research/t5x#457",
    check="PE118",
    where="relative_attention_num_buckets",
    right=r"32 buckets keep distances up to 16 apart, and the largest distance is 16.*above 16",
    build=faulty,
    healthy=healthy,
)
