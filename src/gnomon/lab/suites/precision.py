"""Which number format which part of a position encoding can bear."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, final

from gnomon.lab.judging import AtLeast, AtMost, Expectation
from gnomon.lab.suites.base import Pair, Size, Suite, registry
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import Run
from gnomon.report.lab.study import Judgement

WANG = "Wang et al. 2024, arXiv:2411.13476"
FORMATS = "the formats: bfloat16 has 8 significant bits, float16 has 11, float32 has 24"
IDS, SINES, LOGITS = "positions as numbers", "tables of sines", "rotary logits"
ALL_BFLOAT16, ROUNDED = "all bfloat16", "bfloat16 q and k"
SINGLE, SINGLE_PRODUCT = "float32", "float32, plain angles"
TABLES: Final = {  # variant: how angles are computed, and what their sines are stored in
    "gnomon": ("reduced", "float32"),
    "float32 angles": ("float32", "float32"),
    "bfloat16 angles": ("bfloat16", "bfloat16"),
    "float16 angles": ("float16", "float16"),
    "finished bfloat16 table": ("reduced", "bfloat16"),
    "finished float16 table": ("reduced", "float16"),
}
ROTATIONS: Final = {  # variant: how angles are computed, and what queries and keys are rotated in
    "float64": ("reduced", "float64"),
    SINGLE: ("reduced", "float32"),
    SINGLE_PRODUCT: ("float32", "float32"),
    ROUNDED: ("reduced", "bfloat16"),
    ALL_BFLOAT16: ("bfloat16", "bfloat16"),
}
COUNTS = [256, 512, 1024, 2048, 4096, 8192, 32768, 131072]
POSITIONS = {
    "quick": [100, 1000, 2000, 20_000, 131_072, 1_000_000, 10_000_000],
    "full": sorted({each * 10**power for power in range(2, 7) for each in range(1, 10)} | {131_072, 10_000_000}),
}
SHIFTS = {
    "quick": [16, 300, 1024, 5000, 20_000, 100_000],
    "full": [1, 4, 16, 64, 300, 1024, 2048, 5000, 10_000, 20_000, 50_000, 100_000, 300_000, 1_000_000],
}


@registry.register("precision")
@final
class Precision(Suite):
    """Arithmetic alone: nothing is trained, and it takes seconds."""

    name = "precision"
    title = "Positions in half precision"
    question = "Which part of a position encoding can bear bfloat16 or float16: ids, angles, finished tables, rotation?"
    expectation = (
        "Ids and angles cannot bear it, a finished table can; rotated queries and keys in bfloat16 are no longer "
        "relative to the last digits (Wang et al. 2024). float32 angles hold to some ten thousand positions; reduced "
        "in float64 they hold anywhere."
    )
    sources = (WANG,)

    def method(self, size: Size) -> str:
        return (
            f"Counts how many of up to {max(COUNTS):,} ids a format keeps apart; compares sines of 64 bands with "
            f"float64 at positions to {max(POSITIONS[size]):,}; shifts rotary logits of drawn queries and keys (width "
            f"128) by up to {max(SHIFTS[size]):,}. Ids and sines are the same for every seed, so they are computed "
            f"once; each seed draws other queries and keys."
        )

    def runs(self, size: Size, seeds: Sequence[int]) -> list[Run]:
        once, at = seeds[0], POSITIONS[size]
        formats = ("int64", "float32", "float16", "bfloat16")
        ids = [Run("distinct_positions", IDS, name, once, {"format": name, "at": COUNTS}) for name in formats]
        sines = [
            Run("sine_error", SINES, name, once, {"angles": angles, "stored": stored, "at": at})
            for name, (angles, stored) in TABLES.items()
        ]
        return [*ids, *sines, *(self._shifted(name, seed, size) for seed in seeds for name in ROTATIONS)]

    def pairs(self, size: Size) -> list[Pair]:
        return [
            Pair(LOGITS, "logit_shift", 1024, ROUNDED, SINGLE),
            Pair(LOGITS, "logit_shift", 5000, ALL_BFLOAT16, ROUNDED),
            Pair(LOGITS, "logit_shift", 100_000, SINGLE_PRODUCT, SINGLE),
        ]

    def judge(self, evidence: Evidence, size: Size) -> list[Judgement]:
        return [*_ids(evidence), *_sines(evidence), *_logits(evidence)]

    def _shifted(self, name: str, seed: int, size: Size) -> Run:
        angles, vectors = ROTATIONS[name]
        options: dict[str, Any] = {"angles": angles, "vectors": vectors, "at": SHIFTS[size]}
        return Run("logit_shift", LOGITS, name, seed, options)


def _ids(evidence: Evidence) -> list[Judgement]:
    def kept(name: str, of: int) -> dict[int, float]:
        return {seed: count / of for seed, count in evidence.by_seed(IDS, name, "distinct_positions", of).items()}

    return [
        # Exact to 256, and then 128 numbers to each power of two.
        Expectation("bfloat16 keeps 641 of the first 2,048 positions apart.", FORMATS).bounded(
            "share that bfloat16 keeps apart", kept("bfloat16", 2048), AtMost((257 + 3 * 128) / 2048)
        ),
        Expectation("float16 keeps the first 2,048 positions apart.", FORMATS).bounded(
            "share that float16 keeps apart", kept("float16", 2048), AtLeast(1)
        ),
        # Exact to 2,048, and then 1,024 numbers to each power of two.
        Expectation("float16 loses every second position above 2,048.", FORMATS).bounded(
            "share of 4,096 that float16 keeps apart", kept("float16", 4096), AtMost((2049 + 1024) / 4096)
        ),
        Expectation("float32 keeps 131,072 positions apart.", FORMATS).bounded(
            "share that float32 keeps apart", kept("float32", 131_072), AtLeast(1)
        ),
    ]


def _sines(evidence: Evidence) -> list[Judgement]:
    def error(name: str, at: int) -> dict[int, float]:
        return evidence.by_seed(SINES, name, "sine_error", at)

    half = "the product of an id and a frequency is rounded to the format before its sine is taken"
    return [
        Expectation("float32 angles are good to 0.002 at position 20,000.", FORMATS).bounded(
            "error of the sine at 20,000", error("float32 angles", 20_000), AtMost(2e-3)
        ),
        Expectation("float32 angles are worthless at position 10,000,000.", FORMATS).bounded(
            "error of the sine at 10,000,000", error("float32 angles", 10_000_000), AtLeast(0.1)
        ),
        Expectation("Angles reduced in float64 are good at every position.", "gnomon's own rule").bounded(
            "largest error of the sine", _over(evidence, SINES, ["gnomon"], "sine_error", max), AtMost(1e-6)
        ),
        Expectation("bfloat16 angles are worthless at position 1,000.", half).bounded(
            "error of the sine at 1,000", error("bfloat16 angles", 1000), AtLeast(0.5)
        ),
        Expectation("float16 angles are worthless at position 2,000.", half).bounded(
            "error of the sine at 2,000", error("float16 angles", 2000), AtLeast(0.5)
        ),
        Expectation("A finished table may be stored in half precision.", "rounding of a number up to 1").bounded(
            "largest error of the sine in either format",
            _over(evidence, SINES, [name for name in TABLES if name.startswith("finished")], "sine_error", max),
            AtMost(4e-3),
        ),
    ]


def _logits(evidence: Evidence) -> list[Judgement]:
    def change(name: str, pick: Callable[[Iterable[float]], float]) -> dict[int, float]:
        return _over(evidence, LOGITS, [name], "logit_shift", pick)

    lost = Expectation("A shift changes rotary logits of bfloat16 queries and keys, whatever the shift.", WANG)
    small = Expectation("Rounding queries and keys alone changes a logit by little.", "half of the last bit kept")
    return [
        Expectation("A shift does not change rotary logits in float32.", "Su et al. 2021, arXiv:2104.09864").bounded(
            "largest change of a logit", change(SINGLE, max), AtMost(1e-5)
        ),
        lost.bounded("change of a logit at the shift where it is least", change(ROUNDED, min), AtLeast(1e-3)),
        small.bounded("largest change of a logit", change(ROUNDED, max), AtMost(0.05)),
        Expectation("Angles in bfloat16 do more harm than rounding after the rotation.", FORMATS).higher(
            evidence, Pair(LOGITS, "logit_shift", 5000, ALL_BFLOAT16, ROUNDED)
        ),
        Expectation("With angles in bfloat16 as well, a shift by 5,000 changes logits by 1 or more.", FORMATS).bounded(
            "largest change of a logit", evidence.by_seed(LOGITS, ALL_BFLOAT16, "logit_shift", 5000), AtLeast(1.0)
        ),
    ]


def _over(
    evidence: Evidence, group: str, names: Sequence[str], measure: str, pick: Callable[[Iterable[float]], float]
) -> dict[int, float]:
    """The largest or the least number over all places of all variants named, for each seed."""
    found: dict[int, list[float]] = {}
    for name in names:
        for seed, series in evidence.series(group, name, measure).items():
            found.setdefault(seed, []).extend(value for value in series.values if value is not None)
    return {seed: pick(numbers) for seed, numbers in found.items() if numbers}
