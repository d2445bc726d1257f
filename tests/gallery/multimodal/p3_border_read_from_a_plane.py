"""Scores fall after an update: the plane of time, which repeats inside an image, is read as borders of documents."""

from pathlib import Path
from typing import Any

import torch

from tests.gallery.item import Fault
from tests.helpers.gallery_multimodal import IMAGE, qwen2_vl, qwen2_vl_with, with_an_image


def faulty(_: Path) -> Any:
    from transformers.models.qwen2_vl.modeling_qwen2_vl import Qwen2VLModel

    class SeesBorders(Qwen2VLModel):  # type: ignore[misc]
        def forward(self, input_ids: Any = None, attention_mask: Any = None, **more: Any) -> Any:
            images = (input_ids == IMAGE).int()
            if images.any():
                document = (images.diff(dim=1, prepend=images[:, :1]) != 0).cumsum(1)
                same = document[:, :, None] == document[:, None, :]
                attention_mask = (same & torch.ones_like(same).tril())[:, None]
                more["position_ids"] = self.get_rope_index(
                    input_ids, more["mm_token_type_ids"], image_grid_thw=more["image_grid_thw"]
                )[0]
            return super().forward(input_ids=input_ids, attention_mask=attention_mask, **more)

    return qwen2_vl_with(SeesBorders), with_an_image()


def healthy(_: Path) -> Any:
    return qwen2_vl(), with_an_image()


ITEM = Fault(
    source="huggingface/transformers#40154, huggingface/transformers#40490",
    check="PE414",
    where="the attention mask",
    right=r"the first token has no effect on the last: repeated ids .* never from the time of image tokens",
    build=faulty,
    healthy=healthy,
)
