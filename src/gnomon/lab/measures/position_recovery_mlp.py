"""How well a small network reads positions from hidden states: the probe of Haviv et al. 2022, arXiv:2203.16634."""

from dataclasses import dataclass
from typing import ClassVar, final

from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.base import Measure, Trained, registry
from gnomon.lab.measures.reading.checking import require_probe
from gnomon.lab.measures.reading.lengths import by_layer
from gnomon.lab.measures.reading.probes import mlp_reader, recovery
from gnomon.report.lab.results import MeasureInfo, Series


@registry.register("position_recovery_mlp")
@final
@dataclass(frozen=True)
class PositionRecoveryMLP(Measure):
    """Mean distance between a slot and the guess of a network of two layers, over that of the best constant guess.

    1 is chance; rows, layers and the half of the rows that is held out are those of `position_recovery_linear`. The
    paper's readers name the most likely slot, so its chance is a third of the length; these guess the slot with the
    least expected distance, so that a reader that knows nothing is as good as a constant, not worse.
    """

    info: ClassVar[MeasureInfo] = MeasureInfo(
        "position_recovery_mlp", "error of an MLP position probe (1: chance)", "of chance", "layer", "lower"
    )
    length: int = 64
    rows: int = 128

    def __post_init__(self) -> None:
        require_probe(self.info.name, length=self.length, rows=self.rows)

    def take(self, trained: Trained, context: Context) -> Series:
        def read() -> list[float]:
            return recovery(mlp_reader, trained, context, self.info.name, length=self.length, rows=self.rows)

        return by_layer(trained, self.length, read, first=0)
