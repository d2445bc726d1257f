"""T5 writes another text with a cache: the bias of each step is that of query 0, whatever was decoded before."""

from pathlib import Path
from typing import Any

import torch

from tests.gallery.item import Fault

EXAMPLE = {"input_ids": torch.arange(5, 27).view(2, 11), "decoder_input_ids": torch.arange(5, 23).view(2, 9)}


def healthy(_: Path) -> Any:
    import transformers

    torch.manual_seed(0)
    config = transformers.T5Config(
        vocab_size=60,
        d_model=32,
        d_kv=8,
        num_heads=4,
        num_layers=2,
        d_ff=24,
        decoder_start_token_id=0,
    )
    return transformers.T5ForConditionalGeneration(config).eval(), EXAMPLE


def faulty(folder: Path) -> Any:
    from transformers.models.t5.modeling_t5 import T5Attention

    class ForQueryZero(T5Attention):  # type: ignore[misc]
        def compute_bias(self, query_length: int, key_length: int, device: Any = None, **_: Any) -> Any:
            return super().compute_bias(query_length, key_length, device=device)

    model, example = healthy(folder)
    for part in model.modules():
        if isinstance(part, T5Attention):
            part.__class__ = ForQueryZero
    return model, example


ITEM = Fault(
    source="huggingface/candle#899",
    check="PE403",
    where="the cache",
    right=r"differs from one pass .* at the cache's length, in biases too",
    build=faulty,
    healthy=healthy,
)
