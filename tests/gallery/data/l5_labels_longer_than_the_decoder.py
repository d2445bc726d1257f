"""Fine-tuning Whisper stops with a device assert at some batch.

Cause: one transcript has more tokens than the decoder's table has rows.
"""

from pathlib import Path
from typing import Any

import torch

from tests.gallery.item import Fault
from tests.helpers.tiny_transformers import tiny_model


def faulty(folder: Path) -> Any:
    return tiny_model("whisper", max_target_positions=16)


def healthy(folder: Path) -> Any:
    return tiny_model("whisper", max_target_positions=20)


FEATURES = torch.randn(1, 5, 46, generator=torch.Generator().manual_seed(0))

ITEM = Fault(
    source="huggingface/transformers#33196",
    check="PE511",
    where="decoder.embed_positions.weight",
    right="(16 tokens|16 rows).*20 rows",
    build=faulty,
    healthy=healthy,
    evidence={"batches": [{"input_features": FEATURES, "decoder_input_ids": torch.arange(20)[None] + 3}]},
)
