"""What every registered measure keeps to, and every file of measures."""

import ast
import copy
import dataclasses
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
import torch

import gnomon.lab.measures
from gnomon.lab.experiments.context import Context
from gnomon.lab.measures import build_measure, registry
from gnomon.lab.measures.reading import probes
from gnomon.lab.training.history import History
from gnomon.report.lab.results import Series
from tests.helpers.lab_measured import fresh

SOURCES = Path(gnomon.lab.measures.__file__).parent
TESTS = Path(__file__).parent
NOT_MEASURES = {"__init__", "base"}
FILES = sorted(file.stem for file in SOURCES.glob("*.py") if file.stem not in NOT_MEASURES)
OPTIONS: dict[str, dict[str, Any]] = {
    "exact_match": {"lengths": [3, 5], "rows": 4, "decoding": "greedy"},
    "token_accuracy": {"lengths": [3, 5], "rows": 4, "decoding": "greedy"},
    "span_f1": {"lengths": [3, 5], "rows": 4},
    "perplexity": {"lengths": [3, 6], "total": 18},
    "last_k_perplexity": {"lengths": [4, 7], "last": 2, "rows": 3},
    "effective_context": {"lengths": [4, 7], "last": 2, "rows": 3},
    "loss_by_position": {"length": 7, "bucket": 3, "rows": 4},
    "steps_to_target": {"target": 1.5, "window": 2},
    "gradient_spread": {"skip": 1},
    "shift_invariance": {"shifts": [2, 5], "length": 6, "rows": 2},
    "attention_distance": {"length": 6, "rows": 2},
    **{name: {"length": 5, "rows": 4} for name in ("position_recovery_linear", "position_recovery_mlp")},
    **{name: {"length": 5, "words": 2} for name in ("toeplitz", "identical_word", "monotonicity", "symmetry")},
    **{name: {"lengths": [3, 5], "repeats": 1} for name in ("speed", "training_speed")},
    "loss_curve": {"window": 2},
    "memory": {"lengths": [3, 5]},
}
TIMED = {"speed", "training_speed"}


@pytest.fixture(autouse=True)
def _short_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "STEPS", 3)


@pytest.mark.parametrize("name", registry.names())
def test_it_changes_neither_the_model_nor_torch_and_gives_the_same_twice(name: str) -> None:
    measure = build_measure(json.loads(json.dumps({"measure": name, **OPTIONS.get(name, {})})))
    trained = fresh("sinusoidal", sight="causal", history=History([3.0, 2.0, 1.0], [1.0, 2.0, 3.0]))
    trained.model.train()
    weights, noise = copy.deepcopy(trained.model.state_dict()), torch.get_rng_state()
    series = measure.take(trained, Context(1))
    assert all(torch.equal(before, after) for before, after in zip(weights.values(), _values(trained), strict=True))
    assert trained.model.training
    assert torch.is_grad_enabled()
    assert torch.equal(noise, torch.get_rng_state())
    assert all(parameter.grad is None for parameter in trained.model.parameters())
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in trained.model.modules())
    if name not in TIMED:
        first, again = (_numbers(each) for each in (series, measure.take(trained, Context(1))))
        assert again == pytest.approx(first, rel=1e-9, nan_ok=True)  # but for rounding in the last digit


def _values(trained: Any) -> list[torch.Tensor]:
    return list(trained.model.state_dict().values())


def _numbers(series: Series) -> list[float]:
    return [math.nan if value is None else value for value in series.values]


@pytest.mark.parametrize("name", registry.names())
def test_its_series_is_what_its_info_says(name: str) -> None:
    measure = build_measure({"measure": name, **OPTIONS.get(name, {})})
    series = measure.take(fresh("alibi", history=History([3.0, 2.0, 1.0], [1.0, 2.0, 3.0])), Context(0))
    assert bool(series.at) == bool(measure.info.axis) or series.values == (None,)
    assert len(series.values) == max(1, len(series.at))
    assert bool(series.why) == (None in series.values)
    json.dumps(series.to_dict(), allow_nan=False)


@pytest.mark.parametrize("name", registry.names())
def test_it_is_a_frozen_dataclass_whose_info_is_complete(name: str) -> None:
    cls = registry.get(name)
    info = cls.info
    assert dataclasses.is_dataclass(cls)
    assert cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert info.name == name
    assert info.title
    assert info.better in ("higher", "lower", None)


@pytest.mark.parametrize("file", FILES)
def test_its_file_registers_one_measure_names_a_source_and_has_a_test_file(file: str) -> None:
    text = (SOURCES / f"{file}.py").read_text(encoding="utf-8")
    module = f"gnomon.lab.measures.{file}"
    assert [name for name, cls in registry if cls.__module__ == module] in ([file], ["exact_match"])
    said = ast.get_docstring(ast.parse(text)) or ""
    assert re.search(r"arXiv:(\d{4}\.\d{5}|[a-z]+/\d{7})|ICLR", said), f"{file} names no source"
    assert (TESTS / f"test_{file}.py").exists()


def test_every_measure_has_a_file_here() -> None:
    assert len(FILES) == len(registry)
