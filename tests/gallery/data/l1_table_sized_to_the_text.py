"""A RoBERTa trained from scratch stops with a device assert.

Cause: positions start at the padding id + 1, and the table was made as long as the texts: padding id 3 and texts of 14
tokens read rows 4 to 17, so 18 rows are needed, not 16.
"""

from pathlib import Path
from typing import Any

import torch

from tests.gallery.item import Fault


def _roberta(rows: int) -> Any:
    import transformers

    torch.manual_seed(0)
    config = transformers.RobertaConfig(
        vocab_size=60,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=24,
        max_position_embeddings=rows,
        pad_token_id=3,
    )
    return transformers.RobertaModel(config).eval()


def faulty(folder: Path) -> Any:
    return _roberta(16)


def healthy(folder: Path) -> Any:
    return _roberta(18)


ITEM = Fault(
    source="huggingface/transformers#9116",
    check="PE511",
    where="position_embeddings.weight",
    right="to 12 tokens, or give the table 18 rows",
    build=faulty,
    healthy=healthy,
    evidence={"batches": [{"input_ids": torch.arange(14)[None] + 10}]},
)
