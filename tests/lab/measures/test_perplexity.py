"""Perplexity of pieces side by side."""

import math

import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.perplexity import Perplexity
from gnomon.lab.tasks.copy import Copy
from tests.helpers.lab_measured import Count, fresh, undecided


def test_the_perplexity_of_a_model_that_cannot_decide_is_the_size_of_its_vocabulary() -> None:
    series = Perplexity([4, 12], total=24).take(undecided(fresh(task=Count(11))), Context(0))
    assert series.at == (4, 12)
    assert series.values == pytest.approx((11, 11))


def test_it_is_the_exponential_of_the_mean_loss_of_all_tokens() -> None:
    trained = fresh("rotary", seed=1)
    logs = []
    for start in range(0, 30, 6):
        ids = [(start + i) % 7 for i in range(7)]
        logits = trained.model(torch.tensor([ids[:6]]))[0].double().tolist()
        for row, label in zip(logits, ids[1:], strict=True):
            logs.append(math.log(sum(math.exp(number) for number in row)) - row[label])
    expected = math.exp(sum(logs) / 30)
    assert Perplexity([6], total=30).take(trained, Context(0)).value(6) == pytest.approx(expected, rel=1e-5)


def test_lengths_that_would_score_other_tokens_are_refused() -> None:
    with pytest.raises(GnomonError, match="7 does not divide it"):
        Perplexity([6, 7], total=30)


def test_a_task_that_is_no_text_is_refused() -> None:
    with pytest.raises(GnomonError, match="perplexity needs a language task such as characters, got Copy"):
        Perplexity([4], total=8).take(fresh(task=Copy()), Context(0))


def test_a_length_beyond_the_table_has_no_number() -> None:
    series = Perplexity([4, 12], total=24).take(fresh("learned", max_length=8), Context(0))
    assert series.value(4) is not None
    assert series.value(12) is None
    assert "8 slots" in series.why
