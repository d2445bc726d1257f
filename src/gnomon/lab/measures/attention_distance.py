"""How far back attention looks: the mean distance of Dosovitskiy et al. 2021, arXiv:2010.11929, section 4.5."""

from dataclasses import dataclass
from typing import ClassVar, final

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.base import Measure, Trained, registry
from gnomon.lab.measures.reading.attention import attention_maps
from gnomon.lab.measures.reading.checking import require_counts
from gnomon.lab.measures.reading.lengths import by_layer
from gnomon.lab.measures.reading.pieces import pieces_for_maps
from gnomon.lab.tasks.base import Batch
from gnomon.report.lab.results import MeasureInfo, Series


@registry.register("attention_distance")
@final
@dataclass(frozen=True)
class AttentionDistance(Measure):
    """By layer, the distance in slots from query to key, weighted by attention, on `rows` test rows of one `length`.

    A mean over heads and over queries that are not padding; the first slots cannot look far, so attention spread
    evenly under a causal mask has a quarter of the length, not half.
    """

    info: ClassVar[MeasureInfo] = MeasureInfo("attention_distance", "mean distance attended", "slots", "layer")
    length: int | None = None
    rows: int = 32

    def __post_init__(self) -> None:
        require_counts(self.info.name, rows=self.rows, length=1 if self.length is None else self.length)

    def take(self, trained: Trained, context: Context) -> Series:
        generator = context.generator("measure", self.info.name)
        batch = trained.task.batch("test", self.length, self.rows, generator)

        def read() -> list[float]:
            sums = torch.stack([_sums(trained, piece, generator) for piece in pieces_for_maps(trained, batch)]).sum(0)
            queries = batch.ids.numel() if batch.real is None else int(batch.real.sum())
            return [float(total) / queries for total in sums]

        return by_layer(trained, batch.ids.shape[1], read)


def _sums(trained: Trained, piece: Batch, generator: torch.Generator) -> Float[Tensor, " layers"]:
    """The distances of all queries that are not padding, in slots, summed for each layer."""
    real = torch.ones(piece.ids.shape) if piece.real is None else piece.real
    layers = attention_maps(trained, piece, generator)
    return torch.stack([(mean_distances(layer) * real).sum(dtype=torch.float64) for layer in layers])


def mean_distances(logits: Float[Tensor, "B H S S"]) -> Float[Tensor, "B S"]:
    """How far each query looks, a mean over heads; logits are -inf where a key is hidden."""
    slots = torch.arange(logits.shape[-1])
    distance = (slots[:, None] - slots).abs()
    return (logits.softmax(-1) * distance).sum(-1).mean(1)
