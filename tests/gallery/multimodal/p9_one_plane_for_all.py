"""A patched forward trains badly: where position ids are not given it counts 0, 1, 2 for all three planes."""

from pathlib import Path
from typing import Any

import torch

from tests.gallery.item import Fault
from tests.helpers.gallery_multimodal import qwen2_vl, qwen2_vl_with, with_an_image


def faulty(_: Path) -> Any:
    from transformers.models.qwen2_vl.modeling_qwen2_vl import Qwen2VLModel

    class Counts(Qwen2VLModel):  # type: ignore[misc]
        def compute_3d_position_ids(self, inputs_embeds: Any, **_: Any) -> Any:
            return torch.arange(inputs_embeds.shape[1]).expand(3, len(inputs_embeds), -1)

    return qwen2_vl_with(Counts), with_an_image()


def healthy(_: Path) -> Any:
    return qwen2_vl(), with_an_image()


ITEM = Fault(
    source="linkedin/Liger-Kernel#276",
    check="PE414",
    where="the position ids",
    right=r"token 4 \(image\) has \(time, height, width\) \(4, 4, 4\), not \(3, 3, 4\).* widths \[3, 4, 3, 4\]",
    build=faulty,
    healthy=healthy,
)
