"""PE414: tokens of an image or a video, or the text after them, have other coordinates than their grid gives."""

from typing import Any

import torch

from tests.helpers.gallery_multimodal import qwen2_5_vl, qwen2_vl, qwen2_vl_with, with_an_image
from tests.helpers.toys import Toy, examine, only_finding


def test_images_and_videos_at_their_grids_pass() -> None:
    for target in ((qwen2_vl(), with_an_image()), qwen2_5_vl()):
        result = examine("PE414", target)
        assert result.status == "passed", (result.detail, result.findings)
        assert [m.name.split()[0] for m in result.measured] == ["tokens", "effect"]


def test_text_that_starts_too_early_after_an_image_is_found() -> None:
    from transformers.models.qwen2_vl.modeling_qwen2_vl import Qwen2VLModel

    class Early(Qwen2VLModel):  # type: ignore[misc]
        def get_rope_index(self, *args: Any, **more: Any) -> Any:
            ids, deltas = super().get_rope_index(*args, **more)
            ids[:, :, 7:] -= 1
            return ids, deltas

    result = examine("PE414", (qwen2_vl_with(Early), with_an_image()))
    finding = only_finding(result)
    assert result.severity == "error"
    assert finding.message.startswith("token 7 (text) has (time, height, width) (4, 4, 4), not (5, 5, 5); 3 of 10 ")


def test_rows_and_columns_that_are_swapped_are_found() -> None:
    from transformers.models.qwen2_vl.modeling_qwen2_vl import Qwen2VLModel

    class Swapped(Qwen2VLModel):  # type: ignore[misc]
        def get_rope_index(self, *args: Any, **more: Any) -> Any:
            ids, deltas = super().get_rope_index(*args, **more)
            return ids[[0, 2, 1]], deltas

    finding = only_finding(examine("PE414", (qwen2_vl_with(Swapped), with_an_image())))
    assert "not (3, 3, 4); 2 of 10 tokens differ" in finding.message
    assert "heights [3, 3, 4, 4] and widths [3, 4, 3, 4]" in finding.fix


def test_an_example_of_text_alone_is_not_judged() -> None:
    result = examine("PE414", (qwen2_vl(), {"input_ids": torch.tensor([[5, 6, 7]])}))
    assert (result.status, result.detail.split(":")[0]) == ("not-applicable", "the example holds no image")
    assert examine("PE414", Toy()).status == "not-applicable"
