"""An exported decoder is wrong for batches with padding: position ids are no input of the graph, which counts slots."""

from pathlib import Path
from typing import Any

from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.healthy import GPT2


class Graph(nn.Module):
    """What a runtime sees of an exported GPT-2: ids and mask go in, logits come out."""

    def __init__(self, *, counts_tokens: bool) -> None:
        super().__init__()
        import transformers

        self.inner = transformers.GPT2LMHeadModel(transformers.GPT2Config(**GPT2))
        self.counts_tokens = counts_tokens

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        ids = None
        if self.counts_tokens and attention_mask is not None:
            ids = (attention_mask.long().cumsum(1) - 1).clamp(min=0)
        logits: Tensor = self.inner(input_ids, attention_mask=attention_mask, position_ids=ids).logits
        return logits


def faulty(_: Path) -> Any:
    return Graph(counts_tokens=False).eval()


def healthy(_: Path) -> Any:
    return Graph(counts_tokens=True).eval()


ITEM = Fault(
    source="huggingface/optimum#1381, huggingface/optimum#984",
    check="PE401",
    where="the forward",
    right=r"padding is counted .* derive position ids from the mask, for each row \|",
    build=faulty,
    healthy=healthy,
)
