"""`from_pretrained(dtype=bfloat16)` keeps frequencies in float32, `model.to(bfloat16)` does not: two models.

Live in transformers 5.24, and what DeepSpeed's bf16 mode does to every buffer.
"""

from pathlib import Path

from torch import nn

from gnomon.encodings import Rotary
from tests.gallery.item import Fault
from tests.helpers.healthy import decoder
from tests.helpers.toys import llama


def faulty(folder: Path) -> nn.Module:
    model: nn.Module = llama(max_position_embeddings=2048)
    return model


def healthy(folder: Path) -> nn.Module:
    return decoder(Rotary(8))


ITEM = Fault(
    source="huggingface/transformers#30709, deepspeedai/DeepSpeed#5812, deepspeedai/DeepSpeed#8066",
    check="PE601",
    where="model.layers",
    right=r"off by up to 0\.2 rad at position 2047.*restore the float32 frequencies",
    build=faulty,
    healthy=healthy,
    severity="note",
)
