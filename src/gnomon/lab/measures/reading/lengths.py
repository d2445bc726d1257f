"""Measures by the length of rows, and series in which a number that does not exist says why."""

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import final

import torch

from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.base import Measure, Trained
from gnomon.lab.tasks.base import Batch
from gnomon.report.lab.results import Series


class ByLength(Measure):
    """One number for each of `lengths`, in the task's own unit; None: rows as they come, and one number in all.

    Lengths that the encoding has no positions for have no number.
    """

    lengths: list[int] | None

    @abstractmethod
    def rows_of(self, trained: Trained, length: int | None, generator: torch.Generator) -> Batch:
        """The rows that are scored."""

    @abstractmethod
    def score(self, trained: Trained, batch: Batch, generator: torch.Generator) -> float:
        """Their number; NaN or infinity where there is none."""

    @final
    def take(self, trained: Trained, context: Context) -> Series:
        found = [
            self._at(length, trained, context) for length in (self.lengths if self.lengths is not None else [None])
        ]
        why = "" if None not in found else too_long(trained)
        return series(self.lengths or (), [math.nan if number is None else number for number in found], why)

    def _at(self, length: int | None, trained: Trained, context: Context) -> float | None:
        generator = context.generator("measure", self.info.name, "as they come" if length is None else length)
        batch = self.rows_of(trained, length, generator)
        return self.score(trained, batch, generator) if trained.fits(batch.ids.shape[1]) else None


def series(at: Sequence[float], values: Sequence[float], why: str = "") -> Series:
    """Numbers along an axis, or one number where `at` is empty; one that is not finite becomes None."""
    finite = tuple(value if math.isfinite(value) else None for value in values)
    return Series(tuple(at), finite, why or ("the number is not finite" if None in finite else ""))


def too_long(trained: Trained) -> str:
    """Why rows of some length were not run."""
    limits = (trained.model.max_length, trained.placing.limit if trained.placing.kind == "random" else None)
    return f"there are positions for {min(limit for limit in limits if limit is not None)} slots only"


def by_layer(
    trained: Trained, slots: int, read: Callable[[], Sequence[float]], *, first: int = 1, flat: str = ""
) -> Series:
    """What `read` finds for the layers first, first + 1, ...; no numbers where the encoding has too few positions.

    Layers count from 1; 0 is what the first of them is given. `flat` says why a layer has no number.
    """
    places = range(first, len(trained.model.stack.blocks) + 1)
    if not trained.fits(slots):
        return Series(tuple(places), (None,) * len(places), too_long(trained))
    found = read()
    return series(places, found, flat if any(math.isnan(number) for number in found) else "")
