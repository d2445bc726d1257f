"""The monitor of a plain loop: what it measures, that it changes nothing, and when it speaks."""

import copy
import logging

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own name for it

from gnomon.doctor.monitor import Monitor
from gnomon.encodings import Rotary, T5Bias
from tests.helpers.gallery_training import LanguageModel
from tests.helpers.healthy import FOREIGN, decoder
from tests.helpers.monitored import quiet, rows, train
from tests.helpers.toys import Toy


class Dropping(LanguageModel):
    """Draws random numbers in training, keeps state in a buffer, and remembers the last length."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: Tensor
        self.register_buffer("calls", torch.zeros(()))
        self.drop = nn.Dropout(0.2)
        self.last: int = 0

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        self.calls += 1
        self.last = tokens.shape[1]
        x: Tensor = self.drop(super().embed(tokens, ids))
        return x


def test_training_is_bit_for_bit_the_same() -> None:
    plain, watched = Dropping().train(), Dropping().train()
    train(plain, 5, accumulate=2)
    with Monitor(watched, every=2, tokens=10, log=quiet) as monitor:  # the last step is a measured one
        train(watched, 5, monitor, accumulate=2)
    assert all(torch.equal(value, watched.state_dict()[name]) for name, value in plain.state_dict().items())
    assert (watched.training, watched.last, len(monitor.history)) == (True, plain.last, 3)


def test_one_step_of_every_so_many_is_measured_with_the_numbers_by_name() -> None:
    model = LanguageModel().train()
    seen: list[tuple[int, set[str]]] = []
    with Monitor(model, every=3, log=lambda values, step: seen.append((step, set(values)))) as monitor:
        train(model, 7, monitor)
    assert [record["step"] for record in monitor.history] == [1, 4, 7]
    assert [step for step, _ in seen] == [1, 1, 4, 4, 7, 7]  # the update is known only afterwards
    assert {
        "loss",
        "norm ratio/positions.weight",
        "gradient ratio/positions.weight",
        "update ratio/positions.weight",
        "positions/min",
        "positions/max",
        "rows seen/positions.weight",
        "loss/positions 0 to 3",
        "loss/positions 16 to 23",
    } <= set(monitor.history[0])
    assert monitor.history[0]["positions/max"] == 23
    assert monitor.history[0]["rows seen/positions.weight"] == 24 / 64
    assert monitor.findings == []


def test_the_ratios_are_those_of_the_definitions() -> None:
    model = LanguageModel().train()
    before = copy.deepcopy(model)
    with Monitor(model, log=quiet) as monitor:
        train(model, 1, monitor)
    record = monitor.history[0]

    def rms(x: Tensor) -> float:
        return float(x.detach().double().square().mean().sqrt())

    assert record["norm ratio/positions.weight"] == pytest.approx(
        rms(before.positions.weight) / rms(before.words.weight), rel=1e-5
    )
    grad, words = model.positions.weight.grad, model.words.weight.grad
    assert grad is not None
    assert words is not None
    # The last place predicts nothing, and as a causal model nobody reads it: 23 rows are reached.
    assert record["gradient ratio/positions.weight"] == pytest.approx(rms(grad[:23]) / rms(words), rel=1e-4)
    # AdamW decays the rows that were not reached too: every row moved.
    change = [
        rms(a.weight - b.weight) / rms(b.weight)
        for a, b in ((model.positions, before.positions), (model.words, before.words))
    ]
    assert record["update ratio/positions.weight"] == pytest.approx(change[0] / change[1], rel=1e-3)


def test_the_batch_of_the_last_forward_is_used_when_none_is_given() -> None:
    model = Toy().train()
    with Monitor(model, log=quiet) as monitor:
        model(rows(0, length=11)).sum().backward()
        monitor.step()
    assert monitor.history[0]["positions/max"] == 10
    assert model._forward_pre_hooks == {}


def test_position_ids_and_masks_of_the_batch_count() -> None:
    model = Toy().train()
    model(rows(0)).sum().backward()
    with Monitor(model, log=quiet) as monitor:
        mask = torch.ones(8, 24, dtype=torch.int64)
        mask[:, 20:] = 0
        monitor.step({"tokens": rows(0), "attention_mask": mask})
    assert monitor.history[0]["positions/max"] == 19
    with Monitor(model, log=quiet) as monitor:
        monitor.step({"tokens": rows(0), "position_ids": torch.arange(24).expand(8, -1) + 7})
    assert (monitor.history[0]["positions/min"], monitor.history[0]["positions/max"]) == (7, 30)


def test_labels_of_a_pair_are_taken_as_the_loop_shifted_them() -> None:
    model = LanguageModel().train()
    tokens = rows(0)
    with Monitor(model, log=quiet, tokens=10_000) as monitor:
        model(tokens[:, :-1]).sum().backward()
        monitor.step((tokens[:, :-1], tokens[:, 1:]))
    with torch.no_grad():
        expected = F.cross_entropy(model.eval()(tokens[:, :4]).flatten(0, 1), tokens[:, 1:5].flatten())
    assert monitor.history[0]["loss/positions 0 to 3"] == pytest.approx(float(expected), rel=1e-4)


def test_a_starved_table_is_said_once_to_the_logger(caplog: pytest.LogCaptureFixture) -> None:
    class Starved(LanguageModel):
        def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
            x: Tensor = self.words(tokens) + 1e-6 * self.positions(ids)
            return x

    model = Starved().train()
    with caplog.at_level(logging.WARNING, "gnomon.monitor"), Monitor(model, every=1, log=quiet) as monitor:
        train(model, 3, monitor)
    assert [f.where for f in monitor.findings] == ["positions.weight"]
    assert monitor.findings[0].severity == "warning"
    assert sum("positions starve" in record.getMessage() for record in caplog.records) == 1


def test_loud_positions_are_said() -> None:
    model = LanguageModel().train()
    with torch.no_grad():
        model.words.weight.mul_(0.01)
    with Monitor(model, log=quiet) as monitor:
        train(model, 1, monitor)
    assert "times the size of words" in monitor.findings[0].message


def test_a_loss_that_rises_with_position_is_said() -> None:
    model = LanguageModel(rows=64).train()
    train(model, 40)
    with torch.no_grad():
        model.positions.weight[12:].mul_(30)
    with Monitor(model, every=1, log=quiet, tokens=4096) as monitor:
        for seed in range(3):
            model.zero_grad()
            tokens = rows(seed, batch=64)
            model(tokens).sum().backward()
            monitor.step({"tokens": tokens, "labels": tokens})
    assert any(f.where.startswith("positions from") for f in monitor.findings)


def test_rotary_heads_are_measured_for_each_layer() -> None:
    for model in (decoder(Rotary(8)), FOREIGN["llama"](), FOREIGN["gpt-neox, partial"]()):
        with Monitor(model.train(), log=quiet) as monitor:
            train(model, 1, monitor)
        names = [n for n in monitor.history[0] if n.startswith(("positional sensitivity", "semantic stability"))]
        assert len(names) == 4, names
        assert all(0 <= monitor.history[0][name] <= 1 for name in names)


def test_biases_are_watched() -> None:
    model = decoder(T5Bias(4)).train()
    with Monitor(model, log=quiet) as monitor:
        train(model, 1, monitor)
    assert any(name.startswith("gradient ratio/") for name in monitor.history[0])
