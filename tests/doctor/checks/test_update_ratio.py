"""PE507: how far one step of the optimizer moves positions, beside the words."""

from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import SGD, AdamW, Optimizer

from gnomon.adapters import load_subject
from gnomon.adapters.subject import MissingEvidence
from gnomon.doctor.evidence.stepping import training_step
from tests.helpers.gallery_training import BiasedByHeart
from tests.helpers.toys import Toy, examine, only_finding


def with_rate(rate: float) -> Any:
    def build(module: nn.Module) -> Optimizer:
        rest = [p for name, p in module.named_parameters() if name != "positions.weight"]
        table = dict(module.named_parameters())["positions.weight"]
        groups: list[dict[str, Any]] = [{"params": rest}, {"params": [table], "lr": rate}]
        return AdamW(groups, lr=1e-3, weight_decay=0.0)

    return build


@pytest.mark.parametrize(("rate", "word"), [(3e-7, "stay where they are"), (10.0, "thrown about")])
def test_a_rate_of_its_own_that_is_far_off_is_found(rate: float, word: str) -> None:
    result = examine("PE507", Toy(), optimizer=with_rate(rate))
    finding = only_finding(result)
    assert (result.severity, finding.where) == ("warning", "positions.weight")
    assert word in finding.message
    assert finding.measured["relative"] == pytest.approx(rate / 1e-3, rel=0.2)  # Adam's first step is its rate


def test_one_rate_for_all_passes_near_one() -> None:
    result = examine("PE507", Toy(), optimizer=with_rate(1e-3))
    assert result.status == "passed"
    assert result.measured[0].value == pytest.approx(1.0, rel=0.1)


def test_a_table_drawn_as_zeros_is_not_thrown_about() -> None:
    model = Toy()
    nn.init.zeros_(model.positions.weight)
    assert examine("PE507", model, optimizer=with_rate(1e-3)).status == "passed"


def test_the_update_of_plain_gradient_descent_is_the_rate_times_the_gradient() -> None:
    subject = load_subject(Toy()).with_evidence(optimizer=lambda m: SGD(m.parameters(), lr=0.5))
    [moved] = training_step(subject).positions
    model = subject.module
    reading = torch.randn(2, 12, 32, generator=torch.Generator().manual_seed(4))
    (model.train()(**subject.example) * reading).mean().backward()
    gradient = dict(model.named_parameters())["positions.weight"].grad
    assert gradient is not None
    assert moved.change == pytest.approx(0.5 * float(gradient[:12].double().square().mean().sqrt()), rel=1e-4)
    assert moved.rows == 12


def test_nothing_of_the_callers_is_moved() -> None:
    model = Toy()
    optimizer = AdamW(model.parameters())
    before = {name: value.clone() for name, value in model.state_dict().items()}
    examine("PE507", model, optimizer=optimizer)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert not optimizer.state
    assert all(p.grad is None for p in model.parameters())


def test_the_loss_that_a_forward_returns_is_what_is_stepped_on() -> None:
    class WithLoss(Toy):
        def forward(  # type: ignore[override]
            self, tokens: torch.Tensor, labels: torch.Tensor | None = None, **_: Any
        ) -> Any:
            out = super().forward(tokens)
            return {"logits": out, "loss": None if labels is None else 1e-20 * out.square().sum()}

    ids = torch.arange(12)[None]
    subject = load_subject(WithLoss()).with_evidence(
        optimizer=lambda m: SGD(m.parameters(), lr=1.0), batches=[{"tokens": ids, "labels": ids}]
    )
    assert training_step(subject).positions[0].change < 1e-15


def test_without_an_optimizer_it_is_not_applicable() -> None:
    assert "no optimizer" in examine("PE507", Toy()).detail


def test_a_bias_is_compared_with_the_words_too() -> None:
    result = examine("PE507", BiasedByHeart(), optimizer=lambda m: AdamW(m.parameters(), lr=1e-3))
    assert result.status == "passed"


def test_a_step_that_fails_says_why() -> None:
    subject = load_subject(Toy()).with_evidence(batches=[{"tokens": torch.full((1, 3), 99)}])
    with pytest.raises(MissingEvidence, match="the forward fails on a batch"):
        training_step(subject)
