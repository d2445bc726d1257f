"""MPT fails on inputs longer than its configured length, though ALiBi has no limit: the bias is built once.

True of transformers 5.24, which raises a size mismatch deep inside attention.
"""

from pathlib import Path
from typing import Any

import torch

from tests.gallery.item import Fault

SIZES: dict[str, Any] = {"vocab_size": 50, "d_model": 32, "n_layers": 2, "n_heads": 4}


def faulty(folder: Path) -> Any:
    import transformers

    torch.manual_seed(0)
    return transformers.MptForCausalLM(transformers.MptConfig(**SIZES, max_seq_len=16)).eval()


def healthy(folder: Path) -> Any:
    """Bloom has the same bias, and computes it for the input at hand."""
    import transformers

    torch.manual_seed(0)
    config = transformers.BloomConfig(vocab_size=50, hidden_size=32, n_layer=2, n_head=4)
    return transformers.BloomForCausalLM(config).eval()


ITEM = Fault(
    source="tomaarsen/attention_sinks#14, mosaicml/llm-foundry#331",
    check="PE323",
    where="the forward",
    right="alibi has no longest input, but length 17 fails.*input at hand instead of once for 16",
    build=faulty,
    healthy=healthy,
    severity="note",
)
