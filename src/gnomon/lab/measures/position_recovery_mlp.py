"""How well a small network reads positions from hidden states: the probe of Haviv et al. 2022, arXiv:2203.16634."""

from dataclasses import dataclass
from typing import ClassVar, final

from gnomon.lab.measures.base import registry
from gnomon.lab.measures.reading.probes import PositionRecovery, Reader, mlp_reader
from gnomon.report.lab.results import MeasureInfo


@registry.register("position_recovery_mlp")
@final
@dataclass(frozen=True)
class PositionRecoveryMLP(PositionRecovery):
    """Mean distance between a slot and the guess of a network of two layers, over that of the best constant guess.

    1 is chance; rows, layers and the half of the rows that is held out are those of `position_recovery_linear`. The
    paper's readers name the most likely slot, so its chance is a third of the length; these guess the slot with the
    least expected distance, so that a reader that knows nothing is as good as a constant, not worse.
    """

    info: ClassVar[MeasureInfo] = MeasureInfo(
        "position_recovery_mlp", "error of an MLP position probe (1: chance)", "of chance", "layer", "lower"
    )

    @property
    def reader(self) -> Reader:
        return mlp_reader
