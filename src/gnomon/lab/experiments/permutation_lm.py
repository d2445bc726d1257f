"""A small XLNet trained by permutation language modeling: Yang et al. 2019, arXiv:1906.08237, sections 2.2 and 2.3."""

from dataclasses import dataclass
from statistics import fmean
from typing import final

import torch
from torch.nn.functional import cross_entropy
from torch.optim.lr_scheduler import LambdaLR

from gnomon.errors import GnomonError
from gnomon.lab.experiments.base import Experiment, Outcome, registry
from gnomon.lab.experiments.context import Context
from gnomon.lab.experiments.two_stream import (
    SAME_PREFIX,
    VOCABULARY,
    Told,
    drawn_model,
    predicted,
    require_told,
    same_prefix,
)
from gnomon.models import PermutationCollator, XLNet
from gnomon.report.lab.results import MeasureInfo, Series

PERIOD, SHORTEST, LONGEST = 6, 20, 24  #: letters of a pattern, and of a row that repeats it
ROWS, PEAK, WARMUP = 32, 3e-3, 50


@registry.register("permutation_lm")
@final
@dataclass(frozen=True)
class PermutationLM(Experiment):
    """Each row repeats a pattern of six random letters of twelve, in 20 to 24 letters; about one in six is predicted.

    A letter that is to be predicted stands six places before or after in the row too. With `told` "place" a query knows
    where its target stands, so it can look there; with "nothing" it has the same letters to see, with their places, but
    must do without. `permutation_loss` is the mean over `every` steps of the loss before each step, on rows that are
    new at every step. Guessing costs ln 12 = 2.48.
    """

    infos = (
        MeasureInfo("permutation_loss", "loss of permutation language modeling", "nats per letter", "step", "lower"),
        SAME_PREFIX,
    )
    told: Told
    steps: int = 400
    every: int = 50

    def __post_init__(self) -> None:
        require_told(self.told)
        if self.every < 1 or self.steps < self.every or self.steps % self.every:
            raise GnomonError(f"The steps are a multiple of `every`, got {self.steps} and {self.every}.")

    def run(self, context: Context) -> Outcome:
        model = drawn_model(context)
        losses = self._train(model, context)
        ends = range(self.every, self.steps + 1, self.every)
        curve = Series(tuple(ends), tuple(fmean(losses[end - self.every : end]) for end in ends))
        apart = same_prefix(model, self.told, (64, LONGEST), context.generator("same prefix"))
        return Outcome({"": {"permutation_loss": curve, "same_prefix": apart}})

    def _train(self, model: XLNet, context: Context) -> list[float]:
        optimizer = torch.optim.AdamW(model.parameters(), lr=PEAK)
        schedule = LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / WARMUP))
        losses = []
        for step in range(self.steps):
            generator = context.generator("step", step)
            made = PermutationCollator(generator=generator)(_rows(generator))
            logits = predicted(model, made.ids, made.masks, self.told)
            loss = cross_entropy(logits.flatten(0, 1), made.labels.flatten())
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
            context.progress(step + 1, self.steps)
        return losses


def _rows(generator: torch.Generator) -> list[torch.Tensor]:
    """Letters 1 .. 12; odd lengths among them."""
    patterns = torch.randint(1, VOCABULARY, (ROWS, PERIOD), generator=generator)
    lengths = torch.randint(SHORTEST, LONGEST + 1, (ROWS,), generator=generator).tolist()
    return [pattern[torch.arange(length) % PERIOD] for pattern, length in zip(patterns, lengths, strict=True)]
