"""Measure one claim of the article."""

from dataclasses import dataclass
from typing import final

from gnomon.errors import GnomonError
from gnomon.lab.experiments.base import Experiment, Outcome, registry
from gnomon.lab.experiments.context import Context
from gnomon.report.lab.results import Series


@registry.register("claim")
@final
@dataclass(frozen=True)
class MeasureClaim(Experiment):
    """`number` is that of the claim in docs/article.md; the series are named as the claim names its numbers."""

    number: int

    def run(self, context: Context) -> Outcome:
        from gnomon.lab.claims.base import Measured, all_claims

        [claim] = all_claims([self.number])
        if not isinstance(claim, Measured):
            raise GnomonError(f"Claim {self.number} has no measurement of its own; `gnomon lab claims` says why.")
        return Outcome({"": {name: Series.number(value) for name, value in claim.measure(context).items()}})
