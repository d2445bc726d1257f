"""A Llama built without memory, materialised and loaded strictly: no error, yet its frequencies are whatever was there.

Frequencies are in no checkpoint. Live in transformers 5.24 for code that loads by itself; from_pretrained sets them.
"""

from pathlib import Path

import torch

from tests.gallery.item import Fault
from tests.helpers.toys import llama


def faulty(folder: Path) -> torch.nn.Module:
    whole = llama()
    with torch.device("meta"):
        empty = type(whole)(whole.config)
    made: torch.nn.Module = empty.to_empty(device="cpu").eval()
    for buffer in made.buffers():
        buffer.zero_()  # what fresh memory holds as a rule; anything is possible
    made.load_state_dict(whole.state_dict(), strict=True)
    return made


def healthy(folder: Path) -> torch.nn.Module:
    model: torch.nn.Module = type(llama()).from_pretrained(None, config=llama().config, state_dict=llama().state_dict())
    return model


ITEM = Fault(
    source="huggingface/transformers#34234",
    check="PE604",
    where="model.rotary_emb.inv_freq",
    right=r"a fresh build of the class holds 1, 0\.1, 0\.01, 0\.001",
    build=faulty,
    healthy=healthy,
)
