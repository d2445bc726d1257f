"""The time grid of videos is wrong whenever a frame lasts more than one step: frames are counted, not multiplied.

With 2 steps for a second, frames of one second and 2 x 2 tokens, the times are 0 0 0 0 2 2 2 2 4 4 4 4 from the start.
"""

from pathlib import Path
from typing import Any

from tests.gallery.item import Fault
from tests.helpers.gallery_multimodal import qwen2_5_vl


def faulty(_: Path) -> Any:
    from transformers.models.qwen2_5_vl.modeling_qwen2_5_vl import Qwen2_5_VLModel

    class CountsFrames(Qwen2_5_VLModel):  # type: ignore[misc]
        def get_vision_position_ids(
            self, start: Any, grid: Any, frame: int, merge: int, interval: Any, **more: Any
        ) -> Any:
            return super().get_vision_position_ids(start, grid, frame, merge, min(interval, 1), **more)

    return qwen2_5_vl(CountsFrames)


def healthy(_: Path) -> Any:
    return qwen2_5_vl()


ITEM = Fault(
    source="huggingface/transformers#45381, huggingface/transformers#45400",
    check="PE414",
    where="the position ids",
    right=r"token 6 \(video\) .* times \[2, 2, 2, 2, 4, 4, 4, 4, 6, 6, 6, 6\]",
    build=faulty,
    healthy=healthy,
)
