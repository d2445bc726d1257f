"""The model of a run: gnomon's stack of blocks, with the head that a task asks for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from gnomon.attention import AttentionMask
from gnomon.encodings.base import PositionEncoding
from gnomon.errors import GnomonError
from gnomon.lab.encoding import Fusion, built_encoding
from gnomon.lab.tasks.base import Classes, NextToken, Sight, Task
from gnomon.models import EmbeddingOptions, ModelOptions
from gnomon.models.options import Scale
from gnomon.models.stack import Stack


@final
@dataclass(frozen=True)
class ModelSpec:
    """Sizes, and how order enters, as plain JSON values.

    `encoding` is a dict, {"encoding": "rotary", **options}, or a list with one for each layer; sizes that its
    constructor needs (num_heads, head_dim, dim, max_length) are filled in. `sight`: "causal", or "both" for an encoder.
    """

    dim: int = 64
    num_layers: int = 2
    num_heads: int = 4
    sight: Sight = "causal"
    encoding: Mapping[str, Any] | list[Mapping[str, Any]] = field(default_factory=lambda: {"encoding": "nope"})
    embedding_scale: Scale = "none"
    fusion: Fusion = "add"


@final
class LabModel(nn.Module):
    """A stack and a head: logits (B, S, classes) for ids (B, S). `max_length` is the slots of the longest trained row.

    >>> import torch
    >>> from gnomon.lab.tasks.copy import Copy
    >>> model = LabModel(ModelSpec(dim=32), Copy(symbols=9), max_length=8)
    >>> model(torch.tensor([[0, 4, 1]])).shape
    torch.Size([1, 3, 12])
    """

    def __init__(self, spec: ModelSpec, task: Task, *, max_length: int) -> None:
        super().__init__()
        if spec.sight not in task.sights:
            raise GnomonError(
                f"{type(task).__name__} is learnt with sight {' or '.join(task.sights)}, not {spec.sight}."
            )
        options = ModelOptions(
            task.vocabulary, spec.dim, spec.num_layers, spec.num_heads, embedding=EmbeddingOptions(spec.embedding_scale)
        )
        encoding = built_encoding(spec.encoding, options, fusion=spec.fusion, max_length=max_length)
        self.stack = Stack(options, encoding=encoding, causal=spec.sight == "causal")
        #: None: logits come from the table of the embeddings
        self.head = _head(task, spec.dim)

    @property
    def max_length(self) -> int | None:
        """How many slots every layer's encoding has; None: no limit."""
        limits = [each.max_length for each in self.modules() if isinstance(each, PositionEncoding)]
        return min((limit for limit in limits if limit is not None), default=None)

    def forward(
        self,
        ids: Int[Tensor, "B S"],
        real: Bool[Tensor, "B S"] | None = None,
        positions: Int[Tensor, "#B S"] | None = None,
    ) -> Float[Tensor, "B S C"]:
        """(B, S) int64 -> (B, S, C) logits; positions are counted from 0 unless they are passed."""
        hidden = self.stack(ids, AttentionMask.of(real), positions)
        logits: Tensor = self.stack.embedding.logits(hidden) if self.head is None else self.head(hidden)
        return logits


@final
class Pointer(nn.Module):
    """One score for each pair of slots, (B, S, S): the biaffine form of Dozat and Manning 2017, arXiv:1611.01734."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dependent, self.head = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x: Float[Tensor, "B S W"]) -> Float[Tensor, "B S S"]:
        scores: Tensor = self.dependent(x) @ self.head(x).mT * x.shape[-1] ** -0.5
        return scores


def _head(task: Task, dim: int) -> nn.Module | None:
    if isinstance(task.output, NextToken):
        return None
    return nn.Linear(dim, task.output.count) if isinstance(task.output, Classes) else Pointer(dim)
