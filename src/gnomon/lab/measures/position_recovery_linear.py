"""How well a linear map reads positions from hidden states.

Wang and Chen 2020, arXiv:2010.04903, read them so from position embeddings; Haviv et al. 2022, arXiv:2203.16634, layer
by layer from hidden states.
"""

from dataclasses import dataclass
from typing import ClassVar, final

from gnomon.lab.measures.base import registry
from gnomon.lab.measures.reading.probes import PositionRecovery, Reader, linear_reader
from gnomon.report.lab.results import MeasureInfo


@registry.register("position_recovery_linear")
@final
@dataclass(frozen=True)
class PositionRecoveryLinear(PositionRecovery):
    """Mean distance between a slot and the guess of a ridge reader, over that of the best constant guess.

    1 is chance: floor(S² / 4) / S slots for rows of S, a quarter of their length. Layer 0 is the input of the first
    block. Rows are random tokens, so that no token tells its slot; the reader is fitted on half of the rows and tried
    on the other half. Beside it stands the model without an encoding, which reads a causal mask at best.
    """

    info: ClassVar[MeasureInfo] = MeasureInfo(
        "position_recovery_linear", "error of a linear position probe (1: chance)", "of chance", "layer", "lower"
    )

    @property
    def reader(self) -> Reader:
        return linear_reader
