"""PE326: a bare position module is called, and its numbers are held against the formula."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gnomon.doctor import diagnose
from tests.helpers.components import AddsRows, AlibiBias, PositionalEncoding, RotaryEmbedding, library_modules
from tests.helpers.subjects import value
from tests.helpers.toys import Toy, examine, llama


class Flipped(AlibiBias):
    def distances(self, length: int) -> Tensor:
        return -super().distances(length)


class FromEight(AlibiBias):
    """2^-8, 2^-9, ...: a plausible misreading."""

    def slopes(self) -> Tensor:
        return 2.0 ** (-8.0 - torch.arange(self.num_heads))


class ByThePlace(AlibiBias):
    def distances(self, length: int) -> Tensor:
        return super().distances(length) * torch.arange(length)[:, None]


class WrongBase(RotaryEmbedding):
    def frequencies(self) -> Tensor:
        return 500.0 ** (-torch.arange(0, self.dim, 2) / self.dim)


class RoundedAngles(RotaryEmbedding):
    def angles(self, length: int) -> Tensor:
        return super().angles(length).bfloat16().float()


class Still(RotaryEmbedding):
    def angles(self, length: int) -> Tensor:
        return super().angles(length) * 0 + 1


TWICE = torch.randn(50, 16).repeat(2, 1)

FAULTS: dict[str, tuple[Callable[[], nn.Module], str, str]] = {
    "along the batch": (
        lambda: PositionalEncoding(axis=0, batch_first=True),
        "batch_first is True, but positions run along dimension 0",
        r"pe[:, : x.size(1)]",
    ),
    "along the sequence of batch-first data": (
        lambda: PositionalEncoding(batch_first=False),
        "batch_first is False, but positions run along dimension 1",
        "pe[: x.size(0)]",
    ),
    "one vector": (lambda: AddsRows(torch.ones(100, 16)), "every position gets the same vector", "row i of the table"),
    "nothing": (lambda: AddsRows(torch.zeros(100, 16)), "nothing is added", "row i of the table"),
    "rows twice": (lambda: AddsRows(TWICE), "positions 0 and 50 get the same vector", "its own row"),
    "another base": (lambda: PositionalEncoding(base=300.0), "base 300, not 10000", "base 10000"),
    "from one": (lambda: PositionalEncoding(start=1), "row 0 holds position 1", "start counting positions at 0"),
    "rotary base": (
        WrongBase,
        "states base 10000, and its frequencies have base 500",
        "10000 ** (-arange(0, d, 2) / d)",
    ),
    "rounded": (RoundedAngles, "angles do not grow evenly", "in float32"),
    "still": (Still, "nothing turns", "angle = position * frequency"),
    "rotary from one": (lambda: RotaryEmbedding(start=1), "position 0 is turned as position 1", "start counting at 0"),
    "flipped": (Flipped, "the bias grows with distance", "subtract slope times distance"),
    "slopes": (FromEight, "slopes 0.003906, 0.001953, 0.0009766, ... are not", "0.25, 0.0625, 0.01562"),
    "by the place": (ByThePlace, "equal distances get biases that differ", "query position - key position"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_departure_is_found_with_the_right_value(name: str) -> None:
    build, said, fix = FAULTS[name]
    found = examine("PE326", build()).findings
    assert any(said in f.message and fix in f.fix for f in found), [(f.message, f.fix) for f in found]


RIGHT: dict[str, Callable[[], Any]] = {
    "batch-first": lambda: PositionalEncoding(batch_first=True),
    "sequence-first": lambda: PositionalEncoding(axis=0, batch_first=False),
    "sequence-first, nothing said": lambda: PositionalEncoding(axis=0),
    "rotary": RotaryEmbedding,
    "rotary, interleaved": lambda: RotaryEmbedding(interleaved=True),
    "alibi": AlibiBias,
    "alibi, six heads short": lambda: AlibiBias(8),
    "llama's": lambda: llama().model.rotary_emb,
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_modules_pass(name: str) -> None:
    result = examine("PE326", RIGHT[name]())
    assert result.status == "passed", (result.detail, result.findings)


def test_modules_of_libraries_pass() -> None:
    for name, module in library_modules().items():
        result = examine("PE326", module)
        assert result.status == "passed", (name, result.detail, result.findings)


def test_what_was_found_and_how_it_was_called_is_said() -> None:
    assert value(examine("PE326", PositionalEncoding(axis=0)), "axis along which positions run") == "0 (sequence-first)"
    rotary = examine("PE326", RotaryEmbedding(interleaved=True))
    assert value(rotary, "what the module gives") == "rotation"
    assert value(rotary, "base of the frequencies") == pytest.approx(10_000, rel=1e-3)
    assert rotary.measured[0].why == "called as forward(q, k)"


def test_a_whole_report_on_a_bare_module_is_made() -> None:
    report = diagnose(RotaryEmbedding())
    assert [e.kind for e in report.encodings] == ["rotary"]
    assert {c.code: c.findings for c in report.checks if c.status == "failed"} == {}
    assert diagnose(AlibiBias()).encodings[0].options == {"called as": "forward(length)"}


@pytest.mark.parametrize("model", [Toy, lambda: nn.Linear(4, 4), lambda: nn.Embedding(9, 4)])
def test_models_and_other_modules_are_not_judged(model: Callable[[], nn.Module]) -> None:
    assert examine("PE326", model()).status == "not-applicable"
