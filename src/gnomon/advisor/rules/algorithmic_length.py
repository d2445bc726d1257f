"""Exact rules at lengths beyond the trained one."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import ALGORITHMS, OFFSETS
from gnomon.advisor.rule import rule
from gnomon.advisor.task import Task


@rule(
    stage="points",
    source="Huang et al. 2025 (copying with random offsets); Kazemnejad et al. 2023, arXiv:2305.19466, figure 1",
)
def algorithmic_length(facts: Facts) -> Iterator[Effect]:
    """For copying, sorting and sums that should hold at longer inputs, ids that are random in training count most.

    Among encodings without them none at all and T5's bias did best, rotary and sinusoids worst; perplexity of texts at
    longer inputs says nothing of such tasks and is left out.
    """
    if facts.task is Task.ALGORITHMIC and facts.existing is None and facts.target > facts.trained:
        yield Score("randomized", 6, "training meets the positions of long inputs", OFFSETS)
        yield Score("nope", 3, "first in the comparison at up to twice the length", ALGORITHMS)
        yield Score("t5", 2, "second in that comparison", ALGORITHMS)
        yield Score("alibi", 1, "third in that comparison", ALGORITHMS)
        yield Score("rotary", -4, "fourth of five in that comparison", ALGORITHMS)
        yield Score("sinusoidal", -2, "last in that comparison", ALGORITHMS)
