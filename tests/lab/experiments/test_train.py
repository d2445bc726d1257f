"""The experiment `train`, from plain JSON values to series."""

import json

import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.lab.experiments import Context, build_experiment
from gnomon.lab.tasks.base import build_task
from gnomon.lab.training.options import Placing
from tests.helpers.lab_training import small_run


def test_a_run_is_plain_json_and_measures_under_its_own_variant() -> None:
    options = json.loads(json.dumps(small_run().__dict__))
    outcome = build_experiment("train", options).run(Context(seed=0))
    assert list(outcome.measured) == [""]
    assert outcome.measured[""]["exact_match"].at == (3, 5)
    assert outcome.data == {}


def test_training_learns() -> None:
    run = small_run(
        task={"task": "copy", "symbols": 5},
        lengths=[1, 3],
        model={"dim": 32, "num_layers": 2, "num_heads": 2, "encoding": {"encoding": "rotary"}},
        training={"steps": 250, "batch_size": 32},
        measures=[{"measure": "exact_match", "lengths": [2]}],
    )
    exact = run.run(Context(seed=0)).measured[""]["exact_match"].value(2)
    assert exact is not None
    assert exact > 0.5  # by chance: 1 / 20


@pytest.mark.parametrize(("placing", "rows"), [(Placing(), 2 * 5 + 2), (Placing("offset", 30), 30)])
def test_a_learned_table_holds_the_longest_trained_row_or_the_limit_of_the_placing(placing: Placing, rows: int) -> None:
    run = small_run(model={"dim": 16, "encoding": {"encoding": "learned"}})
    assert run.untrained(build_task("copy", {}), placing, Context(0)).max_length == rows


def test_lengths_past_a_table_are_not_measured_and_say_nothing_else() -> None:
    run = small_run(
        model={"dim": 16, "encoding": {"encoding": "learned"}},
        measures=[{"measure": "exact_match", "lengths": [5, 6], "rows": 4}],
    )
    series = run.run(Context(0)).measured[""]["exact_match"]
    assert series.values[0] is not None
    assert series.values[1] is None


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"measures": [{"measure": "exactness"}]}, "No measure is called 'exactness'"),
        ({"measures": [{"lengths": [3]}]}, "a dict with the key 'measure'"),
        ({"measures": [{"measure": "exact_match", "length": 3}]}, "no option length"),
        ({"task": {"task": "coppy"}}, "Did you mean 'copy'"),
        ({"task": {"task": "copy", "letters": 3}}, "no option letters"),
        ({"lengths": [3, 99]}, "length 1 to 9, got"),
    ],
)
def test_what_cannot_be_done_is_refused(changed: dict[str, object], words: str) -> None:
    with pytest.raises(GnomonError, match=words):
        small_run(**changed).run(Context(0))


def test_generators_depend_on_what_they_are_for() -> None:
    context = Context(seed=7)
    drawn = [torch.rand(3, generator=context.generator(*use)).tolist() for use in (("a", 1), ("a", 2), ("b", 1))]
    assert len({tuple(each) for each in drawn}) == 3
    assert drawn[0] == torch.rand(3, generator=Context(seed=7).generator("a", 1)).tolist()
    assert drawn[0] != torch.rand(3, generator=Context(seed=8).generator("a", 1)).tolist()
