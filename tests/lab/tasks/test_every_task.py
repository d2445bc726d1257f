"""What holds for every task, and that every generated one can be trained and measured."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from gnomon.lab.experiments import Context, build_experiment
from gnomon.lab.tasks import build_task, registry

#: The generated tasks, with options for a tiny run, and two lengths.
GENERATED: dict[str, tuple[dict[str, Any], tuple[int, int]]] = {
    "addition": ({}, (1, 2)),
    "associative_recall": ({"keys": 5}, (2, 3)),
    "copy": ({"symbols": 5}, (2, 3)),
    "duplicate_key_recall": ({"keys": 5}, (2, 3)),
    "fixed_offset": ({}, (4, 5)),
    "flip_flop": ({}, (3, 4)),
    "parity": ({}, (3, 4)),
    "passkey": ({"digits": 2}, (8, 9)),
    "previous_token": ({}, (4, 5)),
    "reverse": ({"symbols": 2, "unique": False, "form": "slots"}, (3, 4)),
    "sort": ({"symbols": 5}, (2, 3)),
}


def test_every_task_has_a_test_file_and_a_source() -> None:
    names = registry.names()
    assert set(GENERATED) <= set(names)
    for name, cls in registry:
        assert (Path(__file__).parent / f"test_{name}.py").is_file(), name
        module = inspect.getmodule(cls)
        assert module is not None
        assert name not in GENERATED or re.search(r"\b20\d\d, arXiv:\d{4}\.\d{5}", module.__doc__ or ""), name
        assert ">>>" in (cls.__doc__ or ""), name


@pytest.mark.parametrize("name", sorted(GENERATED))
def test_generated_tasks_need_no_data_and_no_options(name: str) -> None:
    assert not build_task(name, {}).data


@pytest.mark.parametrize("name", sorted(GENERATED))
def test_generated_tasks_are_trained_and_measured(name: str) -> None:
    options, (short, long) = GENERATED[name]
    experiment = build_experiment(
        "train",
        {
            "task": {"task": name, **options},
            "lengths": [short, short],
            "model": {"dim": 16, "num_layers": 1, "num_heads": 2, "sight": build_task(name, options).sights[0]},
            "training": {"steps": 2, "batch_size": 4},
            "measures": [{"measure": "exact_match", "lengths": [short, long], "rows": 8}],
        },
    )
    series = experiment.run(Context(0)).measured[""]["exact_match"]
    assert series.at == (short, long)
    assert all(value is not None and 0 <= value <= 1 for value in series.values)


@pytest.mark.parametrize("name", sorted(GENERATED))
def test_rows_of_training_and_of_a_test_differ(name: str) -> None:
    options, (_, length) = GENERATED[name]
    task, context = build_task(name, options), Context(0)
    trained = task.batch("train", length, 32, context.generator("step", 0))
    tested = task.batch("test", length, 32, context.generator("measure", "exact_match", length))
    assert not trained.ids.equal(tested.ids)
    assert trained.ids.equal(task.batch("train", length, 32, Context(0).generator("step", 0)).ids)
