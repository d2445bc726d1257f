"""gnomon's own models as functions of token ids, a mask, and positions."""

from typing import final

from torch import Tensor, nn

from gnomon.attention import AttentionMask, TwoStreamMasks
from gnomon.encodings.base import PositionEncoding
from gnomon.errors import GnomonError
from gnomon.exporting.graphs.base import Graph, counted, drawn_ids, left_padded
from gnomon.exporting.result import Case
from gnomon.models import Decoder, Encoder, XLNet


@final
class TokensGraph(Graph):
    """input_ids, attention_mask (1 token, 0 padding) and position_ids to the logits, or hidden states, of each token.

    Positions are given, as everywhere in gnomon: with left padding, the number of real tokens before each.
    """

    def __init__(self, model: Decoder | Encoder) -> None:
        super().__init__()
        self.model = model
        self.inputs = ("input_ids", "attention_mask", "position_ids")
        self.outputs = ("logits",) if isinstance(model, Decoder) else ("last_hidden_state",)

    def forward(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        ids, attention_mask, positions = tensors
        stack = self.model.stack
        hidden: Tensor = stack(ids, AttentionMask(real=attention_mask != 0), positions)
        return (stack.embedding.logits(hidden) if isinstance(self.model, Decoder) else hidden,)

    def draw(self, case: Case, seed: int) -> dict[str, Tensor]:
        mask = left_padded(case)
        positions = counted(mask, case)
        axes = axes_of(self.model)
        return {
            "input_ids": drawn_ids(mask.shape, vocabulary_of(self.model), seed),
            "attention_mask": mask,
            "position_ids": positions if axes == 1 else positions[..., None].expand(-1, -1, axes).contiguous(),
        }


@final
class XLNetGraph(Graph):
    """input_ids and attention_mask to the logits of the content stream, without memory; slots are counted from 0."""

    def __init__(self, model: XLNet) -> None:
        super().__init__()
        if model.options.mirrored:
            raise GnomonError("A mirrored XLNet reads half of the rows of a batch backwards, which no export has.")
        self.model = model
        self.inputs = ("input_ids", "attention_mask")
        self.outputs = ("logits",)

    def forward(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        ids, attention_mask = tensors
        out = self.model(ids, TwoStreamMasks(attention_mask=attention_mask != 0))
        return (self.model.logits(out.content),)

    def draw(self, case: Case, seed: int) -> dict[str, Tensor]:
        mask = left_padded(case)
        return {
            "input_ids": drawn_ids(mask.shape, self.model.options.vocabulary, seed),
            "attention_mask": mask,
        }


def vocabulary_of(model: Decoder | Encoder) -> int:
    """How many token ids the model knows."""
    words: nn.Embedding = model.stack.embedding.words
    return words.num_embeddings


def axes_of(model: Decoder | Encoder) -> int:
    """How many coordinates a position of the model has."""
    return max(part.axes for part in model.modules() if isinstance(part, PositionEncoding))
