"""Memory of training: what Press et al. 2022, arXiv:2108.12409, table 1, compare in gigabytes."""

import copy
from dataclasses import dataclass
from typing import ClassVar, final

import torch

from gnomon.lab.measures.base import Trained, registry
from gnomon.lab.measures.reading.checking import require_counts
from gnomon.lab.measures.reading.peak import peak_bytes
from gnomon.lab.measures.reading.twins import BesideNoPE, forward_and_backward, without_positions
from gnomon.lab.model import LabModel
from gnomon.lab.tasks.base import Batch
from gnomon.report.lab.results import MeasureInfo


@registry.register("memory")
@final
@dataclass(frozen=True)
class Memory(BesideNoPE):
    """The most bytes that a forward and a backward pass hold at once beside the weights, over those of NoPE.

    Activations, biases, masks and gradients; a bias for each pair of slots grows with the square of the length.
    """

    info: ClassVar[MeasureInfo] = MeasureInfo("memory", "memory of training", "of NoPE's", "length", "lower")

    def __post_init__(self) -> None:
        require_counts(self.info.name, rows=self.rows, length=min(self.lengths, default=0))

    def score(self, trained: Trained, batch: Batch, generator: torch.Generator) -> float:
        device = next(trained.model.parameters()).device
        ids = batch.ids.to(device)

        def peak(model: LabModel) -> int:
            return peak_bytes(lambda: forward_and_backward(model, ids), device)

        return peak(copy.deepcopy(trained.model)) / peak(without_positions(trained.model))
