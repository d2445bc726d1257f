"""A suite that asks nothing: two variants, told apart by their options."""

from collections.abc import Sequence

from gnomon.lab.suites.base import Pair, Size, Suite
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import Run
from gnomon.report.lab.study import Judgement


class Made(Suite):
    name = title = question = expectation = "made"
    sources = ()

    def method(self, size: Size) -> str:
        return "none"

    def runs(self, size: Size, seeds: Sequence[int]) -> list[Run]:
        return [Run("train", "copy", name, seed, {"size": size, "name": name}) for seed in seeds for name in "ab"]

    def pairs(self, size: Size) -> list[Pair]:
        return []

    def judge(self, evidence: Evidence, size: Size) -> list[Judgement]:
        return []
