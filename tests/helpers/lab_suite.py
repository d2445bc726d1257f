"""A suite of runs that take a second; `python -m tests.helpers.lab_suite` is the gnomon command with it."""

from collections.abc import Sequence
from typing import final

from gnomon.lab.suites import Size, Suite, registry
from gnomon.lab.suites.base import Pair
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import Run
from gnomon.report.lab.study import Judgement
from tests.helpers.lab_runs import LONG, tiny


@final
class Tiny(Suite):
    """Two encodings; the quick form trains for five steps, the full one long enough to be killed in the middle."""

    name = "tiny"
    title = "A tiny suite"
    question = "Does a tiny suite do what a suite should do?"
    expectation = "It does."
    sources = ("nobody 2026",)

    def method(self, size: Size) -> str:
        return "Two encodings are trained on copying."

    def runs(self, size: Size, seeds: Sequence[int]) -> list[Run]:
        if size == "full":
            return [tiny("rotary", seed, **LONG) for seed in seeds]
        return [tiny(variant, seed) for variant in ("rotary", "alibi") for seed in seeds]

    def pairs(self, size: Size) -> list[Pair]:
        return [
            Pair("copy", "training_loss", None, "rotary", "alibi"),
            Pair("copy", "training_loss", None, "t5", "alibi"),
        ]

    def judge(self, evidence: Evidence, size: Size) -> list[Judgement]:
        loss = evidence.mean("copy", "rotary", "training_loss")
        return [Judgement("It measures.", "nobody 2026", "not measured" if loss is None else "holds", f"loss {loss}")]


if __name__ == "__main__":
    registry.register("tiny")(Tiny)
    from gnomon.cli import main

    main()
