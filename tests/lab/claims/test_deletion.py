"""Claim 3. Training is cut short here: what is checked is how numbers are taken."""

import math

import pytest
import torch

from gnomon.encodings import NoPE
from gnomon.lab.claims import deletion
from gnomon.lab.claims.deletion import BYTES, HIDDEN, LENGTH, guessing, hidden_bytes, perplexity, tagger
from gnomon.lab.claims.small import IGNORED
from gnomon.lab.data.corpus import Corpus
from tests.helpers.claims import measure, verdict


def test_a_seventh_of_the_bytes_is_hidden_and_is_what_is_asked() -> None:
    text = torch.arange(200, dtype=torch.uint8)
    ids, labels = hidden_bytes(text, rows=50)(torch.Generator().manual_seed(0))
    hidden = ids == HIDDEN
    assert hidden.float().mean() == pytest.approx(0.15, abs=0.02)
    assert torch.equal(labels != IGNORED, hidden)
    whole = torch.where(hidden, labels, ids)
    assert torch.equal(whole[:, 1:] - whole[:, :-1], torch.ones(50, LENGTH - 1, dtype=torch.int64))


def test_guessing_by_frequency_is_arithmetic() -> None:
    train = torch.tensor([1, 1, 1, 2], dtype=torch.uint8)
    rows = torch.tensor([[HIDDEN, 5, HIDDEN]]), torch.tensor([[1, IGNORED, 3]])
    total = 4 + BYTES
    expected = math.exp(-(math.log(4 / total) + math.log(1 / total)) / 2)
    assert guessing(Corpus("made up", train, train, BYTES, ""), rows) == pytest.approx(expected)


def test_a_model_that_knows_nothing_has_the_perplexity_of_all_bytes() -> None:
    model = tagger(NoPE())
    torch.nn.init.zeros_(model.head.weight)
    torch.nn.init.zeros_(model.head.bias)
    rows = torch.tensor([[HIDDEN, 5]]), torch.tensor([[7, IGNORED]])
    assert perplexity(model, rows) == pytest.approx(256)


def test_four_perplexities_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion, "STEPS", 3)
    numbers = measure(3)
    assert list(numbers) == ["with positions", "never had", "deleted", "frequencies alone"]
    assert min(numbers.values()) > 1
    assert numbers["frequencies alone"] < 256


def test_deletion_holds_fails_or_depends() -> None:
    rest: dict[str, float | tuple[float, ...]]
    rest = {"with positions": (7.0, 8.0), "never had": 21.0, "frequencies alone": 28.0}
    assert verdict(3, {**rest, "deleted": (60.0, 120.0)}) == "holds"
    assert verdict(3, {**rest, "deleted": (20.0, 25.0)}) == "depends"
    assert verdict(3, {**rest, "deleted": (8.0, 9.0)}) == "fails"
