"""Which rows, columns, marks and notes the tables of a study have."""

from dataclasses import replace

import numpy as np

from gnomon.report.lab.results import MeasureInfo, Result, Run, Series
from gnomon.report.lab.study import Ranking, Study
from gnomon.report.lab.tables import tables
from tests.helpers.made_up_study import made_up_study


def test_measures_that_are_one_number_share_a_table_and_each_other_has_its_own() -> None:
    names = [("loss", ()), ("match", (1.0, 2.0)), ("steps", ())]
    measured = {name: Series(tuple(at), tuple(0.5 for _ in at or (0,))) for name, at in names}
    study = Study(
        "copy", "", "", "", "quick", "",
        measures=tuple(MeasureInfo(name, name, axis="length" if at else "") for name, at in names),
        results=(Result(Run("train", "g", "v", 0), {"v": measured}, 1.0),),
    )  # fmt: skip
    assert [(t.title, [c.label for c in t.columns]) for t in tables(study)] == [
        ("g", ["loss", "steps"]),
        ("g: match by length", ["1", "2"]),
    ]


def test_a_long_axis_is_shown_at_eight_places_with_both_ends() -> None:
    places = tuple(float(n) for n in range(512))
    series = Series(places, tuple(float(x) for x in np.linspace(3, 2, 512)))
    study = Study(
        "copy", "", "", "", "quick", "",
        measures=(MeasureInfo("loss", "loss", axis="position"),),
        results=(Result(Run("train", "g", "v", 0), {"v": {"loss": series}}, 1.0),),
    )  # fmt: skip
    [table] = tables(study)
    assert [column.at for column in table.columns] == [0, 73, 146, 219, 292, 365, 438, 511]
    assert "504 more places are in the CSV and JSON forms." in table.notes


def test_the_best_is_not_marked_where_no_difference_to_any_other_is_seen() -> None:
    study = made_up_study()
    assert [cells[0].best for _, cells in tables(study)[0].rows] == [True, True, False]
    tied = Ranking("copy", "loss", None, ("rotary", "alibi"), (1.1, 1.2), (("rotary", "alibi"),), 3)
    [first, *_] = tables(replace(study, rankings=(tied,)))
    assert not any(cells[0].best for _, cells in first.rows)


def test_a_number_that_some_seeds_lack_has_its_reason_with_those_seeds() -> None:
    study = made_up_study()
    [first, *others] = study.results
    lost = Result(first.run, {"alibi": {**first.measured["alibi"], "loss": Series.number(None, "it diverged")}}, 1.0)
    [losses, _] = tables(replace(study, results=(lost, *others)))
    assert "alibi has no number at test loss (nats) with seed 0: it diverged." in losses.notes


def test_every_missing_number_has_its_reason() -> None:
    [_, matches] = tables(made_up_study())
    assert "learned has no number at 32, 64: the table ends at 34 slots." in matches.notes
