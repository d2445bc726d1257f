"""Evidence and a study from numbers that are written down, for what reads results: statistics, judgements, reports."""

from collections.abc import Mapping, Sequence

import numpy as np

from gnomon.plots.figure import Curve, Lines
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import MeasureInfo, Result, Run, Series
from gnomon.report.lab.study import Comparison, Failure, Judgement, Ranking, Study

Numbers = Mapping[str, Sequence[float | None]]  #: by variant, one for each seed; None: the seed was not measured

LOSS = MeasureInfo("loss", "test loss", "nats", "", "lower")
MATCH = MeasureInfo("exact_match", "exact match", "share", "length", "higher")
COMMAND = "gnomon lab extrapolation --quick --seeds 3"


def single(measure: str, numbers: Numbers, group: str = "copy") -> list[Result]:
    """Results of a measure that is one number."""
    return [
        Result(Run("train", group, variant, seed), {variant: {measure: Series.number(value)}}, seconds=1.0)
        for variant, values in numbers.items()
        for seed, value in enumerate(values)
        if value is not None
    ]


def evidence(measures: Mapping[str, Numbers], group: str = "copy") -> Evidence:
    """Evidence of measures that are one number each: {measure: {variant: one number for each seed}}."""
    return Evidence([result for measure, numbers in measures.items() for result in single(measure, numbers, group)])


def made_up_study(word: str = "") -> Study:
    """A study with everything that a study can hold; `word` stands wherever a name or a sentence can."""
    group, a, b, table = f"copy{word}", f"alibi{word}", f"rotary{word}", f"learned{word}"
    results = [
        _result(group, variant, seed, loss + 0.01 * seed, matches, word)
        for variant, loss, matches in (
            (a, 1.25, (0.99, 0.97, 0.91)),
            (b, 1.125, (1.0, 0.5, 0.0625)),
            (table, 1.5, (0.98, None, None)),
        )
        for seed in range(3)
    ]
    failed = Failure(
        Run("train", group, f"sandwich{word}", 0, {"steps": 9}), f"The loss was not finite at step 7.{word}"
    )
    judgements = (
        Judgement(
            f"ALiBi holds at four times the trained length.{word}",
            f"Press et al. 2022, arXiv:2108.12409{word}",
            "holds",
            f"exact match 0.91 at length 64, {0.98:g} of that at 16{word}",
            {f"ratio{word}": 0.98},
        ),
        Judgement(f"Plain rotary holds.{word}", f"an article{word}", "fails", f"0.0625 at length 64{word}"),
        Judgement("The losses differ.", "no source", "no difference seen", f"1.26 and 1.135{word}"),
        Judgement("A table can be enlarged.", "no source", "not measured", f"no run enlarged one{word}"),
    )
    return Study(
        suite="extrapolation",
        title=f"Train short, test long{word}",
        question=f"Which encodings work at lengths that were not trained?{word}",
        method=f"Two layers of width 64 learn to copy 16 symbols in 400 steps.{word}",
        size="quick",
        command=COMMAND + word,
        sources=(f"Press et al. 2022, arXiv:2108.12409{word}", "Kazemnejad et al. 2023, arXiv:2305.19466"),
        measures=(LOSS, MATCH),
        results=tuple(results),
        failures=(failed,),
        comparisons=(
            Comparison(group, "loss", None, a, b, 3, 0.125, 0.1, 0.15),
            Comparison(group, "exact_match", 64.0, a, b, 3, 0.8475, -0.2, 1.9),
            Comparison(group, "exact_match", 16.0, a, table, 1, 0.01, None, None),
        ),
        rankings=(Ranking(group, "loss", None, (b, a, table), (1.135, 1.26, 1.51), ((b, a),), 3),),
        judgements=judgements,
        figures=(_figure(group, (a, b)),),
        environment={"gnomon": "0.1.0", "torch": "2.13.0", "device": f"cpu{word}", "threads": "1"},
        seconds=81.5,
    )


def _result(group: str, variant: str, seed: int, loss: float, matches: tuple[float | None, ...], word: str) -> Result:
    run = Run("train", group, variant, seed, {"task": {"task": "copy"}, "steps": 400, "words": f"{variant}{word}"})
    why = f"the table ends at 34 slots{word}" if None in matches else ""
    measured = {"loss": Series.number(loss), "exact_match": Series((16.0, 32.0, 64.0), matches, why)}
    return Result(run, {variant: measured}, 2.5 + seed, {"device": "cpu"}, {"austen": "0f3a"}, (f"a note{word}",))


def _figure(group: str, variants: tuple[str, ...]) -> Lines:
    x = np.array([16.0, 32.0, 64.0])
    means = [np.array(values) for values in ((0.99, 0.97, 0.91), (1.0, 0.5, 0.0625))]
    curves = tuple(
        Curve(variant, x, y, y - 0.06, np.minimum(y + 0.05, 1.0)) for variant, y in zip(variants, means, strict=True)
    )
    return Lines(
        f"exact match: {group}", curves, "length", "exact match (share)", log_x=True, note="3 seeds.", x_ticks=tuple(x)
    )
