"""How far the norm of the gradient swings while a model trains.

Zhang et al. 2020, arXiv:1912.03194, find heavy tails in the noise of gradients where attention is trained: high peaks.
"""

from dataclasses import dataclass
from typing import ClassVar, final

import torch

from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.base import Measure, Trained, registry
from gnomon.lab.measures.reading.lengths import series
from gnomon.report.lab.results import MeasureInfo, Series

PERCENTILES = (10, 25, 75, 90, 99, 100)


@registry.register("gradient_spread")
@final
@dataclass(frozen=True)
class GradientSpread(Measure):
    """Percentiles of the gradient norms before clipping, over their median; the one at 100 is the highest peak.

    The first `skip` steps, the warm-up, are left out. All numbers at 1 would be a norm that never changes.
    """

    info: ClassVar[MeasureInfo] = MeasureInfo(
        "gradient_spread", "spread of gradient norms", "of the median", "percentile"
    )
    skip: int = 50

    def take(self, trained: Trained, context: Context) -> Series:
        norms = torch.tensor(trained.history.gradient_norms[self.skip :], dtype=torch.float64)
        if not len(norms):
            return Series(PERCENTILES, (None,) * len(PERCENTILES), f"there are no more than {self.skip} steps")
        at = norms.quantile(torch.tensor(PERCENTILES, dtype=torch.float64) / 100)
        return series(PERCENTILES, (at / norms.quantile(0.5)).tolist())
