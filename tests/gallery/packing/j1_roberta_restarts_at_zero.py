"""Packed training hurts the RoBERTa family: the collator restarts ids at 0, these models start at the padding id + 1.

With padding id 1, documents of 5 and 7 tokens have the positions 2 .. 6 and 2 .. 8. The same batches suit BERT.
"""

from pathlib import Path
from typing import Any

import torch

from tests.gallery.item import Fault
from tests.helpers.healthy import SIZES

RESTARTING = torch.cat((torch.arange(5), torch.arange(7)))[None]


def faulty(_: Path) -> Any:
    import transformers

    return transformers.RobertaForMaskedLM(transformers.RobertaConfig(**SIZES)).eval()


def healthy(_: Path) -> Any:
    import transformers

    return transformers.BertForMaskedLM(transformers.BertConfig(**SIZES)).eval()


ITEM = Fault(
    source="huggingface/transformers#47496, huggingface/transformers#47525",
    check="PE405",
    where="the batches",
    right=r"start at 0, while the model numbers its first token 2 \| .* 2, 3, 4, 5, 6, 2, 3, 4, 5, 6, 7, 8",
    build=faulty,
    healthy=healthy,
    evidence={"batches": [{"input_ids": torch.arange(5, 17)[None], "position_ids": RESTARTING}]},
)
