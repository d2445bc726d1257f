"""roberta-large fails at the 514 tokens that it states: two rows come before position 0, and 512 serve tokens.

Here 16 rows and padding id 1: 14 tokens.
"""

import json
from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import config_file, llama_config

ROBERTA = {**llama_config(max_position_embeddings=16, pad_token_id=1), "model_type": "roberta"}


def built(folder: Path, limit: int) -> Path:
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": limit}))
    return config_file(folder, **ROBERTA)


def faulty(folder: Path) -> Path:
    return built(folder, 16)


def healthy(folder: Path) -> Path:
    return built(folder, 14)


ITEM = Fault(
    source="huggingface/transformers#14243, huggingface/transformers#1363, huggingface/transformers#11242",
    check="PE104",
    where="tokenizer_config.json",
    right=r"model_max_length is 16 but the table serves 14.*set model_max_length to 14",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
