"""GPT-NeoX-Japanese with rotary_pct 0.5: frequencies are made for the whole head and attention rotates half of it.

The released code stopped with a shape error; code that cuts the list runs, at the square root of the base.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import HEAD_DIM, TurningDecoder, llama_config, powers, turning


def faulty(folder: Path) -> TurningDecoder:
    return turning(powers(10_000.0, HEAD_DIM)[: HEAD_DIM // 4])


def healthy(folder: Path) -> TurningDecoder:
    return turning(powers(10_000.0, HEAD_DIM // 2))


ITEM = Fault(
    source="huggingface/transformers#48630",
    check="PE307",
    where="layers",
    right=r"follow base 100, the config says 10000",
    build=faulty,
    healthy=healthy,
    evidence={"config": {**llama_config(rotary_pct=0.5), "model_type": "gpt_neox_japanese"}},
)
