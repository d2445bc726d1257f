"""What XLNet's second stream does, by its own property and by training with and without."""

from collections.abc import Sequence
from typing import Final, final

from gnomon.lab.judging import AtLeast, AtMost, Expectation
from gnomon.lab.suites.base import Pair, Size, Suite, registry
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import Run
from gnomon.report.lab.study import Judgement

PROOF = "Yang et al. 2019 (XLNet), arXiv:1906.08237, appendix A.1"
UNTRAINED, TRAINED = "untrained network", "trained network"
WITH, WITHOUT = "query with its place", "query without it"
TOLD: Final = {WITH: "place", WITHOUT: "nothing"}
STEPS: Final = {"quick": 400, "full": 2000}


@registry.register("two-stream")
@final
class TwoStream(Suite):
    """No published table isolates two-stream attention, so the effect here is that of this small task alone."""

    name = "two-stream"
    title = "Two-stream attention"
    question = "What does the query stream of XLNet, which knows where its target stands but not what it is, do?"
    expectation = (
        "Without it two targets with the same tokens before them get the same prediction, which is proven (XLNet, "
        "appendix A.1); so a permutation language model without it should do worse. How much is not published: no "
        "row of XLNet's ablations takes out the two streams alone, and gains over BERT on benchmarks, which have many "
        "causes, are not measured here."
    )
    sources = (PROOF,)

    def method(self, size: Size) -> str:
        return (
            f"A two-layer XLNet of width 64 learns by permutation language modeling for {STEPS[size]} steps: rows of "
            f"20 to 24 letters repeat a random pattern of six. In one variant each query stands at its target, in the "
            f"other all queries stand at the start; all else is equal. Measured are the loss in nats for each letter "
            f"to predict, and how far apart the predictions for two targets with one prefix are, before and after."
        )

    def runs(self, size: Size, seeds: Sequence[int]) -> list[Run]:
        steps = STEPS[size]
        trained = [
            Run("permutation_lm", TRAINED, name, seed, {"told": told, "steps": steps, "every": steps // 8})
            for seed in seeds
            for name, told in TOLD.items()
        ]
        untrained = [
            Run("same_prefix", UNTRAINED, name, seed, {"told": told}) for seed in seeds for name, told in TOLD.items()
        ]
        return [*trained, *untrained]

    def pairs(self, size: Size) -> list[Pair]:
        return [Pair(TRAINED, "permutation_loss", STEPS[size], WITH, WITHOUT)]

    def judge(self, evidence: Evidence, size: Size) -> list[Judgement]:
        losses = [evidence.by_seed(TRAINED, name, "permutation_loss", STEPS[size]) for name in (WITH, WITHOUT)]
        gap = {seed: losses[1][seed] - losses[0][seed] for seed in losses[0].keys() & losses[1].keys()}
        own = "this suite: about half of what was seen when it was made"
        return [
            *_property(evidence, UNTRAINED, least=1e-4),
            *_property(evidence, TRAINED, least=0.1),
            Expectation("A query that knows its place predicts better.", PROOF).lower(evidence, self.pairs(size)[0]),
            Expectation("The difference is large where a target's place tells where its letter stands.", own).bounded(
                "loss without the place less the loss with it", gap, AtLeast(0.8)
            ),
            Expectation("Without its place a query still learns from the letters that it sees.", own).bounded(
                "loss without the place, where guessing costs 2.48", losses[1], AtMost(2.2)
            ),
        ]


def _property(evidence: Evidence, group: str, *, least: float) -> list[Judgement]:
    """The proof in numbers: equal to rounding without the place, and apart with it."""
    what = f"distance of the two predictions, {group}"
    same, apart = (evidence.by_seed(group, name, "same_prefix") for name in (WITHOUT, WITH))
    return [
        Expectation(f"Without its place in the query, two targets get one prediction ({group}).", PROOF).bounded(
            what, same, AtMost(1e-6)
        ),
        Expectation(f"With its place in the query, each target gets its own prediction ({group}).", PROOF).bounded(
            what, apart, AtLeast(least)
        ),
    ]
