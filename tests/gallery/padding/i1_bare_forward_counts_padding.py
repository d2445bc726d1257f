"""Left-padded rows of a GPT-2 batch are wrong: a forward that gets only the mask numbers the slots, padding included.

Live in transformers 5.24 for GPT-2, GPT-Neo, GPTBigCode and XGLM: the change is as large as the outputs. It also
made a trainer's log-probabilities differ from those of the code it was ported from: its scoring forward passed no ids.
"""

from pathlib import Path
from typing import Any

from tests.gallery.item import Fault
from tests.helpers.healthy import GPT2


def build(kind: type | None = None) -> Any:
    import transformers

    return (kind or transformers.GPT2LMHeadModel)(transformers.GPT2Config(**GPT2)).eval()


def faulty(_: Path) -> Any:
    return build()


def healthy(_: Path) -> Any:
    import transformers

    class FromTheMask(transformers.GPT2LMHeadModel):  # type: ignore[misc]
        def forward(self, input_ids: Any, attention_mask: Any = None, position_ids: Any = None, **more: Any) -> Any:
            if position_ids is None and attention_mask is not None:
                counted = (attention_mask.long().cumsum(1) - 1).clamp(min=0)
                position_ids = counted[:, -input_ids.shape[1] :]
            return super().forward(input_ids, attention_mask=attention_mask, position_ids=position_ids, **more)

    return build(FromTheMask)


ITEM = Fault(
    source="huggingface/transformers#21080, huggingface/transformers#18388, huggingface/trl#469",
    check="PE401",
    where="the forward",
    right=r"padding is counted .* derive position ids from the mask.* until then pass position_ids yourself",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
