"""Vectors that follow a cache start at position 0 again: positions are counted from the vectors' length alone."""

from pathlib import Path
from typing import Any

import torch

from tests.gallery.item import Fault
from tests.helpers.healthy import SIZES


def build(kind: type) -> Any:
    import transformers

    torch.manual_seed(0)
    return kind(transformers.LlamaConfig(**SIZES)).eval()


def faulty(_: Path) -> Any:
    import transformers

    class FromZero(transformers.LlamaForCausalLM):  # type: ignore[misc]
        def forward(self, input_ids: Any = None, inputs_embeds: Any = None, cache: Any = None, **more: Any) -> Any:
            if inputs_embeds is not None:
                more["position_ids"] = torch.arange(inputs_embeds.shape[1])[None]
            return super().forward(input_ids=input_ids, inputs_embeds=inputs_embeds, cache=cache, **more)

    return build(FromZero)


def healthy(_: Path) -> Any:
    import transformers

    return build(transformers.LlamaForCausalLM)


ITEM = Fault(
    source="huggingface/transformers#37403",
    check="PE406",
    where="the cache",
    right=r"they get positions 0, 1, 2, not positions 4, 5, 6",
    build=faulty,
    healthy=healthy,
)
