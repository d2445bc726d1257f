"""A still image gets its time axis stretched: the seconds of videos are applied to images too."""

from pathlib import Path
from typing import Any

from tests.gallery.item import Fault
from tests.helpers.gallery_multimodal import qwen2_vl, qwen2_vl_with, with_an_image


def faulty(_: Path) -> Any:
    from transformers.models.qwen2_vl.modeling_qwen2_vl import Qwen2VLModel

    class Stretches(Qwen2VLModel):  # type: ignore[misc]
        def get_rope_index(self, input_ids: Any, mm_token_type_ids: Any, *rest: Any, **more: Any) -> Any:
            ids, deltas = super().get_rope_index(input_ids, mm_token_type_ids, *rest, **more)
            ids[0][mm_token_type_ids == 1] *= 2
            return ids, deltas

    return qwen2_vl_with(Stretches), with_an_image()


def healthy(_: Path) -> Any:
    return qwen2_vl(), with_an_image()


ITEM = Fault(
    source="huggingface/transformers#45325",
    check="PE414",
    where="the position ids",
    right=r"token 3 \(image\) has \(time, height, width\) \(6, 3, 3\), not \(3, 3, 3\).* times \[3, 3, 3, 3\]",
    build=faulty,
    healthy=healthy,
)
