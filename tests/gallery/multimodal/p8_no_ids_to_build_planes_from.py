"""A vision-language model generates nonsense from vectors: without ids nothing builds its three planes of positions."""

from pathlib import Path
from typing import Any

import torch

from tests.gallery.item import Fault
from tests.helpers.gallery_multimodal import qwen2_vl


def faulty(_: Path) -> Any:
    import transformers

    class NoPlanes(transformers.Qwen2VLForConditionalGeneration):  # type: ignore[misc]
        def forward(self, input_ids: Any = None, inputs_embeds: Any = None, cache: Any = None, **more: Any) -> Any:
            if input_ids is None and inputs_embeds is not None:
                more["position_ids"] = torch.zeros(3, *inputs_embeds.shape[:2], dtype=torch.int64)
            return super().forward(input_ids=input_ids, inputs_embeds=inputs_embeds, cache=cache, **more)

    return qwen2_vl(NoPlanes)


def healthy(_: Path) -> Any:
    return qwen2_vl()


ITEM = Fault(
    source="huggingface/transformers#35466, huggingface/transformers#35463",
    check="PE406",
    where="the forward",
    right=r"given vectors it uses positions 0, 0, 0, .* as for ids",
    build=faulty,
    healthy=healthy,
)
