"""After a question about an image, a plain text is decoded at wrong positions: the image's delta stays on the model.

Live in transformers 5.24 for bare forwards: an image of 2 x 2 merged tokens leaves -2, and the next text's step 5 is 3.
"""

from pathlib import Path
from typing import Any

from tests.gallery.item import Fault
from tests.helpers.gallery_multimodal import qwen2_vl, with_an_image


def faulty(_: Path) -> Any:
    return qwen2_vl(), with_an_image()


def healthy(_: Path) -> Any:
    import transformers

    class Resets(transformers.Qwen2VLForConditionalGeneration):  # type: ignore[misc]
        def forward(self, input_ids: Any = None, cache: Any = None, **more: Any) -> Any:
            if cache is None:
                self.model.rope_deltas = None
            return super().forward(input_ids=input_ids, cache=cache, **more)

    return qwen2_vl(Resets), with_an_image()


ITEM = Fault(
    source="huggingface/transformers#43952, huggingface/trl#5088",
    check="PE404",
    where="the forward",
    right=r"after the example, decoding of a short sequence differs .* reset at the start of a sequence",
    build=faulty,
    healthy=healthy,
)
